"""The strategies by the names of the configuration."""

from __future__ import annotations

from rlightning.errors import ConfigError
from rlightning.placement.strategies.base import Strategy
from rlightning.placement.strategies.colocate import ColocateStrategy
from rlightning.placement.strategies.default import DefaultStrategy
from rlightning.placement.strategies.disaggregate import DisaggregateStrategy
from rlightning.placement.strategies.manual import CountRanges, ManualStrategy
from rlightning.placement.strategies.pack import PackStrategy
from rlightning.registry import did_you_mean

_WITHOUT_SETTINGS: dict[str, type[Strategy]] = {
    kind.name: kind
    for kind in (DefaultStrategy, PackStrategy, ColocateStrategy, DisaggregateStrategy)
}
STRATEGY_NAMES = (*_WITHOUT_SETTINGS, ManualStrategy.name)


def create_strategy(name: str, manual: CountRanges | None = None) -> Strategy:
    """Return a strategy.

    Args:
        name: One of `STRATEGY_NAMES`.
        manual: Entries of ``manual``.

    Raises:
        ConfigError: If there is no such strategy, or entries and strategy do not go together.
    """
    if name not in STRATEGY_NAMES:
        raise ConfigError(
            f"expected one of {', '.join(STRATEGY_NAMES)} as strategy of placement, got {name!r}"
            f"{did_you_mean(name, STRATEGY_NAMES)}; choose one of them"
        )
    if bool(manual) != (name == ManualStrategy.name):
        raise ConfigError(
            f"expected entries with the strategy 'manual' and with no other, got {name!r} with "
            f"{len(manual or ())} entries; add them, leave them out, or change the strategy"
        )
    return _WITHOUT_SETTINGS[name]() if name in _WITHOUT_SETTINGS else ManualStrategy(manual or {})
