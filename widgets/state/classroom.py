"""A class: one run, a seed and a guess for everybody who joins, one band over all seeds; it lives in memory alone."""

import csv
import hmac
import io
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from random import SystemRandom
from statistics import fmean
from typing import Any

import param

from playground.corpora import open_corpus
from playground.devices import pick
from playground.errors import UserError
from playground.knob import turn
from playground.training import Run, Session
from playground.training.curve import CurvePoint
from playground.training.system.turns import NO_LINE, Turn
from playground.zoo import entry_named
from widgets.state.job import as_trouble
from widgets.state.quota import ALONE, Quota

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,29}")
MOST_CLASSES, MOST_MEMBERS, HOURS = 8, 40, 4
"""Classes at a time, members of one, and hours after which a class is forgotten."""

STEPS = (100, 200, 400, 1000)
EVALUATIONS = 20  # evaluations of a run: points of each curve
HIGHEST = 20.0  # the largest guess

ADJECTIVES = (
    "amber", "brave", "calm", "clever", "eager", "gentle", "happy", "lucky", "merry", "noble", "quick", "silver",
)  # fmt: skip
ANIMALS = (
    "badger", "beaver", "crane", "dolphin", "falcon", "gecko", "heron", "ibex", "jackal", "koala", "lemur", "lynx",
    "marmot", "newt", "otter", "panda", "quail", "raven", "seal", "tapir", "vole", "walrus", "yak", "zebra",
)  # fmt: skip


@dataclass(eq=False)
class Member:
    """Somebody who has joined: a random name, a seed, the guess, and the run, which trains in that visit."""

    name: str
    seed: int
    guess: float
    session: Session
    here: bool = True

    @property
    def evaluated(self) -> list[CurvePoint]:
        """The points of the curve so far."""
        return [row for row in list(self.session.rows) if row.held_out is not None]

    @property
    def done(self) -> bool:
        """Whether the run has reached its last step."""
        return self.session.state == "done" and self.session.reason == "steps"

    @property
    def final(self) -> float | None:
        """The held-out loss after the last step."""
        return self.evaluated[-1].held_out if self.done and self.evaluated else None

    @property
    def state(self) -> str:
        """What the run does, in a word or two."""
        if self.done:
            return "finished" if self.here else "finished, left"
        if self.session.state == "failed":
            return f"failed: {self.session.error.rstrip('.')}"
        if not self.session.halted and (position := self.session.in_line.position):
            return f"number {position} in the queue"
        step = self.session.rows[-1].step if self.session.rows else 0
        return f"{'stopped at' if self.session.halted else 'trains,'} step {step:,}"


