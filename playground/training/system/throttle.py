"""A budget of time for something that is done again and again beside other work."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Clock = Callable[[], float]
"""Seconds that have passed, of whatever kind."""


class TimeBudget:
    """Whether something may be done again, so that its time `spent` is at most a `share` of all time `there`.

    Two times lie at least `every` seconds apart; after `longest` seconds of the day it may be done in any case.
    """

    def __init__(self, share: float, spent: Clock, there: Clock, every: float = 0.0, longest: float = math.inf) -> None:
        self.share, self.spent, self.there, self.every, self.longest = share, spent, there, every, longest
        self._next, self._latest = -math.inf, math.inf

    @property
    def allows(self) -> bool:
        """Whether it is time again."""
        return self.there() >= self._next or time.monotonic() >= self._latest

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Measure what is done inside: the more time it takes, the longer is the wait."""
        here, began = self.there(), self.spent()
        try:
            yield
        finally:
            self._next = here + max(self.every, (self.spent() - began) / self.share)
            self._latest = time.monotonic() + self.longest
