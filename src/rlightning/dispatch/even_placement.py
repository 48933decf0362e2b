"""Placing tasks on the least loaded policies, over many calls: choosing and counting."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from rlightning.dispatch.assignment_request import check_length_of_env_ids, checked_num_tasks
from rlightning.dispatch.decision_counts import BALANCED, no_decisions
from rlightning.dispatch.level_fill import level_fill
from rlightning.dispatch.loads import Loads, read_loads
from rlightning.dispatch.policy_pool_errors import no_policies_error
from rlightning.dispatch.tie_break import TieBreak


class EvenPlacement:
    """Decides for a simple router, and remembers counts and rotation. Safe from many threads."""

    def __init__(self, tie_break: TieBreak) -> None:
        """Begin with no decisions."""
        self.tie_break = tie_break
        self.decisions = no_decisions()
        self._lock = Lock()

    def place(
        self, current_loads: Loads, num_tasks: int, env_ids: Sequence[str] | None
    ) -> list[int]:
        """Return the least loaded policy so far for each task. O(n log n + k).

        Raises:
            RoutingValueError: If a value is not allowed or there are no policies for the tasks.
                Then nothing is counted.
            RoutingTypeError: If an argument has the wrong type.
        """
        num_asked = checked_num_tasks(num_tasks)
        check_length_of_env_ids(env_ids, num_asked)
        loads = read_loads(current_loads)
        if num_asked and not loads:
            raise no_policies_error()
        with self._lock:
            offset = self.tie_break.offset(None, len(loads))
            self.tie_break.advance(None, num_asked)
            self.decisions[BALANCED] += num_asked
        return level_fill(loads, num_asked, offset=offset)
