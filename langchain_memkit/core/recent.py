"""A bounded mapping that lets go of what was used longest ago."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from langchain_memkit.core.models import check_positive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Recent"]

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values under names, safe to share between threads.

    Example:
        >>> recent: Recent[int] = Recent(2)
        >>> recent.put([("a", 1), ("b", 2)])
        >>> recent.get(["a"])
        [1]
        >>> recent.put([("c", 3)])
        >>> recent.get(["a", "b", "c"])
        [1, None, 3]
    """

    def __init__(self, most: int) -> None:
        """Make an empty mapping.

        Args:
            most: How many values it keeps, at least 1.

        Raises:
            InvalidInputError: The number is not at least 1.
        """
        self._most = check_positive("most", most)
        self._values: OrderedDict[str, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, names: Iterable[str]) -> list[Value | None]:
        """Look values up, which counts as using them.

        Args:
            names: Any names.

        Returns:
            One value or `None` for each name.
        """
        with self._lock:
            return [self._use(name) for name in names]

    def put(self, pairs: Iterable[tuple[str, Value]]) -> None:
        """Keep values.

        Args:
            pairs: Names and values.
        """
        with self._lock:
            for name, value in pairs:
                self._put(name, value)

    def update(
        self, names: Iterable[str], change: Callable[[Value | None], Value]
    ) -> None:
        """Replace values by what a function makes of them, as one step.

        Args:
            names: Any names.
            change: Given the value or `None`, returns the new one.
        """
        with self._lock:
            for name in names:
                self._put(name, change(self._values.get(name)))

    def __getstate__(self) -> tuple[int, OrderedDict[str, Value]]:
        """Leave the lock out of copies.

        Returns:
            The bound and the values.
        """
        with self._lock:
            return self._most, self._values.copy()

    def __setstate__(self, state: tuple[int, OrderedDict[str, Value]]) -> None:
        """Make a copy with a lock of its own.

        Args:
            state: What `__getstate__` gave.
        """
        self._most, self._values = state
        self._lock = Lock()

    def _use(self, name: str) -> Value | None:
        if name in self._values:
            self._values.move_to_end(name)
        return self._values.get(name)

    def _put(self, name: str, value: Value) -> None:
        self._values[name] = value
        self._values.move_to_end(name)
        if len(self._values) > self._most:
            self._values.popitem(last=False)
