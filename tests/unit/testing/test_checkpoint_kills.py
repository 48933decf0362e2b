from __future__ import annotations

from rlightning.engine.checkpoint import CheckpointStore
from rlightning.testing import checkpoint_kills
from rlightning.testing.checkpoint_kills import count_kills


def test_kill_9_at_any_moment_leaves_the_last_good_checkpoint(tmp_path):
    counts = count_kills(tmp_path, num_kills=6, seed=1)

    assert counts.num_kills == 6
    assert counts.num_lost == 0
    assert CheckpointStore(tmp_path).load_latest()["iteration"] >= 6


def test_the_count_sees_a_checkpoint_that_is_lost(tmp_path, monkeypatch):
    def lose(folder, reported_iteration):
        for path in folder.glob("*.pt"):
            path.write_bytes(path.read_bytes()[:100])
        return was_whole(folder, reported_iteration)

    was_whole = checkpoint_kills._is_whole
    monkeypatch.setattr(checkpoint_kills, "_is_whole", lose)

    assert count_kills(tmp_path, num_kills=1).num_lost == 1
