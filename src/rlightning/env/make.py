"""From the id of an environment to its fastest vectorised form."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, cast

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import DependencyNotInstalled
from gymnasium.vector import VectorEnv

from rlightning.config.env_config import EnvConfig
from rlightning.env.checked_sync_env import AnyEnv, CheckedSyncEnv
from rlightning.env.envpool_vector_env import ENVPOOL_PREFIX, make_envpool
from rlightning.errors import (
    ConfigError,
    EnvironmentFailedError,
    MissingExtraError,
    RLightningError,
)
from rlightning.registry import did_you_mean, import_object

Wrapper: TypeAlias = Callable[[AnyEnv], AnyEnv]

EXTRA_OF_PART = {"mujoco": "mujoco", "ale": "atari", "ale_py": "atari", "envpool": "envpool"}
"""Parts of an id, an entry point or a module name, and the extra that brings what they need."""


def make_vector_env(config: EnvConfig) -> VectorEnv[Any, Any, Any]:
    """Make the environment of a worker, with `config.num_envs` sub-environments.

    The implementation that the environment registers is taken where there is one and nothing
    speaks against it. Otherwise sub-environments are stepped one after the other, with resets on
    demand: no step is spent on a reset and no observation of an episode's end is lost.

    Raises:
        EnvironmentFailedError: If the id is unknown (the nearest one is named) or the
            constructor fails.
        MissingExtraError: If a package is missing.
        ConfigError: If a wrapper cannot be imported, or the vectorization cannot be had.
    """
    make = _maker(config)
    try:
        return make()
    except RLightningError:
        raise
    except (ImportError, DependencyNotInstalled) as error:
        raise _missing_package(config.id, _entry_point(config.id), error) from error
    except Exception as error:
        raise EnvironmentFailedError(
            f"expected environment {config.id!r} to be made with kwargs {config.kwargs} and "
            f"wrappers {list(config.wrappers)}, got {type(error).__name__}: {error}; "
            "correct these or the environment"
        ) from error


def _maker(config: EnvConfig) -> Callable[[], VectorEnv[Any, Any, Any]]:
    if config.id.startswith(ENVPOOL_PREFIX):
        return partial(make_envpool, config)
    spec = find_env_spec(config.id)
    if _is_native(config, spec):
        return partial(_make_native, config, spec)
    wrappers = [find_wrapper(path) for path in config.wrappers]
    return partial(_make_sync, config, spec, wrappers)


def require_environment(env_id: str) -> None:
    """Refuse an id that means nothing here; nothing is made.

    Raises:
        EnvironmentFailedError: If the module or the id is unknown.
        MissingExtraError: If a package is missing, as far as it can be known before.
    """
    if env_id.startswith(ENVPOOL_PREFIX):
        _import_module(env_id, "envpool")
    else:
        find_env_spec(env_id)


def find_env_spec(env_id: str) -> EnvSpec:
    """Return what Gymnasium knows of an id, after importing its module if it names one.

    Raises:
        EnvironmentFailedError: If the module or the id is unknown.
        MissingExtraError: If the id belongs to an optional package that is missing.
    """
    module_name, _, name = env_id.rpartition(":")
    if name.startswith("ALE/"):
        module_name = module_name or "ale_py"
    if module_name:
        _import_module(env_id, module_name)
    spec = gymnasium.registry.get(name)
    if spec is None:
        advice = (
            f"let module {module_name!r} register it with gymnasium.register"
            if module_name
            else "write 'module:Env-v0' to import the module that registers it"
        )
        raise EnvironmentFailedError(
            f"expected the id of an environment, got {env_id!r}, which is not registered"
            f"{did_you_mean(name, gymnasium.registry)}; {advice}"
        )
    return spec


def _import_module(env_id: str, module_name: str) -> None:
    try:
        importlib.import_module(module_name)
    except ImportError as error:
        raise _missing_package(env_id, module_name, error) from error
    except Exception as error:
        raise EnvironmentFailedError(
            f"expected module {module_name!r} of {env_id!r} to be imported, "
            f"got {type(error).__name__}: {error}; correct the module"
        ) from error


def _missing_package(env_id: str, source: object, error: ImportError | Exception) -> Exception:
    parts = f"{env_id} {source}".lower().replace("/", " ").replace(":", " ").replace(".", " ")
    for part in parts.split():
        if part in EXTRA_OF_PART:
            extra = EXTRA_OF_PART[part]
            return MissingExtraError(
                f"environment {env_id!r} expects the packages of the extra {extra!r}, got: "
                f"{error.__cause__ or error}; install them with: pip install 'rlightning[{extra}]'"
            )
    return EnvironmentFailedError(
        f"expected the packages of environment {env_id!r} to be installed, "
        f"got {type(error).__name__}: {error}; install what it names, or put its folder on "
        "PYTHONPATH"
    )


def _entry_point(env_id: str) -> object:
    spec = gymnasium.registry.get(env_id.rpartition(":")[2])
    return None if spec is None else spec.entry_point


def _is_native(config: EnvConfig, spec: EnvSpec) -> bool:
    reasons = []
    if spec.vector_entry_point is None:
        reasons.append("it registers none")
    if config.wrappers:
        reasons.append("wrappers stand around single environments")
    if spec.additional_wrappers:
        reasons.append("its registration adds wrappers to single environments")
    if config.vectorization == "native" and reasons:
        raise ConfigError(
            f"expected a vectorised implementation of {config.id!r}, got none to use: "
            f"{' and '.join(reasons)}; set env.vectorization to 'auto'"
        )
    return config.vectorization != "sync" and not reasons


def _make_native(config: EnvConfig, spec: EnvSpec) -> VectorEnv[Any, Any, Any]:
    return gymnasium.make_vec(
        spec,
        num_envs=config.num_envs,
        vectorization_mode="vector_entry_point",
        **config.kwargs,
    )


def _make_sync(
    config: EnvConfig, spec: EnvSpec, wrappers: list[Wrapper]
) -> VectorEnv[Any, Any, Any]:
    envs: list[AnyEnv] = []
    try:
        for _ in range(config.num_envs):
            # Every batch is checked by the worker, so the checker of first steps is left out.
            envs.append(gymnasium.make(spec, disable_env_checker=True, **config.kwargs))
            for wrap in wrappers:
                envs[-1] = wrap(envs[-1])
        return CheckedSyncEnv(envs)
    except BaseException:
        for env in envs:
            env.close()
        raise


def find_wrapper(path: str) -> Wrapper:
    """Import a wrapper.

    Raises:
        ConfigError: If it cannot be imported, or cannot be called.
    """
    wrapper = import_object(path)
    if not callable(wrapper):
        raise ConfigError(
            f"expected wrapper {path!r} to be a callable that takes an environment, "
            f"got {wrapper!r}; name a wrapper class or a function"
        )
    return cast("Wrapper", wrapper)
