"""A claim of a paper as a card: what it says, what would be seen, what is run, and the rule that decides."""

import hashlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, Any

from playground.catalog import choose, find
from playground.claims.rule import Rule
from playground.corpora.sources import MOST
from playground.errors import UserError
from playground.finetuning.run.record import identity
from playground.knob import Knob, as_written, knob, knobs, turn
from playground.parsing import LIMITS

if TYPE_CHECKING:
    from playground.claims.lab import Lab

CARDS = "playground.claims.cards"
"""The package of the cards; a sub-package for each group."""

FIGURES = "playground.claims.figures"
"""What several cards compute."""

GROUPS = (
    "Static and contextual", "Direction and architecture", "Masked language models", "Permutation language models",
    "Sequence to sequence", "Sentence pairs and contrast", "What pre-training gives", "Adapting", "Languages",
    "Compression", "Inspection",
)  # fmt: skip
"""The groups of the claims, as in the inventory of the surveys."""


@dataclass(frozen=True)
class Arm:
    """One side of a claim: what is trained, what is done with it, and which of its figures is read.

    Empty fields are left out: without a task nothing is fine-tuned, without an instrument none is asked.
    """

    entry: str = knob("MLM", why="An entry of the zoo, an objective, or a weighted sum of objectives.")
    settings: str = knob("", why="Knobs of the model, of its recipe or of its objective: mask_ratio=0.3, layers=4.")
    corpus: str = knob("", why="The generated corpus; by default the entry's own.")
    tokens: int = knob(0, 0, MOST, unit="tokens", why="The size of the corpus; 0 is its own size.")
    steps: int = knob(300, 0, LIMITS["steps"], unit="steps", why="Steps of pre-training; 0 is a random start.")
    one_model: bool = knob(False, why="All seeds share one pre-trained model; by default each has its own.")
    task: str = knob("", why="The task of fine-tuning.")
    strategy: str = knob("full", why="How it is fine-tuned.")
    pipeline: str = knob("", why="How the fine-tuned model is compressed.")
    train_size: int = knob(64, 2, LIMITS["texts"], unit="texts", why="Labelled texts.")
    tuning_steps: int = knob(80, 1, LIMITS["steps"], unit="steps", why="Steps of fine-tuning.")
    instrument: str = knob("", why="What looks into the model, with its knobs: probing classifier(task=sense).")
    figure: str = knob("", why="The figure that is read.")

    @property
    def shown(self) -> dict[str, Any]:
        """The fields that count, by name: none of fine-tuning without a task, and none that is empty."""
        tuning = () if self.task else ("strategy", "train_size", "tuning_steps")
        return {name: v for name, v in asdict(self).items() if v not in ("", 0, False) and name not in tuning}


