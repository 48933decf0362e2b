"""Which workers a run has, and what each asks of its node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from rlightning.config.placement_config import ComponentPlacement, PlacementConfig
from rlightning.errors import PlacementError
from rlightning.placement.node import NO_LABELS, Node


class Counts(NamedTuple):
    """Numbers of workers, one for each component."""

    train: int = 0
    buffer: int = 0
    eval: int = 0
    env: int = 0

    def minus(self, other: Counts) -> Counts:
        """Return what is left."""
        return Counts(*(own - taken for own, taken in zip(self, other, strict=True)))

    def plus(self, other: Counts) -> Counts:
        """Return the sum."""
        return Counts(*(own + added for own, added in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Demand:
    """What one worker asks for.

    Attributes:
        cpus: CPUs, also in parts.
        gpus: A part of one GPU, or whole ones.
        memory_bytes: Memory; 0: not counted.
        accelerator_type: Kind of GPU that the node must have; None: any.
        labels: Labels that the node must have.
    """

    cpus: Fraction = Fraction(1)
    gpus: Fraction = Fraction(0)
    memory_bytes: int = 0
    accelerator_type: str | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)

    def __post_init__(self) -> None:
        """Refuse what no node could give.

        Raises:
            PlacementError: If an amount is negative, or GPUs are above 1 and not whole.
        """
        is_negative = self.cpus < 0 or self.gpus < 0 or self.memory_bytes < 0
        if is_negative or (self.gpus > 1 and self.gpus.denominator != 1):
            raise PlacementError(
                "expected amounts of at least 0, and a part of one GPU or whole GPUs, got "
                f"{self.cpus} CPUs, {self.gpus} GPUs, {self.memory_bytes} bytes; correct them"
            )

    @classmethod
    def of(cls, settings: ComponentPlacement) -> Demand:
        """Return what the configuration says."""
        return cls(
            settings.cpus,
            settings.gpus,
            settings.memory,
            settings.accelerator_type,
            settings.labels,
        )

    @property
    def num_whole_gpus(self) -> int:
        """GPUs that one worker has for itself; 0 if it asks for none or a part."""
        return int(self.gpus) if self.gpus >= 1 else 0

    def is_allowed_on(self, node: Node) -> bool:
        """Say whether the node is of the right kind, whatever room it has."""
        is_right_type = self.accelerator_type in (None, node.accelerator_type)
        return is_right_type and all(
            node.labels.get(name) == value for name, value in self.labels.items()
        )


@dataclass(frozen=True)
class Pool:
    """Environment workers and the replicas that serve them.

    Attributes:
        env_ids: 0-based indices of the environment workers, unique in the cluster.
        eval_ids: 0-based ids of the replicas, unique in the cluster.
    """

    env_ids: tuple[int, ...]
    eval_ids: tuple[int, ...]


@dataclass(frozen=True)
class PlacementRequest:
    """All workers of a run.

    Attributes:
        pools: One for each kind of environment.
        train_ids: Learners.
        buffer_ids: Buffers that live apart from the learner.
        demands: What one worker of a component asks for; a component left out asks for one CPU.
    """

    pools: tuple[Pool, ...]
    train_ids: tuple[int, ...] = (0,)
    buffer_ids: tuple[int, ...] = ()
    demands: Mapping[str, Demand] = field(default_factory=dict)

    def demand(self, component: str) -> Demand:
        """Return what one worker of a component asks for."""
        return self.demands.get(component, Demand())

    @property
    def counts(self) -> Counts:
        """Number of workers of each component."""
        return Counts(
            len(self.train_ids),
            len(self.buffer_ids),
            sum(len(pool.eval_ids) for pool in self.pools),
            sum(len(pool.env_ids) for pool in self.pools),
        )


def request_of(
    placement: PlacementConfig, env_ids_of_pools: Sequence[Sequence[int]], num_eval_policies: int
) -> PlacementRequest:
    """Return the workers of a run with one learner.

    Args:
        placement: What each worker asks for.
        env_ids_of_pools: For each kind of environment, the indices of its environment workers.
        num_eval_policies: Replicas of each kind; their ids count on from kind to kind.
    """
    pools = tuple(
        Pool(
            tuple(env_ids),
            tuple(range(number * num_eval_policies, (number + 1) * num_eval_policies)),
        )
        for number, env_ids in enumerate(env_ids_of_pools)
    )
    demands = {
        "env": Demand.of(placement.env),
        "eval": Demand.of(placement.eval),
        "train": Demand.of(placement.train),
    }
    return PlacementRequest(pools, demands=demands)
