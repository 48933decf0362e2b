from __future__ import annotations

import pytest

from rlightning.dispatch.policy_pool import NoPool
from rlightning.errors import RoutingError


def test_where_a_router_keeps_its_policies_itself_there_is_nothing_to_take() -> None:
    with pytest.raises(RoutingError, match="keeps them itself"):
        NoPool().take("env-0")
