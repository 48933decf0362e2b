"""Round robin over items that may come and go."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Generic, TypeVar

from rlightning.dispatch.tie_break import start_offset

Item = TypeVar("Item")


class Rotation(Generic[Item]):
    """A cursor over items, in the order in which they were given.

    Whoever calls `next_item`, `add` or `remove` holds `lock`.
    """

    def __init__(self, items: Iterable[Item], start_seed: int | None = None) -> None:
        """Begin at the first item, or at the start offset of the seed."""
        self.lock = Lock()
        self.items = list(items)
        self._cursor = 0 if start_seed is None else start_offset(start_seed, len(self.items))

    def next_item(self) -> Item:
        """Return the item at the cursor and move on; O(1).

        Raises:
            IndexError: If there are no items.
        """
        cursor = self._cursor
        item = self.items[cursor]
        self._cursor = cursor + 1 if cursor + 1 < len(self.items) else 0
        return item

    def add(self, item: Item) -> None:
        """Put an item last."""
        self.items.append(item)

    def remove(self, item: Item) -> None:
        """Take an item out, found by identity; the others keep their turn.

        Raises:
            ValueError: If the item is not there.
        """
        position = next((i for i, other in enumerate(self.items) if other is item), None)
        if position is None:
            raise ValueError("expected an item of the rotation; add it first")
        del self.items[position]
        if position < self._cursor:
            self._cursor -= 1
        if self._cursor >= len(self.items):
            self._cursor = 0
