"""Whether a checkpoint brings back the whole state of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlightning.config.run_config import RunConfig
from rlightning.engine.assembly import AssemblyPlan, assemble
from rlightning.engine.progress import TrainingProgress
from rlightning.engine.run_state import RunState
from rlightning.metrics.recorder import Recorder
from rlightning.testing.state_differences import state_differences

STARTS_ANEW = "['algorithm']['reward_scaling']"
"""Discounted returns of unfinished episodes: a resumed run starts new episodes."""

_PARTS = {
    "weights": "['policy']['action_head",
    "observation statistics": "['policy']['normalizer",
    "reward statistics": "['policy']['reward_moments",
    "optimiser": "['algorithm']['optimizer']",
    "minibatch generator": "['algorithm']['generator']",
    "policy version": "['next_version']",
    "environment generators": "state['environments']",
    "counters": "state['progress']",
    "last episodes": "state['recorder']",
}


def restored_state_faults(config: RunConfig, checkpoint: Mapping[str, Any]) -> list[str]:
    """Return what is not restored bit for bit into newly built parts; nothing if all is well.

    A part in which the checkpoint does not differ from new parts is a fault too, since it would
    show nothing.

    Args:
        config: Of the run.
        checkpoint: As `CheckpointStore.load` returns it.
    """
    plan = AssemblyPlan(config.env_configs, config.engine.rollout_length, config.seed)
    with assemble(config, plan) as assembly:
        progress = TrainingProgress(config.engine.total_env_steps)
        state = RunState(assembly.environments, assembly.policies, progress, Recorder(()))
        before = state_differences(checkpoint, state.capture())
        state.restore(checkpoint)
        after = state_differences(checkpoint, state.capture())
    faults = [f"not restored: {place}" for place in after if not place.endswith(STARTS_ANEW)]
    shows_nothing = [
        name for name, part in _PARTS.items() if not any(part in place for place in before)
    ]
    return faults + [f"as in a new run, which shows nothing: {name}" for name in shows_nothing]
