"""What a kind of fault is: whom it befalls, and how it is done."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rlightning.engine.assembly import Assembly
from rlightning.runtime.base import WorkerHandle

HEAD, BESIDE_HEAD = "head", "beside"
"""Labels, named ``part``, of the first node of a cluster and of all others."""


class RemovesNodes(Protocol):
    """The cluster beneath a run, as far as a fault needs it."""

    def removable_node_ids(self) -> Sequence[str]:
        """Return the nodes that may be removed: not that of the driver."""
        ...

    def remove_node(self, node_id: str, *, is_sudden: bool = False) -> None:
        """End a node with all processes on it; a sudden end it tells nobody of."""
        ...

    def fill_store(self) -> None:
        """Put more into the object store of the driver's node than fits, and keep it there."""
        ...


@dataclass(frozen=True, slots=True)
class Scene:
    """A run that is under way, as a fault finds it.

    Attributes:
        assembly: Its parts.
        random: Chooses the victim.
        cluster: What it runs on.
        orders: Folder of what workers are ordered to do.
    """

    assembly: Assembly
    random: random.Random
    cluster: RemovesNodes | None = None
    orders: Path = Path()

    def environments(self) -> list[WorkerHandle]:
        """Return the environment workers."""
        return self.assembly.environments.handles()

    def replicas(self) -> list[WorkerHandle]:
        """Return the replicas that take part."""
        return self.assembly.policies.handles()


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One kind of fault.

    Attributes:
        name: On the command line.
        what: What is done, in a few words.
        inject: Does it; returns the ids of the workers that have died by it.
        settings: Of the run, beside those that all runs have; given random numbers of the run.
        num_nodes: How many nodes the cluster needs.
        num_padding_values: Zeros that observations show beside their own values, so that what is
            made of them goes through the object store.
        num_lost_fragments: Most fragments that each victim may lose.
        is_deadly: Whether the victims are started again.
        limits_memory: Whether Ray's memory monitor is to end whoever takes much more than is
            in use at the start.
    """

    name: str
    what: str
    inject: Callable[[Scene], Sequence[str]]
    settings: Callable[[random.Random], Sequence[str]] = lambda _: ()
    num_nodes: int = 1
    num_padding_values: int = 0
    num_lost_fragments: int = 1
    is_deadly: bool = True
    limits_memory: bool = False
