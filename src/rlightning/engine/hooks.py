"""What may be attached to an engine's loop, so that the loop has no condition for it."""

from __future__ import annotations

from collections.abc import Sequence

from rlightning.metrics.iteration_report import IterationReport


class Hook:
    """Called by the engine; every method exists and does nothing.

    An exception in a hook ends the run. Hooks are called in the order in which they were given.
    """

    def run_started(self) -> None:
        """Called once, before the first iteration of this process."""

    def iteration_ended(self, report: IterationReport) -> IterationReport:
        """Called after each iteration; what is returned is given to the next hook."""
        return report

    def run_ended(self) -> None:
        """Called once after the last iteration, also of a run that was asked to stop early."""


class HookChain(Hook):
    """Several hooks that act as one."""

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self._hooks = tuple(hooks)

    def run_started(self) -> None:
        """Tell every hook."""
        for hook in self._hooks:
            hook.run_started()

    def iteration_ended(self, report: IterationReport) -> IterationReport:
        """Hand the report from hook to hook."""
        for hook in self._hooks:
            report = hook.iteration_ended(report)
        return report

    def run_ended(self) -> None:
        """Tell every hook."""
        for hook in self._hooks:
            hook.run_ended()
