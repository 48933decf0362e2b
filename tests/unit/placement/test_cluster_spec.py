"""A cluster in one line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rlightning.errors import PlacementError
from rlightning.placement.cluster_spec import nodes_of_specs


def test_a_number_and_amounts_are_that_many_equal_nodes() -> None:
    nodes = nodes_of_specs(["8xcpu=64,gpu=8"])
    assert [node.node_id for node in nodes] == [f"node-{i}" for i in range(8)]
    assert {(node.cpus, node.gpus, node.memory_bytes) for node in nodes} == {(64, 8, None)}


def test_nodes_are_numbered_through_several_texts() -> None:
    first, second, third = nodes_of_specs(
        ["2xcpu=1/2", "cpu=4,memory=2GiB,type=A100,label.pool=rollout"]
    )
    assert (first.node_id, second.node_id, third.node_id) == ("node-0", "node-1", "node-2")
    assert first.cpus == Fraction(1, 2)
    assert (third.memory_bytes, third.accelerator_type) == (2**31, "A100")
    assert third.labels == {"pool": "rollout"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "expected nodes such as"),
        ("0xcpu=1", "expected nodes such as"),
        ("8x", "expected nodes such as"),
        ("cpu=", "expected nodes such as"),
        ("cpu=1,cpu=2", "each key once"),
        ("cpus=1", "did you mean 'cpu'"),
        ("cpu=-1", "an amount such as"),
        ("gpu=1/2", "a count such as"),
        ("gpu=1-2", "whole GPUs"),
        ("gpu=9999", "at most 1024"),
        ("memory=4XB", "memory such as 4GiB"),
    ],
)
def test_a_text_that_says_no_nodes_is_refused(spec: str, message: str) -> None:
    with pytest.raises(PlacementError, match=message):
        nodes_of_specs([spec])
