"""What is wrong with a run that had a fault: where what it tells differs from what was seen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from rlightning.testing.faults.evidence import Evidence
from rlightning.testing.faults.recording_learner import TrainedFragment


def differences(seen: Evidence) -> list[str]:
    """Return one sentence for everything that is not as it must be; none for a sound run."""
    if seen.moment.error is not None:
        return [f"the fault could not be done: {seen.moment.error!r}"]
    if seen.error is not None or seen.result is None:
        return [f"the run did not finish: {type(seen.error).__name__}: {seen.error}"]
    if seen.result.was_interrupted:
        return ["somebody asked the run to end early"]
    if seen.moment.victims is None:
        return ["the run was over before the fault"]
    checks = (_loads, _steps, _stamps, _lost_steps, _deeds, _restarts, _retries, _processes)
    return list(itertools.chain.from_iterable(check(seen) for check in checks))


def _loads(seen: Evidence) -> Iterator[str]:
    for worker_id, load in seen.loads.items():
        if load:
            yield f"{worker_id} has {load} calls in flight after the training"
    for name, load in seen.rows[-1].items():
        if name.startswith("load/") and load:
            yield f"the last line of metrics has {name} = {load}"


def _steps(seen: Evidence) -> Iterator[str]:
    told = {"metrics": seen.rows[-1]["env_steps"]}
    if seen.result is not None:
        told["the result"] = seen.result.env_steps
    real = sum(part.num_valid for part in seen.trained)
    for who, num_steps in told.items():
        if num_steps != real:
            yield f"{who} counts {num_steps} environment steps, the learner had {real}"
    if real < seen.config.engine.total_env_steps:
        yield f"the learner had {real} of {seen.config.engine.total_env_steps} steps"


def _stamps(seen: Evidence) -> Iterator[str]:
    process_of = {log.number: log.process_id for log in seen.logs}
    trained: set[tuple[int, int]] = set()
    for number, part in enumerate(seen.trained):
        name = f"fragment {number} of {part.env_id}"
        if len(part.policy_versions) > 1:
            yield f"{name} has actions of policy versions {part.policy_versions}"
        for own in part.simulators:
            if len(own) > 1:
                yield f"{name} mixes simulators {own}"
        processes = {process_of[own] for column in part.simulators for own in column}
        if len(processes) > 1:
            yield f"{name} mixes processes {sorted(processes)}"
        for step in _marks(part):
            if step in trained:
                yield f"{name} has step {step[1]} of simulator {step[0]} once more"
            trained.add(step)
        for steps in part.step_numbers:
            if steps != list(range(steps[0], steps[0] + len(steps)) if steps else ()):
                yield f"{name} lacks a step between {steps[0]} and {steps[-1]}"


def _marks(part: TrainedFragment) -> Iterator[tuple[int, int]]:
    for simulators, steps in zip(part.simulators, part.step_numbers, strict=True):
        yield from ((simulators[0], step) for step in steps)


def _lost_steps(seen: Evidence) -> Iterator[str]:
    most = seen.kind.num_lost_fragments * seen.num_envs * seen.config.engine.rollout_length
    for env_id in seen.env_ids:
        lost = seen.answered_rows(env_id) - seen.trained_rows(env_id)
        told = seen.reported("dropped_steps", env_id)
        if told != lost:
            yield f"{env_id} has lost {lost} steps, metrics tell of {told}"
        if lost and env_id not in seen.victims:
            yield f"{env_id} has lost {lost} steps, and nothing had befallen it"
        if lost > most:
            yield f"{env_id} has lost {lost} steps, which is more than {most}"


def _deeds(seen: Evidence) -> Iterator[str]:
    """Compare the steps that came with those that each life says it has done."""
    for life in seen.records.lives if seen.logs else ():
        if not life.worker_id.startswith("env-") or life.process_id <= 0:
            continue
        done = seen.done_rows(life)
        came = seen.num_envs * seen.records.answered[life, "step"]
        most = seen.num_envs if life.worker_id in seen.victims else 0
        if not 0 <= done - came <= most:
            yield f"{life.worker_id}#{life.number} did {done} steps, {came} of them came"


def _restarts(seen: Evidence) -> Iterator[str]:
    for worker_id in (*seen.env_ids, *seen.replica_ids):
        told = seen.reported("restarts", worker_id)
        real = len(seen.records.lives_of(worker_id)) - 1
        if told != real:
            yield f"{worker_id} was started again {real} times, metrics tell of {told}"
        if real and not (seen.kind.is_deadly and worker_id in seen.victims):
            yield f"{worker_id} was started again, and nothing had befallen it"


def _retries(seen: Evidence) -> Iterator[str]:
    """Compare the requests that were made with those that were sent, and failed, and told of."""
    lives = [life for life in seen.records.lives if life.worker_id in seen.replica_ids]
    sent_again = sum(seen.records.sent[life, "act"] for life in lives) - seen.num_requests
    told = {name: seen.reported("retried_calls", name) for name in seen.replica_ids}
    if sum(told.values()) != sent_again:
        yield f"{sent_again} requests were sent again, metrics tell of {told}"
    for replica_id, count in told.items():
        own = seen.records.lives_of(replica_id)
        failed = sum(seen.records.failed[life, "act"] for life in own)
        if count > failed:
            yield f"{replica_id} has failed {failed} requests, metrics tell of {count} retried ones"


def _processes(seen: Evidence) -> Iterator[str]:
    for process_id in seen.living_process_ids:
        yield f"process {process_id} of a worker lives on after the run"
