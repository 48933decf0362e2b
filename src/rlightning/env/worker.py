"""The object that hosts one vectorised environment and writes its fragments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rlightning.config.env_config import EnvConfig
from rlightning.env.action_adapter import create_action_adapter
from rlightning.env.action_noise import draw_noise
from rlightning.env.episode_tracker import EpisodeTracker
from rlightning.env.finite import is_finite, refuse_not_finite
from rlightning.env.fragment_buffer import FragmentBuffer
from rlightning.env.make import make_vector_env
from rlightning.env.observation_adapter import create_observation_adapter
from rlightning.env.random_streams import RandomStreams
from rlightning.env.simulator import AnyVectorEnv, create_simulator
from rlightning.env.space_kind import SpaceKind
from rlightning.env_id import EnvId, format_env_id
from rlightning.errors import (
    CheckpointError,
    EnvironmentFailedError,
    EnvironmentRaisedError,
    RLightningError,
    ShapeError,
    SpaceError,
)
from rlightning.runtime.place import own_node_id
from rlightning.types import ActionBatch, Array, FloatArray, Fragment, ObservationBatch

ENV_PREFIX = "env"


class EnvWorker:
    """Steps `num_envs` sub-environments as one batch and keeps every transition where it arises.

    Whatever the environment's autoreset mode: no transition joins two episodes, and no array
    that was handed out changes later. One caller at a time; `describe_activity` may be called
    from any thread. After a failure `reset` must come before the next step.

    Attributes:
        env_id: Such as ``env-3``.
    """

    def __init__(
        self,
        config: EnvConfig,
        worker_index: int,
        rollout_length: int,
        seed: int,
        incarnation: int = 1,
    ) -> None:
        """Make the environment; nothing is stepped yet.

        Args:
            config: What to host.
            worker_index: 0-based number over all configurations of the run.
            rollout_length: Steps `T` of a fragment.
            seed: Of the run. The worker derives its own from it and its index.
            incarnation: How many workers of this index there were, this one included. A restarted
                worker draws other random numbers than those before it.

        Raises:
            EnvironmentFailedError: If the environment cannot be made.
            SpaceError: If a space is not supported.
        """
        self.env_id = format_env_id(EnvId(ENV_PREFIX, worker_index))
        self._name = config.id
        self._activity: str | None = "starting"
        self._num_envs, self._rollout_length = config.num_envs, rollout_length
        self._num_steps = 0
        self._buffer: FragmentBuffer | None = None
        self._episodes = EpisodeTracker(self.env_id, self._num_envs)
        self._noise_rows: Iterator[FloatArray] = iter(())
        self._random = RandomStreams(seed, worker_index, incarnation)
        self._vector_env = make_vector_env(config)
        try:
            self._adapt(self._vector_env, config.flatten_observation)
        except Exception as error:
            self._vector_env.close()
            if isinstance(error, SpaceError):
                raise SpaceError(f"environment {self._name!r} ({self.env_id}): {error}") from error
            raise

    def _adapt(self, vector_env: AnyVectorEnv, flatten: bool) -> None:
        observations = create_observation_adapter(
            vector_env.single_observation_space, flatten=flatten
        )
        self._actions = create_action_adapter(vector_env.single_action_space)
        self._simulator = create_simulator(vector_env, observations)
        self._kind = SpaceKind(observations.space, self._actions.space)
        self._action_shape = (self._num_envs, *(self._actions.space.shape or ()))

    def kind(self) -> SpaceKind:
        """Return the spaces as the policy sees them."""
        return self._kind

    def identity(self) -> str:
        """Return `env_id`, so that a group can check that no two workers share one."""
        return self.env_id

    def node_id(self) -> str | None:
        """Return where this worker lives, as its own process knows; None within one process."""
        return own_node_id()

    def reset(self) -> ObservationBatch:
        """Start new episodes and a new fragment everywhere; what was unfinished is dropped.

        Raises:
            EnvironmentFailedError: If the environment raises or shows something unusable.
        """
        self._activity = "reset"
        self._episodes = EpisodeTracker(self.env_id, self._num_envs)
        buffer = FragmentBuffer(self._kind, self._rollout_length, self._num_envs)
        try:
            seed = int(self._random.seeds.integers(2**31))
            self._simulator.reset(seed, buffer.observation[0])
            refuse_not_finite("observation", buffer.observation[0])
        except Exception as error:
            raise self._failure(error) from error
        self._buffer = buffer
        self._activity = "waiting for its first action"
        return self._request(buffer.observation[0])

    def step(self, answer: ActionBatch) -> ObservationBatch:
        """Act in all sub-environments and write the whole transition into the fragment.

        Args:
            answer: Actions for the observations handed out last.

        Returns:
            What is seen now, with fresh noise. Its arrays never change.

        Raises:
            EnvironmentFailedError: If the environment raises (then it is the subclass
                `EnvironmentRaisedError`) or shows something unusable, or if the call comes
                before `reset` or before a full fragment was taken.
            ShapeError: If the actions have another shape than the action space.
            NotFiniteError: If an action of a `Box` space is NaN or infinite.
        """
        buffer = self._buffer
        if buffer is None or buffer.is_full:
            raise self._misuse(buffer)
        if answer.action.shape != self._action_shape:
            raise self._wrong_actions(answer)
        action = self._actions.to_env(answer.action)
        self._num_steps += 1
        self._activity = None
        seen = buffer.observation[buffer.num_rows + 1]
        try:
            result = self._simulator.step(action, seen)
            refuse_not_finite("observation", seen)
            if result.final_observation is not None:
                refuse_not_finite("last observation", result.final_observation)
        except Exception as error:
            raise self._failure(error) from error
        buffer.add(answer, result)
        return self._request(seen)

    def take_fragment(self, newest: ObservationBatch | None = None) -> Fragment:
        """Hand out the full fragment and begin the next one with what is seen now.

        Args:
            newest: What the last step showed. Its task is given, so that the error of a step
                that failed becomes the error of this call.

        Raises:
            EnvironmentFailedError: If the fragment does not have all its steps yet, or a reward
                in it is NaN or infinite: the step and the sub-environment are named.
        """
        buffer = self._buffer
        if buffer is None or not buffer.is_full:
            have = 0 if buffer is None else buffer.num_rows
            raise EnvironmentFailedError(
                f"{self.describe_activity()}: expected {self._rollout_length} steps in the "
                f"fragment, got {have}; step the worker until its fragment is full",
                worker_id=self.env_id,
            )
        buffer.clear_resets()
        self._refuse_bad_rewards(buffer)
        self._buffer = FragmentBuffer(self._kind, self._rollout_length, self._num_envs)
        self._buffer.observation[0] = buffer.observation[-1]
        episodes = self._episodes.finish(
            buffer.reward, buffer.terminated, buffer.truncated, buffer.valid
        )
        return buffer.finish(self.env_id, episodes)

    def state(self) -> dict[str, Any]:
        """Return the states of the random generators: plain dicts of numbers and texts."""
        return self._random.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over generator states; `reset` must follow and starts new episodes.

        Raises:
            CheckpointError: If the state was not made by `state`.
        """
        try:
            self._random.restore(state)
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"expected generator states 'seeds' and 'noise' of {self.env_id}, "
                f"got {error!r}; take a checkpoint written by this version"
            ) from error
        self._buffer = None
        self._noise_rows = iter(())

    def describe_activity(self) -> str:
        """Return what the worker does now, for whoever finds it hanging."""
        activity = self._activity or f"step {self._num_steps}"
        return f"environment {self._name!r} ({self.env_id}), {activity}"

    def close(self) -> None:
        """Close the environment; a second call does nothing.

        Raises:
            EnvironmentFailedError: If the environment raises.
        """
        self._activity = "close"
        self._buffer = None
        try:
            self._vector_env.close()
        except Exception as error:
            raise self._failure(error) from error

    def _request(self, seen: Array) -> ObservationBatch:
        noise = next(self._noise_rows, None)
        if noise is None:  # drawn for a whole fragment at once, which is far cheaper
            self._noise_rows = iter(self._draw_noise())
            noise = next(self._noise_rows)
        return ObservationBatch(self.env_id, seen, noise)

    def _draw_noise(self) -> FloatArray:
        shape = (self._rollout_length, self._num_envs)
        return draw_noise(self._random.noise, self._kind.action_space, shape)

    def _wrong_actions(self, answer: ActionBatch) -> ShapeError:
        return ShapeError(
            f"expected actions of shape {self._action_shape} for {self.env_id}, "
            f"got {answer.action.shape} from {answer.replica_id}; "
            "build the policy for this worker's kind of environment"
        )

    def _refuse_bad_rewards(self, buffer: FragmentBuffer) -> None:
        if is_finite(buffer.reward):
            return
        row = next(row for row, reward in enumerate(buffer.reward) if not is_finite(reward))
        self._activity = f"step {self._num_steps - self._rollout_length + row + 1}"
        try:
            refuse_not_finite("reward", buffer.reward[row])
        except EnvironmentFailedError as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> EnvironmentFailedError:
        self._buffer = None
        kind, what = EnvironmentFailedError, str(error)
        if not isinstance(error, RLightningError):
            kind = EnvironmentRaisedError
            what = (
                f"expected an answer, got {type(error).__name__}: {error}; "
                "correct the environment; the option --debug shows its traceback"
            )
        return kind(f"{self.describe_activity()}: {what}", worker_id=self.env_id)

    def _misuse(self, buffer: FragmentBuffer | None) -> EnvironmentFailedError:
        if buffer is None:
            wanted, got = "reset() before step()", "a step without it"
        else:
            wanted = f"take_fragment() after {self._rollout_length} steps"
            got = "one step more"
        return EnvironmentFailedError(
            f"{self.describe_activity()}: expected {wanted}, got {got}; call it first",
            worker_id=self.env_id,
        )
