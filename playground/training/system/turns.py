"""Turns of those who share a machine: how many train at once, in which order, and who stands where in the line."""

import math
import threading
import time


class Turns:
    """At most `at_once` pieces of work train at a time, one of each owner; the others wait in one line.

    A turn ends after `seconds` where somebody waits whose turn it could be; who had it goes to the end of the line.
    """

    def __init__(self, at_once: int, seconds: float) -> None:
        self.at_once, self.seconds, self.lock = at_once, seconds, threading.Lock()
        self.line: list[Turn] = []
        self.began: dict[Turn, float] = {}

    def of(self, owner: object) -> "Turn":
        """A turn for a new piece of work of an owner."""
        return Turn(self, owner)

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self.line)

    @property
    def training(self) -> int:
        """How many have their turn."""
        return len(self.began)

    def next(self, without: "Turn | None" = None) -> "Turn | None":
        """The first in line of whose owner nothing trains."""
        owners = {id(each.owner) for each in self.began if each is not without}
        return next((each for each in self.line if id(each.owner) not in owners), None)


class Turn:
    """One piece of work of an owner among others, which asks between two of its steps."""

    def __init__(self, turns: Turns, owner: object) -> None:
        self.turns, self.owner = turns, owner

    def take(self) -> bool:
        """Whether the next step may be taken; where not, the work stands in line and asks again soon."""
        turns = self.turns
        with turns.lock:
            began = turns.began.get(self)
            if began is not None and (time.monotonic() < began + turns.seconds or not turns.next(without=self)):
                return True
            turns.began.pop(self, None)
            if self not in turns.line:
                turns.line.append(self)
            while len(turns.began) < turns.at_once and (first := turns.next()):
                turns.line.remove(first)
                turns.began[first] = time.monotonic()
            return self in turns.began

    def leave(self) -> None:
        """Leave the line, or hand the turn on: the work is paused or over."""
        with self.turns.lock:
            self.turns.began.pop(self, None)
            if self in self.turns.line:
                self.turns.line.remove(self)

    @property
    def position(self) -> int:
        """The position in the queue, from 1; 0 where the work does not wait."""
        with self.turns.lock:
            return self.turns.line.index(self) + 1 if self in self.turns.line else 0

    @property
    def trains(self) -> bool:
        """Whether the work has its turn."""
        return self in self.turns.began


NO_LINE = Turns(1, math.inf).of(None)
"""The turn of those who are alone with their machine: always."""
