"""The program that tries faults, on runs within this process: it must find what is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlightning.testing.faults.differences import differences
from rlightning.testing.faults.evidence import Evidence
from rlightning.testing.faults.kind import FaultKind, Scene
from rlightning.testing.faults.leftovers import Leftovers
from rlightning.testing.faults.trial import FULL, SHORT, Trial

HERE = ("cluster.backend=in_process", "cluster.mode=threads")


def kill_an_environment(scene: Scene) -> list[str]:
    victim = scene.random.choice(scene.environments())
    victim.kill()
    return [victim.worker_id]


def kill_everybody(scene: Scene) -> list[str]:
    victims = [*scene.environments(), *scene.replicas()]
    for victim in victims:
        victim.kill()
    return [victim.worker_id for victim in victims]


def fail(scene: Scene) -> list[str]:
    raise OSError("no such process")


def tried(folder: Path, inject: Callable[[Scene], list[str]], seed: int = 0) -> Evidence:
    kind = FaultKind("invented", "something happens", inject)
    return Trial(kind, seed, folder, (*SHORT, *HERE)).run()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return tried(tmp_path_factory.mktemp("sound"), kill_an_environment)


def test_a_run_that_loses_a_fragment_and_says_so_is_sound(sound: Evidence) -> None:
    assert differences(sound) == []
    (victim,) = sound.victims
    assert sound.reported("restarts", victim) == 1
    assert sum(part.num_valid for part in sound.trained) == sound.rows[-1]["env_steps"] >= 2000


@pytest.mark.parametrize("seed", range(3))
def test_a_run_that_loses_everybody_but_the_learner_is_sound(tmp_path: Path, seed: int) -> None:
    seen = tried(tmp_path, kill_everybody, seed)
    assert differences(seen) == []
    assert len(seen.victims) == 4


def test_a_fault_that_cannot_be_done_is_told(tmp_path: Path) -> None:
    assert differences(tried(tmp_path, fail)) == [
        "the fault could not be done: OSError('no such process')"
    ]


def test_a_run_that_does_not_finish_is_told_with_its_error(tmp_path: Path) -> None:
    kind = FaultKind("invented", "something happens", kill_an_environment)
    seen = Trial(kind, 0, tmp_path, (*SHORT, *HERE, "cluster.max_restarts=0")).run()
    (sentence,) = differences(seen)
    assert sentence.startswith("the run did not finish: WorkerLostError: ")


def test_a_run_that_shows_no_stamps_is_judged_by_its_counts(tmp_path: Path) -> None:
    short = ("engine.total_env_steps=512", "engine.final_evaluation_episodes=2")
    kind = FaultKind("invented", "something happens", kill_an_environment)
    seen = Trial(kind, 0, tmp_path, (*FULL, *HERE, *short)).run()
    assert differences(seen) == []
    assert all(part.simulators == [] for part in seen.trained)


def with_last_row(seen: Evidence, **changes: Any) -> Evidence:
    return replace(seen, rows=[*seen.rows[:-1], {**seen.rows[-1], **changes}])


def falsified(seen: Evidence) -> Iterator[tuple[Evidence, str]]:
    """Yield the evidence with one thing wrong, and what must be found."""
    (victim,) = seen.victims
    other = next(name for name in seen.env_ids if name != victim)
    first, last = seen.trained[0], seen.trained[-1]
    steps = seen.rows[-1]["env_steps"]
    yield with_last_row(seen, env_steps=steps + 1), f"metrics counts {steps + 1} environment steps"
    yield with_last_row(seen, **{f"faults/restarts/{victim}": 2}), "metrics tell of 2"
    yield with_last_row(seen, **{f"faults/dropped_steps/{other}": 4}), f"{other} has lost 0 steps"
    yield with_last_row(seen, **{"faults/retried_calls/eval-0": 1}), "requests were sent again"
    yield with_last_row(seen, **{"load/eval-0": 1}), "has load/eval-0 = 1"
    yield replace(seen, loads={"eval-1": 2}), "eval-1 has 2 calls in flight"
    yield replace(seen, trained=[*seen.trained, first]), "once more"
    yield replace(seen, trained=seen.trained[:-1]), "environment steps, the learner had"
    mixed = replace(last, simulators=[[0, 1], *last.simulators[1:]])
    yield replace(seen, trained=[*seen.trained[:-1], mixed]), "mixes simulators [0, 1]"
    numbers = last.step_numbers
    holed = replace(last, step_numbers=[numbers[0][:3] + numbers[0][4:], *numbers[1:]])
    yield replace(seen, trained=[*seen.trained[:-1], holed]), "lacks a step"
    versions = replace(last, policy_versions=[3, 4])
    yield replace(seen, trained=[*seen.trained[:-1], versions]), "policy versions [3, 4]"
    interrupted = replace(seen.result, was_interrupted=True)
    yield replace(seen, result=interrupted), "somebody asked the run to end early"
    yield replace(seen, living_process_ids=[1]), "process 1 of a worker lives on"


def test_whatever_is_wrong_is_found(sound: Evidence) -> None:
    for wrong, sentence in falsified(sound):
        assert any(sentence in found for found in differences(wrong)), sentence


def test_a_session_of_this_process_that_stays_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlightning.testing.faults.leftovers.SESSIONS", tmp_path)
    monkeypatch.setattr("rlightning.testing.faults.leftovers.SECONDS_TO_END", 0.2)
    before = Leftovers.now()
    (tmp_path / "session_of_another_1").mkdir()
    assert before.added_since() == []
    own = tmp_path / f"session_x_{os.getpid()}"
    own.mkdir()
    assert before.added_since() == [f"folder {own}"]
