"""What a call through the submitter costs beside the plain call of the method.

Inline mode, one worker, one thread, the method does nothing; results are asked for. The bar is
on what is added, in microseconds: the overhead of a step is a few such calls.

    python -m benchmarks.dispatch [--json PATH] [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.harness import Figure, interleaved_medians, report
from rlightning.dispatch.ledger import Ledger, Outcome
from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.in_process import InProcessRuntime

NUM_CALLS = 40
"""Few, so that most rounds end within one time slice of a busy machine."""
NUM_ROUNDS = 401
MAX_ADDED_MICROSECONDS = 5.0


class Echo:
    """A worker that does nothing."""

    def act(self, value: int) -> int:
        """Return the value."""
        return value


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return the exit code."""
    plain = Echo()
    with InProcessRuntime("inline") as runtime:
        worker = runtime.spawn(WorkerSpec("eval-0", Echo))
        submitter, ledger = TaskSubmitter(), Ledger()
        medians = interleaved_medians(
            [
                (lambda: plain.act(1), NUM_CALLS),
                (lambda: ledger.take("eval-0", 1, "act").give_back(Outcome.SUCCESS), NUM_CALLS),
                (lambda: worker.call("act", 1).result(), NUM_CALLS),
                (lambda: submitter.submit(worker, "act", 1).result(), NUM_CALLS),
                (
                    lambda: submitter.submit_to_any(
                        [worker], lambda free: free[0], "act", 1
                    ).result(),
                    NUM_CALLS,
                ),
            ],
            NUM_ROUNDS,
        )
    reference, *costs = medians
    names = ["lease: take and give back", "inline call", "submit", "submit_to_any"]
    figures = [
        Figure(name, cost, reference, cost / reference)
        for name, cost in zip(names, costs, strict=True)
    ]
    added = (costs[2] - reference) * 1e6
    bar = Figure(
        f"room below {MAX_ADDED_MICROSECONDS:g} us added by submit (got {added:.2f} us)",
        costs[2],
        reference,
        MAX_ADDED_MICROSECONDS / added,
        bar=1.0,
    )
    return report([*figures, bar], arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
