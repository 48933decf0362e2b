"""Which GPUs of its node each worker gets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rlightning.placement.gpu_room import GpuDemands, device_table
from rlightning.placement.nearest_fit import nearest_fit
from rlightning.placement.node import WHOLE
from rlightning.placement.request import Counts
from rlightning.placement.strategies.pack import PackStrategy

GpuIndices = tuple[int, ...]


def gpus_of_workers(
    gpu_shares: Sequence[Fraction], demands: GpuDemands, counts: Counts
) -> tuple[tuple[GpuIndices, ...], ...]:
    """Return for each component, in the order of `Counts`, the GPUs of each of its workers.

    Parts of a GPU are packed, on those that are in use first; what asks for whole GPUs gets the
    last ones. The counts must fit, as a room table of the node says.
    """
    opened = [i for i, share in enumerate(gpu_shares) if share < WHOLE]
    untouched = [i for i, share in enumerate(gpu_shares) if share == WHOLE]
    num_shared = len(untouched) - demands.num_whole(counts)
    shared = opened + untouched[:num_shared]
    partial = _partial_places(shared, [gpu_shares[i] for i in shared], demands, counts)
    alone = iter(untouched[num_shared:])
    return tuple(
        partial[kind] if 0 < share < 1 else tuple(
            tuple(next(alone) for _ in range(int(share))) for _ in range(count)
        )
        for kind, (share, count) in enumerate(zip(demands.shares, counts, strict=True))
    )  # fmt: skip


def shares_left(
    gpu_shares: Sequence[Fraction],
    demands: GpuDemands,
    layout: Sequence[Sequence[GpuIndices]],
) -> tuple[Fraction, ...]:
    """Return what is free of each GPU under a layout."""
    left = list(gpu_shares)
    for share, workers in zip(demands.shares, layout, strict=True):
        for gpu_index in (i for indices in workers for i in indices):
            left[gpu_index] -= min(share, WHOLE)
    return tuple(left)


def _partial_places(
    gpu_indices: Sequence[int],
    gpu_shares: Sequence[Fraction],
    demands: GpuDemands,
    counts: Counts,
) -> tuple[tuple[GpuIndices, ...], ...]:
    """Return for each component the GPU of each worker that asks for a part of one."""
    partial = demands.partial(counts)
    if not any(partial):
        return ((),) * len(partial)
    tables = [device_table(share, demands, partial) for share in gpu_shares]
    found = nearest_fit(tables, partial, PackStrategy().wishes)
    if found is None:
        raise RuntimeError(f"{partial} were planned on GPUs that hold fewer: {gpu_shares}")
    return tuple(
        tuple(
            (index,)
            for index, own in zip(gpu_indices, found, strict=True)
            for _ in range(own[kind])
        )
        for kind in range(len(partial))
    )
