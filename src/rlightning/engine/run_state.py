"""The whole state of a run, to and from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlightning.engine.progress import TrainingProgress
from rlightning.env.group import EnvGroup
from rlightning.errors import CheckpointError, WeightsError
from rlightning.metrics.recorder import Recorder
from rlightning.policy.group import PolicyGroup

PARTS_OF_A_STATE = ("kinds", "learner", "environments", "progress", "recorder")


class RunState:
    """Captures and restores all parts that a resumed run goes on with.

    Environments are not part of it: they start new episodes, with random numbers that go on.
    """

    def __init__(
        self,
        environments: EnvGroup,
        policies: PolicyGroup,
        progress: TrainingProgress,
        recorder: Recorder,
    ) -> None:
        self._environments = environments
        self._policies = policies
        self._progress = progress
        self._recorder = recorder

    def capture(self) -> dict[str, Any]:
        """Return the state as tensors and plain values."""
        return {
            "kinds": sorted(self._policies.pools),
            "learner": self._policies.state(),
            "environments": self._environments.states(),
            "progress": self._progress.state_dict(),
            "recorder": self._recorder.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over a state.

        Raises:
            CheckpointError: If it belongs to environments of other spaces.
        """
        check_kinds(state, sorted(self._policies.pools))
        restore_policies(self._policies, state)
        self._environments.restore(state["environments"])
        self._progress.load_state_dict(state["progress"])
        self._recorder.restore(state["recorder"])


def restore_policies(policies: PolicyGroup, state: Mapping[str, Any]) -> None:
    """Take over weights and the state of the learner.

    Raises:
        CheckpointError: If they are those of another network.
    """
    try:
        policies.restore(state["learner"])
    except WeightsError as error:
        raise CheckpointError(
            f"expected a checkpoint of the configured network: {error}, or undo changed settings "
            "of policy"
        ) from error


def check_kinds(state: Mapping[str, Any], kinds: list[str]) -> None:
    """Refuse a state of environments with other spaces.

    Raises:
        CheckpointError: Naming both.
    """
    if list(state.get("kinds", [])) != kinds:
        raise CheckpointError(
            f"expected a checkpoint of environments with the spaces {', '.join(kinds)}, got one "
            f"of {', '.join(state.get('kinds', [])) or 'unknown ones'}; "
            "resume it with the environment that it was trained in"
        )
