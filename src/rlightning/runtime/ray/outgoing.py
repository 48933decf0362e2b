"""Putting calls on their way to an actor."""

from __future__ import annotations

from typing import Any

from rlightning.runtime.base import Task
from rlightning.runtime.ray.packing import packed
from rlightning.runtime.ray.ray_task import RayTask, present_task
from rlightning.runtime.ray.sent_calls import SentCalls
from rlightning.runtime.ray.wire import header


class Outgoing:
    """Sends runs to one actor; used under the lock of its worker, which keeps their order."""

    def __init__(self, actor: Any) -> None:
        self._run = actor.run
        self._run_gathered = actor.run_gathered
        self._runs: dict[int, Any] = {}

    def send(self, sent: SentCalls) -> BaseException | None:
        """Send a run; return what kept it from being sent.

        Arguments that are tasks go as references to their answers, which Ray resolves.
        """
        for call in sent.calls:
            call.task.sent_references = call.present_references()
        try:
            references = self._send(sent)
        except Exception as error:  # noqa: BLE001 - it goes to the callers
            return error
        sent.reference = references[0]
        for call, answer in zip(sent.calls, references[1:], strict=True):
            call.task.try_start()
            call.task.mark_sent(answer, sent)
        return None

    def _send(self, sent: SentCalls) -> list[Any]:
        references: list[Any]
        first = sent.calls[0]
        top = header(first.task.method, [call.task.call_number for call in sent.calls])
        if sent.is_gathered:
            arguments = [_outgoing(call.args[0]) for call in sent.calls]
            references = self._gathered_run(len(arguments)).remote(top, *arguments)
        else:
            args = [_outgoing(argument) for argument in first.args]
            kwargs = {name: _outgoing(argument) for name, argument in first.kwargs.items()}
            references = self._run.remote(top, *args, **kwargs)
        return references

    def _gathered_run(self, num_calls: int) -> Any:
        found = self._runs.get(num_calls)
        if found is None:
            found = self._run_gathered.options(num_returns=1 + num_calls)
            self._runs[num_calls] = found
        return found


def _outgoing(argument: Any) -> Any:
    """Return what stands for an argument on the way: the reference of a task's answer.

    Raises:
        BaseException: The error of a task that has failed.
    """
    if not isinstance(argument, Task):
        return packed(argument)
    if argument.is_done() and argument.error() is not None:
        argument.result()
    present = present_task(argument)
    if isinstance(present, RayTask) and present.answer is not None:
        return present.answer
    return packed(argument.result())
