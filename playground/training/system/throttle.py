"""A budget of time: something that is done again and again beside other work, and never takes more than its share."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Clock = Callable[[], float]
"""Seconds that have passed, of whatever kind."""


class Budget:
    """Says when something may be done again, so that it takes at most a `share` of what there is.

    What it takes is told by the clock `spent`, what there is by the clock `there`. At least `every` seconds of that lie
    between two times; after `longest` seconds of the day it may be done again whatever it took.
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
        """What is done inside is paid for: the more it takes, the longer is the wait."""
        here, began = self.there(), self.spent()
        try:
            yield
        finally:
            self._next = here + max(self.every, (self.spent() - began) / self.share)
            self._latest = time.monotonic() + self.longest
