"""Building a router from what its constructor asks for by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from inspect import Parameter
from typing import Any, TypeAlias

from rlightning.errors import ConfigError, RoutingTypeError, RoutingValueError
from rlightning.registry import did_you_mean, import_object

RouterFactory: TypeAlias = Callable[..., Any]

POLICIES = "eval_policies"
MANAGER = "global_resource_manager"
DISTRIBUTION = "component_distribution"

_BY_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class RouterFactories:
    """Router types by (rollout mode, router type); imported when first asked for."""

    def __init__(self, rollout_modes: Sequence[str]) -> None:
        """Begin without types, with these modes."""
        self._factories: dict[str, dict[str, RouterFactory | str]] = {
            rollout_mode: {} for rollout_mode in rollout_modes
        }

    def register(self, rollout_mode: str, router_type: str, factory: RouterFactory | str) -> None:
        """Add a type.

        Raises:
            RoutingTypeError: If the factory is neither callable nor a string, or the type's name
                is no string.
            RoutingValueError: If the mode is unknown, the type is taken, or the string has not the
                form "package.module:Name".
        """
        known = self._types_of(rollout_mode)
        has_name = isinstance(router_type, str)
        if not has_name or not (isinstance(factory, str) or callable(factory)):
            raise RoutingTypeError(
                "expected a name and a callable or 'package.module:Name', got "
                f"{router_type!r} and {factory!r}; pass for example the router's class"
            )
        if router_type in known:
            raise RoutingValueError(
                f"expected a new router type for mode {rollout_mode!r}, got {router_type!r}, "
                "which is registered already; choose another name"
            )
        if isinstance(factory, str) and not all(factory.partition(":")):
            raise RoutingValueError(
                f"expected a factory as 'package.module:Name', got {factory!r}; "
                "put a colon between the module and the name"
            )
        known[router_type] = factory

    def find(self, rollout_mode: str, router_type: str) -> RouterFactory:
        """Return the factory of a type.

        Raises:
            RoutingValueError: If mode or type is unknown, or the factory cannot be imported.
        """
        known = self._types_of(rollout_mode)
        factory = known[_checked_choice("router_type", router_type, known)]
        if not isinstance(factory, str):
            return factory
        try:
            imported = import_object(factory)
        except ConfigError as error:
            raise RoutingValueError(
                f"expected an importable factory for router_type {router_type!r}, got {factory!r}: "
                f"{error}; correct the path given to register_router"
            ) from error
        if not callable(imported):
            raise RoutingTypeError(
                f"expected a callable at {factory!r}, got {imported!r}; name a class or function"
            )
        return imported

    def _types_of(self, rollout_mode: str) -> dict[str, RouterFactory | str]:
        return self._factories[_checked_choice("rollout_mode", rollout_mode, self._factories)]


ROUTER_TYPES = RouterFactories(("sync", "async"))
"""All router types of this process."""


def build_router(
    factory: RouterFactory, eval_policies: Sequence[Any], manager: Any, options: Mapping[str, Any]
) -> Any:
    """Call the factory with what its parameters name, and with the options.

    Parameters named `eval_policies`, `global_resource_manager` and `component_distribution` (asked
    of the manager) are served by name. What remains of policies and manager goes, in this order,
    to required parameters under other names, or to ``*args``.

    Raises:
        RoutingValueError: If an option is none of the factory's, or it needs a distribution and
            there is none.
    """
    parameters = inspect.signature(factory).parameters
    by_name = {name for name, parameter in parameters.items() if parameter.kind in _BY_KEYWORD}
    _check_options(options, parameters, by_name - {POLICIES, MANAGER, DISTRIBUTION})
    given: dict[str, Any] = {POLICIES: eval_policies, MANAGER: manager}
    if DISTRIBUTION in by_name:
        given[DISTRIBUTION] = _distribution_of(manager)
    named = {name: value for name, value in given.items() if name in by_name}
    unnamed = [given[name] for name in (POLICIES, MANAGER) if name not in named]
    if any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters.values()):
        return factory(*unnamed, **named, **options)
    others = [
        name
        for name, parameter in parameters.items()
        if _is_required(parameter) and name not in named and name not in options
    ]
    return factory(**named, **dict(zip(others, unnamed, strict=False)), **options)


def _is_required(parameter: Parameter) -> bool:
    is_positional = parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
    return is_positional and parameter.default is Parameter.empty


def _check_options(
    options: Mapping[str, Any], parameters: Mapping[str, Parameter], allowed: AbstractSet[str]
) -> None:
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    for option in options:
        if option not in allowed:
            raise RoutingValueError(
                f"expected options among {', '.join(sorted(allowed)) or '(none)'}, got "
                f"{option!r}{did_you_mean(option, allowed)}; correct the name or leave it out"
            )


def _distribution_of(manager: Any) -> Mapping[str, Any]:
    advice = (
        "set global_resource_manager to an object whose get_component_distribution() names the "
        "nodes of envs and eval policies, or choose router_type='simple'"
    )
    if manager is None:
        raise RoutingValueError(f"expected a global_resource_manager, got None; {advice}")
    if not callable(getattr(manager, "get_component_distribution", None)):
        raise RoutingTypeError(
            f"expected a manager with get_component_distribution(), got {manager!r}; {advice}"
        )
    distribution = manager.get_component_distribution()
    if distribution is None or (
        isinstance(distribution, Mapping) and not any(distribution.values())
    ):
        raise RoutingValueError(
            f"expected a component distribution with workers, got {distribution!r}; {advice}"
        )
    return distribution  # type: ignore[no-any-return]


def _checked_choice(what: str, choice: Any, known: Mapping[str, Any]) -> str:
    if isinstance(choice, str) and choice in known:
        return choice
    hint = did_you_mean(str(choice), known)
    raise RoutingValueError(
        f"expected {what} as one of {', '.join(map(repr, known))}, got {choice!r}{hint}; "
        "choose one of these or add it with register_router"
    )
