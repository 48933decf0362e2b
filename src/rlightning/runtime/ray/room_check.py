"""Whether Ray has room for workers on their nodes now, beside what others hold there.

Ray's public interface tells what is free in the whole cluster only. A placement group of one
bundle that is kept to one node is a reservation there: Ray grants it within milliseconds if there
is room, and starts no process for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from ray.util.placement_group import (
    PlacementGroup,
    placement_group,
    placement_group_table,
    remove_placement_group,
)

from rlightning.placement.taken_room import CPUS, GPUS, MEMORY
from rlightning.runtime.base import WorkerSpec
from rlightning.runtime.ray.placing import no_room

NODE_LABEL = "ray.io/node-id"
GRANTED = "CREATED"
SECONDS_BETWEEN_LOOKS = 0.02
SECONDS_FOR_ONE_RESOURCE = 0.5

_RAY_NAMES = {CPUS: "CPU", GPUS: "GPU", MEMORY: "memory"}


class Place(Protocol):
    """What a worker asks for, and the node that it is kept to, if any."""

    @property
    def node_id(self) -> str | None:
        """Id of the node."""
        ...

    @property
    def num_cpus(self) -> float:
        """CPUs."""
        ...

    @property
    def num_gpus(self) -> float:
        """GPUs."""
        ...

    @property
    def memory_bytes(self) -> int:
        """Memory."""
        ...


def require_room(
    specs: Sequence[WorkerSpec], placed: Sequence[WorkerSpec], timeout_seconds: float
) -> None:
    """Look whether all workers have room, before any of them is started.

    Args:
        specs: Who shall start.
        placed: Who runs already, each with the node on which it is.
        timeout_seconds: How long to wait for what others may be giving back.

    Raises:
        WorkerError: If one has none; names worker, node and what is missing.
    """
    lacking = lacking_room({spec.worker_id: spec for spec in specs}, timeout_seconds)
    for spec in specs:
        if spec.worker_id in lacking:
            raise no_room(spec, [*placed, *(s for s in specs if s.worker_id not in lacking)])


def lacking_room(places: Mapping[str, Place], timeout_seconds: float) -> dict[str, frozenset[str]]:
    """Reserve all places at the same time, and give them back.

    Args:
        places: Of workers, by name.
        timeout_seconds: How long to wait for what others may be giving back.

    Returns:
        The workers without room, each with the resources that it lacks.
    """
    asked = {name: _amounts(place) for name, place in places.items() if _amounts(place)}
    with _reserved({name: (places[name].node_id, own) for name, own in asked.items()}) as groups:
        refused = _refused(groups, timeout_seconds)
        for name in refused:
            remove_placement_group(groups[name])
        known: dict[tuple[str | None, tuple[tuple[str, float], ...]], frozenset[str]] = {}
        for name in refused:
            node_id, own = places[name].node_id, asked[name]
            alike = node_id, tuple(own.items())
            if alike not in known:
                known[alike] = _lacking_resources(node_id, own)
        return {name: known[places[name].node_id, tuple(asked[name].items())] for name in refused}


def _amounts(place: Place) -> dict[str, float]:
    amounts = {CPUS: place.num_cpus, GPUS: place.num_gpus, MEMORY: float(place.memory_bytes)}
    return {resource: amount for resource, amount in amounts.items() if amount}


def _lacking_resources(node_id: str | None, amounts: Mapping[str, float]) -> frozenset[str]:
    """Try each resource by itself; all of them lack if each alone is there, but not together."""
    lacking = set()
    for resource, amount in amounts.items():
        with _reserved({resource: (node_id, {resource: amount})}) as groups:
            lacking.update(_refused(groups, SECONDS_FOR_ONE_RESOURCE))
    return frozenset(lacking or amounts)


@contextmanager
def _reserved(
    asked: Mapping[str, tuple[str | None, Mapping[str, float]]],
) -> Iterator[dict[str, PlacementGroup]]:
    groups: dict[str, PlacementGroup] = {}
    try:
        for name, (node_id, amounts) in asked.items():
            bundle = {_RAY_NAMES[resource]: amount for resource, amount in amounts.items()}
            labels = {} if node_id is None else {NODE_LABEL: node_id}
            groups[name] = placement_group([bundle], bundle_label_selector=[labels])
        yield groups
    finally:
        for group in groups.values():
            remove_placement_group(group)


def _refused(groups: Mapping[str, PlacementGroup], timeout_seconds: float) -> list[str]:
    """Return those that are not granted in time."""
    deadline = time.monotonic() + timeout_seconds
    waiting = list(groups)
    while waiting := [name for name in waiting if not _is_granted(groups[name])]:
        if time.monotonic() > deadline:
            break
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return waiting


def _is_granted(group: PlacementGroup) -> bool:
    return bool(placement_group_table(group).get("state") == GRANTED)
