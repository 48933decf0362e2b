from __future__ import annotations

from rlightning.dispatch.submitter import TaskSubmitter
from rlightning.policy.eval_policy import EvalPolicy
from rlightning.testing.recorded_worker import RecordedWorker


def test_an_eval_policy_is_available_while_the_sender_sees_room() -> None:
    worker = RecordedWorker("eval-1", node_id="n0")
    submitter = TaskSubmitter(2)
    policy = EvalPolicy(worker, submitter)
    assert (policy.replica_id, policy.node_id, policy.load) == ("eval-1", "n0", 0)
    submitter.submit(worker, "act")
    assert policy.is_available()
    submitter.submit(worker, "act")
    assert not policy.is_available()
    assert repr(policy) == "EvalPolicy(eval-1, load=2)"
    worker.answer()
    assert policy.is_available()
    assert [call.method for call in worker.calls] == ["act", "act"], "the replica is not asked"
