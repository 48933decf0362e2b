"""Who belongs to a pool."""

from __future__ import annotations

from rlightning.placement.plan import PlacedWorker
from rlightning.placement.request import Pool


def with_worker(pool: Pool, worker: PlacedWorker) -> Pool:
    """Return a pool with one more environment worker or replica."""
    if worker.component == "env":
        return Pool((*pool.env_ids, worker.worker_id), pool.eval_ids)
    return Pool(pool.env_ids, (*pool.eval_ids, worker.worker_id))


def without_worker(pool: Pool, gone: PlacedWorker) -> Pool:
    """Return a pool without a worker; the same if it has none such."""
    if not is_in(pool, gone):
        return pool
    left = {
        "env": tuple(i for i in pool.env_ids if gone.component != "env" or i != gone.worker_id),
        "eval": tuple(i for i in pool.eval_ids if gone.component != "eval" or i != gone.worker_id),
    }
    return Pool(left["env"], left["eval"])


def is_in(pool: Pool, worker: PlacedWorker) -> bool:
    """Return whether a worker belongs to a pool."""
    ids = {"env": pool.env_ids, "eval": pool.eval_ids}.get(worker.component, ())
    return worker.worker_id in ids
