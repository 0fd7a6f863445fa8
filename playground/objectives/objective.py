"""An objective: a named chain of stages, with its loss in words and symbols and the place where it was published."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from torch import Generator

from playground.catalog import choose, find
from playground.example import Example, Tokens, begin
from playground.knob import Knob, knobs, turn
from playground.objectives.propose import Proposer, ProposeWords
from playground.objectives.stage import Planned, Stage, Wishes, verb
from playground.refusal import Refusal


@dataclass(frozen=True)
class Step:
    """One stage that has acted: its plan (None for stages without chance) and the example after it."""

    stage: Stage
    plan: Any
    example: Example

    @property
    def verb(self) -> str:
        return verb(self.stage)


@dataclass(frozen=True)
class Objective:
    """A chain of stages. `row` is its row in the survey's Table 2 and `printed` the plan that rebuilds that row.

    `needs` says what a text must have.
    """

    name: str
    stages: tuple[Stage, ...]
    idea: str
    loss: str
    formula: str
    source: str
    aliases: tuple[str, ...] = ()
    row: str = ""
    printed: Mapping[str, Any] = field(default_factory=dict)
    needs: str = ""
    rank: int = 0

    def steps(self, tokens: Tokens, rng: Generator, wanted: Wishes | None = None) -> tuple[Step, ...]:
        """The example after every stage; the last one is the training example. `wanted` bends the plans."""
        self._refuse_unknown(wanted or {})
        example, taken = begin(tokens), []
        for number, stage in enumerate(self.stages):
            plan, example = _act(stage, example, rng, self._meant_for(number, wanted or {}))
            taken.append(Step(stage, plan, example))
        return tuple(taken)

    def example(self, tokens: Tokens, rng: Generator) -> Example:
        """The training example of a batch."""
        return self.steps(tokens, rng)[-1].example

    def replay(self, tokens: Tokens, plans: tuple[Any, ...]) -> tuple[Step, ...]:
        """The same steps again from saved plans, without any chance."""
        example, taken = begin(tokens), []
        for stage, plan in zip(self.stages, plans, strict=True):
            example = stage.build(example) if plan is None else stage.build(example, plan)
            taken.append(Step(stage, plan, example))
        return tuple(taken)

    @property
    def plan_keys(self) -> tuple[str, ...]:
        """The plan keys that a person may set for this objective."""
        keys = (key for stage in self.stages if isinstance(stage, Planned) for key in stage.keys)
        return tuple(dict.fromkeys(keys))

    @property
    def knobs(self) -> dict[str, Knob]:
        """The knobs of all stages by name; a name that two stages share is written `Stage.name`."""
        every = [(stage, k) for stage in self.stages for k in knobs(stage)]
        names = [k.name for _, k in every]
        return {
            k.name if names.count(k.name) == 1 else f"{type(stage).__name__}.{k.name}": replace(
                k, default=_now(stage, k)
            )
            for stage, k in every
        }

    def turn(self, settings: Mapping[str, Any]) -> "Objective":
        """The same objective with some knobs turned; an unknown knob is refused with those there are."""
        for name in settings:
            if name not in self.knobs:
                known = ", ".join(self.knobs) or "none"
                raise Refusal(f"{self.name} has no knob {name!r}; its knobs are: {known}.")
        return replace(self, stages=tuple(turn(stage, self._of(stage, settings)) for stage in self.stages))

    def _of(self, stage: Stage, settings: Mapping[str, Any]) -> dict[str, Any]:
        mine, kind = {k.name for k in knobs(stage)}, type(stage).__name__
        split = {name: re.fullmatch(rf"(?:{kind}\.)?(\w+)", name) for name in settings}
        return {m[1]: settings[name] for name, m in split.items() if m and m[1] in mine}

    def proposing(self, proposer: Proposer) -> "Objective":
        """The same objective with a network behind every propose stage."""
        given = (replace(s, proposer=proposer) if isinstance(s, ProposeWords) else s for s in self.stages)
        return replace(self, stages=tuple(given))

    @property
    def proposes(self) -> bool:
        """Whether a generator takes part."""
        return any(isinstance(s, ProposeWords) for s in self.stages)

    def _meant_for(self, number: int, wanted: Wishes) -> Wishes:
        """The wishes without those that a later stage knows too: the words to propose are not for the stage before."""
        later = {key for stage in self.stages[number + 1 :] if isinstance(stage, Planned) for key in stage.keys}
        return {key: value for key, value in wanted.items() if key not in later}

    def _refuse_unknown(self, wanted: Wishes) -> None:
        for key in wanted:
            if key not in self.plan_keys:
                known = ", ".join(self.plan_keys) or "none, since nothing in it is left to chance"
                raise Refusal(f"{self.name} has no plan key {key!r}; its keys are: {known}.")


def tell(steps: tuple[Step, ...], row: int = 0) -> dict[str, Any]:
    """The plans of all stages in a person's words, ready to be edited and given back as wishes."""
    told: dict[str, Any] = {}
    examples = [begin(steps[0].example.tokens), *(s.example for s in steps)]
    for before, step, after in zip(examples, steps, examples[1:], strict=False):
        if isinstance(step.stage, Planned):
            seen = before if step.verb != "change" else after
            told |= step.stage.tell(seen, step.plan, row)
    return told


def _act(stage: Stage, example: Example, rng: Generator, wanted: Wishes) -> tuple[Any, Example]:
    if not isinstance(stage, Planned):
        return None, stage.build(example)
    plan = stage.revise(example, stage.plan(example, rng), wanted)
    return plan, stage.build(example, plan)


def _now(stage: Stage, k: Knob) -> Any:
    assert is_dataclass(stage)
    return next(getattr(stage, f.name) for f in fields(stage) if f.name == k.name)


def objectives() -> dict[str, Objective]:
    """Every objective of the catalogue by name, in the order of the survey's Table 2."""
    return find("playground.objectives.family", Objective)


def find_objective(name: str) -> Objective:
    """One objective by its name, its alias or its row in the survey."""
    return choose("playground.objectives.family", Objective, name)
