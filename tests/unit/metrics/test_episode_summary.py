from __future__ import annotations

from rlightning.metrics.episode_summary import EpisodeWindow, summarize_episodes
from rlightning.types import EpisodeRecord


def episode(episode_return: float, worker: str = "env-0", length: int = 1) -> EpisodeRecord:
    return EpisodeRecord(f"{worker}/0", episode_return, length, terminated=True)


def test_the_summary_of_two_episodes_is_worked_by_hand():
    summary = summarize_episodes([episode(1.0, length=10), episode(5.0, length=20)])

    # mean (1 + 5) / 2, deviations -2 and +2, so a standard deviation of 2
    assert summary == {
        "episode_return_mean": 3.0,
        "episode_return_std": 2.0,
        "episode_return_min": 1.0,
        "episode_return_max": 5.0,
        "episode_length_mean": 15.0,
    }


def test_only_the_last_hundred_episodes_count():
    window = EpisodeWindow()
    window.add([episode(1000.0)], {})
    window.add([episode(1.0)] * 100, {})

    assert window.summary()["episode_return_max"] == 1.0


def test_several_environments_get_returns_of_their_own():
    window = EpisodeWindow()
    environments = {"env-0": "CartPole-v1", "env-1": "Pendulum-v1"}
    window.add([episode(100.0, "env-0"), episode(-500.0, "env-1")], environments)

    summary = window.summary()
    assert summary["CartPole-v1/episode_return_mean"] == 100.0
    assert summary["Pendulum-v1/episode_return_mean"] == -500.0
    assert summary["episode_return_mean"] == -200.0


def test_several_workers_of_one_environment_share_its_returns():
    window = EpisodeWindow()
    window.add([episode(1.0, "env-0"), episode(3.0, "env-1")], {"env-0": "A", "env-1": "A"})

    assert window.summary() == summarize_episodes([episode(1.0), episode(3.0)])


def test_a_restored_window_goes_on_as_if_never_stopped():
    environments = {"env-0": "A", "env-1": "B"}
    window = EpisodeWindow()
    window.add([episode(1.0, "env-0"), episode(2.0, "env-1")], environments)
    restored = EpisodeWindow()
    restored.add([episode(77.0)], {})
    restored.restore(window.state())

    for each in (window, restored):
        each.add([episode(9.0, "env-1")], environments)
    assert restored.summary() == window.summary()
