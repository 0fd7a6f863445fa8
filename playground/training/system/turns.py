"""Turns of those who share a machine: how many train at once, in which order, and who stands where in the line."""

import threading
import time
from typing import Protocol


class Turn(Protocol):
    """What work asks between two of its steps."""

    def take(self) -> bool:
        """Whether the next step may be taken; where not, the work stands in line and asks again soon."""
        ...

    def leave(self) -> None:
        """Leave the line, or hand the turn on: the work is paused or over."""
        ...

    @property
    def position(self) -> int:
        """The position in the queue, from 1; 0 where the work does not wait."""
        ...

    @property
    def trains(self) -> bool:
        """Whether the work has its turn."""
        ...


class NoLine:
    """The turn of those who are alone with their machine: always."""

    position, trains = 0, False

    def take(self) -> bool:
        return True

    def leave(self) -> None:
        return


NO_LINE = NoLine()


class Turns:
    """At most `at_once` pieces of work train at a time, one of each owner; the others wait in one line.

    A turn ends after `seconds` where somebody waits whose turn it could be; who had it goes to the end of the line.
    """

    def __init__(self, at_once: int, seconds: float) -> None:
        self.at_once, self.seconds = at_once, seconds
        self._lock = threading.Lock()
        self._line: list[Ticket] = []
        self._training: dict[Ticket, float] = {}

    def of(self, owner: object) -> "Ticket":
        """A turn for a new piece of work of an owner."""
        return Ticket(self, owner)

    def has(self, turn: "Ticket") -> bool:
        """Whether a piece of work has its turn."""
        return turn in self._training

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._line)

    @property
    def training(self) -> int:
        """How many have their turn."""
        return len(self._training)

    def take(self, turn: "Ticket") -> bool:
        """Whether this piece of work may take its next step."""
        with self._lock:
            began = self._training.get(turn)
            if began is not None and (time.monotonic() < began + self.seconds or not self._next(without=turn)):
                return True
            self._training.pop(turn, None)
            if turn not in self._line:
                self._line.append(turn)
            while len(self._training) < self.at_once and (first := self._next()):
                self._line.remove(first)
                self._training[first] = time.monotonic()
            return turn in self._training

    def leave(self, turn: "Ticket") -> None:
        """Forget a piece of work until it asks again."""
        with self._lock:
            self._training.pop(turn, None)
            if turn in self._line:
                self._line.remove(turn)

    def position(self, turn: "Ticket") -> int:
        """The position in the queue, from 1; 0 for who does not wait."""
        with self._lock:
            return self._line.index(turn) + 1 if turn in self._line else 0

    def _next(self, without: "Ticket | None" = None) -> "Ticket | None":
        """The first in line of whose owner nothing trains."""
        owners = {id(each.owner) for each in self._training if each is not without}
        return next((each for each in self._line if id(each.owner) not in owners), None)


class Ticket:
    """One piece of work of an owner among others."""

    def __init__(self, turns: Turns, owner: object) -> None:
        self.turns, self.owner = turns, owner

    def take(self) -> bool:
        return self.turns.take(self)

    def leave(self) -> None:
        self.turns.leave(self)

    @property
    def position(self) -> int:
        return self.turns.position(self)

    @property
    def trains(self) -> bool:
        return self.turns.has(self)