@dataclass(eq=False)
class Classroom:
    """One run that everybody in a class trains, each with another seed; `in_line` gives each a place among all."""

    name: str
    run: Run
    in_line: Callable[[object], Turn] = lambda _: NO_LINE
    began: float = field(default_factory=time.monotonic)
    members: list[Member] = field(default_factory=list)
    open: bool = True

    def join(self, guess: float) -> Member:
        """Put down a guess, which stays as it is, and begin to train the next free seed."""
        if not self.open:
            raise UserError(f"The class {self.name} has ended; nobody can join it any more.")
        if not 0.0 <= guess <= HIGHEST:
            raise UserError(
                f"The guess {guess:g} is not a possible loss; write a number of {self.unit} from 0 to {HIGHEST:g}."
            )
        if len(self.members) >= MOST_MEMBERS:
            raise UserError(f"The class {self.name} is full: {MOST_MEMBERS} have joined it.")
        taken = {member.seed for member in self.members}
        seed = next(seed for seed in count() if seed not in taken)
        name = new_name({member.name for member in self.members})
        session = Session(replace(self.run, seed=seed, out=None), in_line=self.in_line(object()))
        member = Member(name, seed, abs(guess), session)  # -0 is 0
        self.members.append(member)
        session.start()
        return member

    def leave(self, member: Member) -> None:
        """A tab is closed: a finished seed stays in the result, another one is free again."""
        member.here = False
        if not member.done:
            self.members = [each for each in self.members if each is not member]
            member.session.stop(wait=0.0)

    def end(self) -> None:
        """Nobody joins any more and nothing trains on; what is there stays to be looked at."""
        self.open = False
        for member in self.members:
            member.session.stop(wait=0.0)

    @property
    def over(self) -> bool:
        """Whether it has ended or is too old."""
        return not self.open or self.old

    @property
    def old(self) -> bool:
        """Whether it began so long ago that it is forgotten."""
        return time.monotonic() > self.began + 3600 * HOURS

    @property
    def steps(self) -> int:
        return self.run.entry.recipe.steps

    @property
    def unit(self) -> str:
        """The unit of the loss."""
        return self.run.entry.unit()

    @property
    def question(self) -> str:
        """What is to be guessed before the first step."""
        return (
            f"Each of you trains {self.run.entry.name} on the corpus {self.run.corpus.name} for {self.steps:,} steps, "
            f"with a seed of your own. What will the held-out loss be at step {self.steps:,}, in {self.unit}, averaged "
            "over all seeds?"
        )

    @property
    def losses(self) -> dict[int, list[float]]:
        """The held-out losses of all seeds at each evaluated step."""
        found: dict[int, list[float]] = {}
        for row in (row for member in self.members for row in member.evaluated if row.held_out is not None):
            found.setdefault(row.step, []).append(row.held_out)
        return dict(sorted(found.items()))

    @property
    def result(self) -> float | None:
        """The answer to the question so far: the mean over the seeds that have finished."""
        finals = [member.final for member in self.members if member.final is not None]
        return fmean(finals) if finals else None

    @property
    def scores(self) -> list[tuple[Member, float | None]]:
        """The members with the distance of their guess from the result, the best guess first."""
        result = self.result
        off = [(member, None if result is None else abs(member.guess - result)) for member in self.members]
        return sorted(off, key=lambda each: (each[1] is None, each[1] or 0.0, each[0].seed))

    def csv(self) -> bytes:
        """A line for each member as the page shows it, and the curve."""
        steps = sorted({row.step for member in self.members for row in member.evaluated})
        written = io.StringIO()
        table = csv.writer(written, lineterminator="\n")
        losses = (f"held-out loss at step {step} ({self.unit})" for step in steps)
        table.writerow(["name", "seed", f"guess ({self.unit})", f"off by ({self.unit})", "run", *losses])
        for member, off in self.scores:
            curve = {row.step: row.held_out for row in member.evaluated}
            points = (f"{curve[step]:.6f}" if step in curve else "" for step in steps)
            distance = "" if off is None else f"{off:.6f}"
            table.writerow([member.name, member.seed, f"{member.guess:g}", distance, member.state, *points])
        return written.getvalue().encode()


def new_name(taken: set[str]) -> str:
    """A random name that nobody has; the chance of the system, for a name must tell nothing."""
    free = [name for a in ADJECTIVES for b in ANIMALS if (name := f"{a} {b}") not in taken]
    return SystemRandom().choice(free)