@dataclass(frozen=True)
class Claim:
    """One claim of a paper or of a survey.

    `prediction` is what would be seen if it held, `otherwise` what if not, both written before the run. `common` is
    what all `arms` share; each arm sets the fields in which it differs. `rules` decide. `compute` takes the place of
    fine-tuning and instruments where the figure needs a function of its own. The arms differ in one field; where that
    is the entry, `also` names every part of the network or of the recipe that differs with it. `published` is the
    paper's figure, `scale` what tiny models can and cannot say. Who changes the rule after a verdict adds a line to
    `history` that says why. `name` follows from the card's file, `group` from its folder, and `statement`, what is
    claimed in our words, is the docstring of its module.
    """

    title: str
    source: str
    prediction: str
    otherwise: str
    arms: Mapping[str, Mapping[str, Any]]
    rules: tuple[Rule, ...]
    scale: str
    common: Arm = Arm()
    compute: Callable[["Lab", Arm, int], float] | None = None
    unit: str = ""
    published: str = ""
    seeds: int = 5
    also: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    statement: str = ""
    name: str = ""
    group: str = ""

    @property
    def idea(self) -> str:
        return f"{self.title} {self.statement}"

    def in_module(self, module: str) -> "Claim":
        """The claim with the name, the group and the statement of the module that holds it."""
        *_, folder, file = module.split(".")
        group = next(each for each in GROUPS if re.sub(r"\W", "_", each.lower()) == folder)
        statement = " ".join((sys.modules[module].__doc__ or "").split())
        return replace(self, name="K" + file[1:], group=group, statement=statement)

    @property
    def order(self) -> tuple[int, str]:
        return GROUPS.index(self.group), self.name

    @property
    def sides(self) -> dict[str, Arm]:
        """The arms with everything that is set for them."""
        return {name: replace(self.common, **own) for name, own in self.arms.items()}

    @cached_property
    def differs(self) -> tuple[str, ...]:
        """The fields in which the arms differ."""
        return tuple(f.name for f in fields(Arm) if len({getattr(arm, f.name) for arm in self.sides.values()}) > 1)

    @cached_property
    def computes(self) -> str:
        """The source and the constants of what computes the figure, without spaces; empty where nothing is written."""
        return "" if self.compute is None else "".join("".join(_sources(self.compute, {})).split())

    @cached_property
    def figures_hash(self) -> str:
        """A hash of all on which the figures of a seed depend, but the seed and the code of training."""
        sides = {name: asdict(arm) for name, arm in self.sides.items()}
        return hashlib.sha256(json.dumps([self.name, sides, self.computes], sort_keys=True).encode()).hexdigest()

    @property
    def fingerprint(self) -> str:
        """A hash of all that decides: the arms, the rules, the seeds, and what computes the figure."""
        sides = {name: asdict(arm) for name, arm in self.sides.items()}
        decides = [
            sides,
            [identity(rule) for rule in self.rules],
            self.seeds,
            self.compute and self.compute.__qualname__,
        ]
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def knobs(self) -> dict[str, Knob]:
        """What can be turned, by name: fields that count for all arms, those in which they differ for each, seeds."""
        known, counted = {k.name: k for k in knobs(Arm)}, {"settings", *self.common.shown} - {"figure", "one_model"}
        shared = {name: known[name] for name in known if name in counted and name not in self.differs}
        own = {f"{arm}.{name}": known[name] for arm in self.arms for name in self.differs}
        return shared | own | {k.name: k for k in knobs(_Seeds)}

    def value(self, name: str) -> Any:
        """What a knob is turned to."""
        arm, _, field_name = name.rpartition(".")
        if name == "seeds":
            return self.seeds
        return getattr(self.sides[arm] if arm else self.common, field_name)

    def turned(self, settings: Mapping[str, Any]) -> "Claim":
        """The claim with knobs turned: `steps` of all arms, `MLM.steps` of one, or `seeds`."""
        claim, arms = self, {name: dict(own) for name, own in self.arms.items()}
        for written, value in settings.items():
            arm, _, name = written.rpartition(".")
            if arm and arm not in arms:
                raise UserError(f"{written} names the arm {arm!r}; the arms of {self.name} are {', '.join(arms)}.")
            if written == "seeds":
                claim = replace(claim, seeds=turn(_Seeds(), {"seeds": value}).seeds)
            elif arm:
                arms[arm][name] = getattr(turn(self.sides[arm], {name: value}), name)
            elif name in self.differs:
                own = ", ".join(f"{each}.{name}={as_written(getattr(side, name))}" for each, side in self.sides.items())
                raise UserError(
                    f"The arms of {self.name} differ in {name}: {own}. Set it for one arm, as written here."
                )
            else:
                claim = replace(claim, common=turn(claim.common, {name: value}))
        return replace(claim, arms=arms)


def _sources(function: Any, seen: dict[Any, str]) -> Iterable[str]:
    """The source of a function and of those of this package that it calls, and the constants that they read."""
    if function not in seen:
        read = {name: function.__globals__.get(name) for name in _names(function.__code__)}
        constants = {name: value for name, value in read.items() if isinstance(value, int | float | str | tuple | dict)}
        seen[function] = f"{inspect.getsource(function)}{constants or ''}"
        for each in read.values():
            if inspect.isfunction(each) and each.__module__.startswith((CARDS, FIGURES)):
                _sources(each, seen)
    return seen.values()


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function reads, also in its comprehensions and lambdas."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


@dataclass(frozen=True)
class _Seeds:
    seeds: int = knob(5, 1, LIMITS["seeds"], unit="seeds")


def claims() -> dict[str, Claim]:
    """All claims by name, group by group."""
    return find(CARDS, Claim)


def claim_named(name: str) -> Claim:
    """A claim by its name; else a refusal that names the nearest."""
    return choose(CARDS, Claim, name)
