"""The values of something that is edited, with undo and redo."""

from typing import Generic, TypeVar

T = TypeVar("T")

MOST_STEPS_BACK = 200


class History(Generic[T]):
    """The values that something has had, the one that it has now among them."""

    def __init__(self, *values: T) -> None:
        self.values, self.at = list(values), len(values) - 1

    def add(self, value: T, merged: bool = False) -> None:
        """Add a new value, which ends redo; one that is `merged` replaces the value before it."""
        past = self.values[: self.at + 1]
        self.values = [*(past[:-1] if merged else past), value][-MOST_STEPS_BACK:]
        self.at = len(self.values) - 1

    def move(self, by: int) -> T | None:
        """The value after undo (-1) or redo (1); None at either end."""
        if not 0 <= self.at + by < len(self.values):
            return None
        self.at += by
        return self.values[self.at]

    @property
    def can(self) -> dict[str, bool]:
        """Whether there is something to undo, and to redo."""
        return {"undo": self.at > 0, "redo": self.at + 1 < len(self.values)}
