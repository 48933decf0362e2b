"""Looks up, before anything is made, whatever the configuration only names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from rlightning.config.env_config import EnvConfig
from rlightning.config.run_config import RunConfig
from rlightning.engine.router_choice import find_router_type
from rlightning.env.make import find_wrapper, require_environment
from rlightning.errors import ConfigError, RLightningError
from rlightning.metrics.wandb_sink import import_wandb
from rlightning.policy.device import resolve_device
from rlightning.policy.networks import require_network


def check_names(config: RunConfig) -> None:
    """Refuse unknown environments, wrappers, networks, routers, devices and missing packages.

    Raises:
        RLightningError: Of the kind of the fault, if there is one.
        ConfigError: If there are several; the message lists all of them.
    """
    faults: list[tuple[str, RLightningError]] = []
    for setting, look_up in _look_ups(config):
        try:
            look_up()
        except RLightningError as error:
            faults.append((setting, error))
    if len(faults) == 1:
        setting, fault = faults[0]
        raise type(fault)(f"{setting}: {fault}") from fault
    if faults:
        lines = [f"{setting}: {fault}" for setting, fault in faults]
        raise ConfigError("\n  ".join([f"{len(faults)} faults in the configuration:", *lines]))


def _look_ups(config: RunConfig) -> Iterator[tuple[str, Callable[[], object]]]:
    several = isinstance(config.env, tuple)
    for number, env in enumerate(config.env_configs):
        yield from _look_ups_of(f"env.{number}" if several else "env", env)
    yield "policy.network", partial(require_network, config.policy.network)
    yield "policy.device", partial(resolve_device, config.policy.device)
    yield "routing.type", partial(find_router_type, config.routing)
    if config.logging.wandb:
        yield "logging.wandb", import_wandb


def _look_ups_of(block: str, env: EnvConfig) -> Iterator[tuple[str, Callable[[], object]]]:
    yield f"{block}.id", partial(require_environment, env.id)
    for number, path in enumerate(env.wrappers):
        yield f"{block}.wrappers.{number}", partial(find_wrapper, path)
