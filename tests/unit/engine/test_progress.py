from __future__ import annotations

from rlightning.engine.progress import TrainingProgress


def test_progress_counts_and_is_complete_when_all_steps_are_taken() -> None:
    progress = TrainingProgress(100)
    assert (progress.share, progress.is_complete) == (0.0, False)
    progress.advance(40, 1.5)
    progress.advance(40, 0.5)
    assert (progress.iteration, progress.env_steps, progress.seconds) == (2, 80, 2.0)
    assert (progress.share, progress.is_complete) == (0.8, False)
    progress.advance(40, 0.5)
    assert (progress.share, progress.is_complete) == (1.0, True)


def test_another_process_goes_on_and_may_have_more_steps_to_take() -> None:
    progress = TrainingProgress(100)
    progress.advance(100, 2.0)
    longer = TrainingProgress(200)
    longer.load_state_dict(progress.state_dict())
    assert (longer.iteration, longer.env_steps, longer.seconds) == (1, 100, 2.0)
    assert (longer.share, longer.is_complete) == (0.5, False)
