"""Every error that RLightning raises on purpose, in one tree.

Catch `RLightningError` for all of them. Classes that a caller would also expect as a built-in
(`ValueError`, `TypeError`, `TimeoutError`) inherit from that built-in too.
"""

from __future__ import annotations


class RLightningError(Exception):
    """Root of all errors raised by RLightning."""


class RoutingError(RLightningError):
    """A router was asked for something that it cannot answer."""


class RoutingValueError(RoutingError, ValueError):
    """A value given to a router is not allowed."""


class RoutingTypeError(RoutingError, TypeError):
    """A value given to a router has the wrong type."""


class RoutingTimeoutError(RoutingError, TimeoutError):
    """No policy became available before the deadline."""


class NoEvalPolicyError(RoutingError, RuntimeError):
    """No eval policy is left that may be asked."""


class ConfigError(RLightningError, ValueError):
    """The configuration is wrong; the message lists every fault found."""


class PlacementError(RLightningError, ValueError):
    """The workers do not fit on the nodes; the message names what is missing where."""


class MissingExtraError(RLightningError, ImportError):
    """An optional dependency is needed; the message names the extra that brings it."""


class DispatchError(RLightningError):
    """A task could not be sent, or a lease was misused."""


class DispatchValueError(DispatchError, ValueError):
    """A value given to the dispatch is not allowed."""


class DispatchTypeError(DispatchError, TypeError):
    """A value given to the dispatch has the wrong type."""


class DispatchTimeoutError(DispatchError, TimeoutError):
    """A worker had no room before the deadline; the message shows who waits for whom."""


class WorkerError(RLightningError):
    """A worker failed; `worker_id` names it."""

    def __init__(self, message: str, *, worker_id: str | None = None) -> None:
        super().__init__(message)
        self.worker_id = worker_id


class WorkerDiedError(WorkerError):
    """The worker is gone: its calls cannot be answered any more."""


class WorkerLostError(WorkerDiedError):
    """A worker died and is not restarted: its budget is spent, or nobody can take its place."""


class TaskCancelledError(WorkerError):
    """The call was cancelled before it ran."""


class TaskTimeoutError(WorkerError, TimeoutError):
    """A call was not answered before its deadline."""


class EnvironmentFailedError(WorkerError):
    """An environment could not be made, raised, or answered something unusable."""


class EnvironmentRaisedError(EnvironmentFailedError):
    """The code of an environment itself raised, which another instance of it may not do."""


class SpaceError(RLightningError, TypeError):
    """An observation or action space is not supported, or two spaces differ."""


class ShapeError(RLightningError, ValueError):
    """An array has another shape or type than the one agreed on."""


class WeightsError(RLightningError, ValueError):
    """Published weights do not fit the module, or are older than those it has."""


class NotFiniteError(RLightningError, ArithmeticError):
    """A quantity of the training became NaN or infinite; the message names it."""


class CheckpointError(RLightningError):
    """A checkpoint is damaged, of another format version, or of another environment."""


class RunFolderError(RLightningError, OSError):
    """A run folder cannot be found, written or read."""


class MetricsError(RLightningError):
    """An output of metrics could not be written; the message names the sink."""


class EvaluationError(RLightningError, RuntimeError):
    """An evaluation could not be carried out."""
