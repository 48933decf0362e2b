from __future__ import annotations

import math
import tempfile
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rlightning.engine.checkpoint import CheckpointStore
from rlightning.engine.checkpoint_name import checkpoint_name, list_checkpoints
from rlightning.errors import CheckpointError

SCORES = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@given(st.integers(0, 10**10), SCORES)
def test_a_name_reads_back_as_exactly_the_same_iteration_and_score(iteration, score):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, checkpoint_name(iteration, score)).touch()
        (entry,) = list_checkpoints(Path(folder))

    assert (entry.iteration, entry.score) == (iteration, score)


@given(st.lists(SCORES, min_size=1, max_size=8), st.integers(1, 4))
@settings(max_examples=30)
def test_the_newest_and_the_best_of_all_are_always_kept(scores, keep):
    with tempfile.TemporaryDirectory() as folder:
        for iteration, score in enumerate(scores):
            CheckpointStore(folder, keep).save({}, iteration, score)
        kept = {entry.iteration: entry.score for entry in list_checkpoints(Path(folder))}

    newest = set(range(len(scores))[-keep:])
    assert newest <= set(kept)
    assert len(kept) <= keep + 1
    best = max((s for s in scores if s is not None), default=-math.inf)
    assert max((s for s in kept.values() if s is not None), default=-math.inf) == best


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> tuple[Path, bytes]:
    folder = tmp_path_factory.mktemp("checkpoints")
    path = CheckpointStore(folder).save(
        {"weights": torch.arange(64.0), "iteration": 7, "text": "x" * 50}, 7
    )
    return path, path.read_bytes()


def assert_refused_or_unharmed(path: Path, content: bytes) -> bool:
    """Load changed content; return whether it was refused, fail if it was loaded as other data."""
    changed = path.with_name("iteration-00000008.pt")
    changed.write_bytes(content)
    try:
        payload = CheckpointStore(path.parent).load(changed)
    except CheckpointError:
        return True
    finally:
        changed.unlink()
    assert payload["iteration"] == 7
    assert payload["text"] == "x" * 50
    assert torch.equal(payload["weights"], torch.arange(64.0))
    return False


@given(st.data())
@settings(max_examples=300)
def test_no_changed_bit_is_ever_loaded_as_other_data(saved, data):
    path, content = saved
    position = data.draw(st.integers(0, len(content) - 1))
    changed = bytearray(content)
    changed[position] ^= 1 << data.draw(st.integers(0, 7))

    assert_refused_or_unharmed(path, bytes(changed))


@given(st.data())
@settings(max_examples=100)
def test_every_file_that_was_cut_short_is_refused(saved, data):
    path, content = saved
    length = data.draw(st.integers(0, len(content) - 1))

    assert assert_refused_or_unharmed(path, content[:length])
