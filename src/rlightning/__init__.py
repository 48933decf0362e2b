"""Reinforcement learning in which many environments share few replicas of a policy.

Five lines train, and later act::

    import rlightning

    result = rlightning.train("cartpole-ppo", ["engine.total_env_steps=50_000"])
    policy = rlightning.load_policy(result.run_folder)
    action = policy.act(observation)

The names below are imported when they are first used, so that ``import rlightning`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rlightning._version import __version__

if TYPE_CHECKING:
    from rlightning.config.algorithm_config import register_algorithm
    from rlightning.config.loading import load_config
    from rlightning.engine.training import evaluate, load_policy, resume, train
    from rlightning.policy.networks import register_network
    from rlightning.policy.utils.router import register_router

__all__ = [
    "__version__",
    "evaluate",
    "load_config",
    "load_policy",
    "register_algorithm",
    "register_network",
    "register_router",
    "resume",
    "train",
]

_MODULE_OF = {
    "evaluate": "rlightning.engine.training",
    "load_config": "rlightning.config.loading",
    "load_policy": "rlightning.engine.training",
    "register_algorithm": "rlightning.config.algorithm_config",
    "register_network": "rlightning.policy.networks",
    "register_router": "rlightning.policy.utils.router",
    "resume": "rlightning.engine.training",
    "train": "rlightning.engine.training",
}


def __getattr__(name: str) -> Any:
    """Import a public name on its first use (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