class Classrooms:
    """The classes of a server, by name, few and not for ever; `key` is what makes a teacher."""

    def __init__(self, key: str, in_line: Callable[[object], Turn] = lambda _: NO_LINE) -> None:
        self.key, self.in_line = key, in_line
        self._classes: dict[str, Classroom] = {}

    def find(self, name: str) -> Classroom | None:
        """The class of a name, if there is one."""
        self._forget()
        return self._classes.get(name.lower())

    def check(self, key: str) -> None:
        """Refuse whoever does not know the key."""
        if not hmac.compare_digest(key.strip().encode(), self.key.encode()):
            raise UserError("That is not the key; the server printed it when it was started.")

    def start(self, name: str, key: str, run: Run) -> Classroom:
        """Begin a class of a run; one of the same name must have ended."""
        self.check(key)
        self._forget()
        if not NAME.fullmatch(name):
            raise UserError(f"{name!r} is not a valid class name; use up to 30 letters, digits and hyphens.")
        there = self._classes.get(name.lower())
        if there is not None and not there.over:
            raise UserError(f"The class {name} already exists; end it, or use another name.")
        if there is None and len(self._classes) >= MOST_CLASSES:
            raise UserError(f"This server has {MOST_CLASSES} classes, the most it allows; end one of them.")
        steps = run.entry.recipe.steps
        every = max(1, steps // EVALUATIONS)
        run = replace(run, out=None, steps=steps, evaluate_every=every, sizes_every=0)
        made = self._classes[name.lower()] = Classroom(name, run, self.in_line)
        return made

    def _forget(self) -> None:
        """Drop the classes that are too old; where there is no room, those that have ended too."""
        full = len(self._classes) >= MOST_CLASSES
        for name, each in list(self._classes.items()):
            if each.old or (full and not each.open):
                each.end()
                del self._classes[name]


def preset_run(entry: str, steps: int) -> Run:
    """An entry of the zoo as it is declared, on its own text, for so many steps."""
    declared = entry_named(entry)
    declared = replace(declared, recipe=turn(declared.recipe, {"steps": steps}))
    return Run(declared, open_corpus(declared.corpus), device=pick("auto"))


class MemberStore(param.Parameterized):
    """A visit to a class: the guess that is typed, and who one is once it was put down."""

    guess = param.String("", label="my guess")
    member = param.Parameter(None, doc="Who one is; none before the guess.")
    trouble = param.String("", doc="Why the guess cannot be taken.")

    def __init__(self, classes: Classrooms, name: str, **values: Any) -> None:
        super().__init__(**values)
        self.classes, self.title = classes, name
        self._joined: Classroom | None = None

    @property
    def classroom(self) -> Classroom | None:
        """The class that one has joined, else that of the address."""
        return self._joined or self.classes.find(self.title)

    @as_trouble
    def join(self) -> None:
        """Put down the guess that is typed, and train."""
        classroom = self.classroom
        if classroom is None:
            raise UserError(f"There is no class {self.title} yet; wait until it begins.")
        if self.member is None:
            try:
                guess = float(self.guess.strip().replace(",", "."))
            except ValueError as error:
                raise UserError(f"The guess {self.guess!r} is not a number; write one such as 2.5.") from error
            self.member, self._joined = classroom.join(guess), classroom

    @property
    def busy(self) -> bool:
        """Whether a class is there, so that the visit is not idle."""
        classroom = self.classroom
        return classroom is not None and not classroom.over

    def close(self) -> None:
        """The tab is closed."""
        if self._joined is not None and self.member is not None:
            self._joined.leave(self.member)


class TeacherStore(param.Parameterized):
    """The page of a teacher: the key, what a class begins with, and the class."""

    key = param.String("", label="key")
    entry = param.String("RoBERTa", label="model")
    steps = param.Selector(default=200, objects=list(STEPS), label="steps")
    inside = param.Boolean(False, doc="Whether the key was right.")
    shown = param.Boolean(False, doc="Whether the guesses are shown.")
    trouble = param.String("", doc="Why something cannot be done.")

    def __init__(self, classes: Classrooms, name: str, quota: Quota = ALONE, **values: Any) -> None:
        super().__init__(**values)
        self.classes, self.title, self.quota = classes, name, quota

    @property
    def classroom(self) -> Classroom | None:
        return self.classes.find(self.title)

    @as_trouble
    def enter(self) -> None:
        """Show the page to who knows the key."""
        self.classes.check(self.key)
        self.inside = True

    @as_trouble
    def start(self) -> None:
        """Begin the class with the chosen model."""
        self.classes.check(self.key)
        run = preset_run(self.entry, self.steps)
        self.quota.check(run, kept=0)
        self.classes.start(self.title, self.key, run)

    @as_trouble
    def end(self) -> None:
        """End the class."""
        self.classes.check(self.key)
        if self.classroom is not None:
            self.classroom.end()

    @property
    def busy(self) -> bool:
        """Whether the class goes on, so that the visit is not idle."""
        return self.classroom is not None and not self.classroom.over

    def close(self) -> None:
        """The class goes on without the page of its teacher."""
