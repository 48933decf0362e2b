"""That no two environment workers stamp their data with one id."""

from __future__ import annotations

from collections.abc import Mapping

from rlightning.errors import EnvironmentFailedError


def refuse_shared_ids(identities: Mapping[str, str]) -> None:
    """Refuse two workers that stamp their data with one id.

    Args:
        identities: What each worker says of itself, by the id that it was started with.

    Raises:
        EnvironmentFailedError: If two say the same.
    """
    owner: dict[str, str] = {}
    for env_id, stamped in identities.items():
        if stamped in owner:
            raise EnvironmentFailedError(
                f"expected every environment worker to have an id of its own, got {stamped!r} "
                f"for both {owner[stamped]} and {env_id}; pass the worker's index on"
            )
        owner[stamped] = env_id
