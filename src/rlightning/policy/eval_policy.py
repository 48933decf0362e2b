"""What routers hand out: an eval policy as its group sees it."""

from __future__ import annotations

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.runtime.base import WorkerHandle


class EvalPolicy:
    """A replica's handle together with what is known of it locally.

    A router may ask `is_available`: the answer comes from the sender's own ledger and costs no
    call to the replica.
    """

    def __init__(self, handle: WorkerHandle, submitter: TaskSubmitter) -> None:
        self.handle = handle
        self._submitter = submitter

    @property
    def replica_id(self) -> str:
        """Id of the replica, such as ``eval-1``."""
        return self.handle.worker_id

    @property
    def node_id(self) -> str | None:
        """Node on which the replica runs, if known."""
        return self.handle.node_id

    @property
    def load(self) -> int:
        """Requests in flight, exact, from the sender's ledger."""
        return self._submitter.load(self.handle)

    def is_available(self) -> bool:
        """Return whether the replica may be sent another task now. Thread-safe."""
        return self._submitter.has_room(self.handle)

    def __repr__(self) -> str:
        return f"EvalPolicy({self.replica_id}, load={self.load})"
