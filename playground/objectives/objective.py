"""An objective: a named chain of stages, with its loss in words and symbols and the place where it was published."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

from torch import Generator, Tensor

from playground.batch import Batch, Tokens, begin
from playground.catalog import year
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.knob import Knob, knobs, turn
from playground.objectives.arrange.cells import ArrangeCooccurrences, Cells
from playground.objectives.arrange.mixture_part import SampleTask
from playground.objectives.ask.label import AskCrossView, AskLabel, AskPair
from playground.objectives.ask.states import AskTeacherState
from playground.objectives.ask.words import AskCount, AskDiffused
from playground.objectives.curriculum import Curriculum, schedule
from playground.objectives.formula import Misprint, Term, written
from playground.objectives.mask_overrides import MaskOverride
from playground.objectives.propose import Proposer, ReadWithTeacher, SampleFromGenerator, SampleNegatives
from playground.objectives.see.labels import SeeLabels
from playground.objectives.stage import PlanOverrides, Stage, planned
from playground.pickling import declared_fields
from playground.slicing import gathered

GROUPS = (
    "Language models",
    "Masking",
    "Two texts",
    "Orders",
    "Writing (seq2seq)",
    "Denoising",
    "Replaced or not",
    "Word vectors",
    "Contrast and views",
    "Latent targets",
    "With knowledge",
    "In combination",
)
"""The headings under which objectives are listed, in the order in which a learner may read them."""

SURVEY_ROWS = (
    "LM",
    "MLM",
    "NSP",
    "SOP",
    "Discriminator (o/r)",
    "PLM",
    "seq2seq LM",
    "Span Mask",
    "Text Infilling",
    "Sent Shuffling",
    "TLM",
)
"""The rows of Table 2 of the survey, as it prints them."""


UNITS = AskCount | AskDiffused | AskTeacherState | SampleNegatives
"""The stages that give the unit of a loss that is not in nats."""


@dataclass(frozen=True)
class Step:
    """One stage that has acted: its plan (None for stages without chance) and the batch after it.

    `part` is 0 for the objective's own chain and counts the chains beside it from 1; -1 is the draw of a mixture.
    `rows` are the numbers of the rows that it acted on, where a mixture shares them out; the batch of the last step
    of all has every row nevertheless.
    """

    stage: Stage
    plan: Any
    batch: Batch
    part: int = 0
    rows: Tensor | None = None

    @property
    def verb(self) -> str:
        return self.stage.verb


@dataclass(frozen=True)
class Printed:
    """How the survey's Table 2 prints a row: the plan that rebuilds it, and its texts where it has its own."""

    plan: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    pair: str = ""
    other: str = ""


@dataclass(frozen=True)
class Objective:
    """A chain of stages, and the chains beside it that are trained in the same step, each with a weight.

    A mixture has `parts` instead: its only stage draws the part that a batch, or each row, is for (see `mixture.py`).
    `group` is one of `GROUPS`. `row` is its row in the survey's Table 2 and `printed` what rebuilds that row. `needs`
    names what a text must have (see `reading.NEEDS`). `switch` is a question and the knob whose choices answer it.
    `versus` says how it differs from others, by their names. `mask_overrides` are the rules that were set by hand and
    that its stages obey (see `by_hand.py`). By a `curriculum` the shares of its parts, and some knobs, change in
    training (see `curriculum.py`).
    """

    name: str
    stages: tuple[Stage, ...]
    idea: str
    loss: str
    terms: tuple[Term, ...]
    source: str
    aliases: tuple[str, ...] = ()
    group: str = ""
    row: str = ""
    printed: Printed = field(default_factory=Printed)
    needs: tuple[str, ...] = ()
    auxiliary: tuple[tuple[float, "Objective"], ...] = ()
    parts: tuple["Objective", ...] = ()
    misprint: Misprint | None = None
    switch: tuple[str, str] = ("", "")
    versus: Mapping[str, str] = field(default_factory=dict)
    mask_overrides: tuple[MaskOverride, ...] = ()
    curriculum: Curriculum = ()

    __getstate__ = declared_fields

    @property
    def order(self) -> tuple[int, int, int]:
        """Its place in lists: the rows of the survey's table first, then by group and by the year of the source."""
        row = SURVEY_ROWS.index(self.row) if self.row else len(SURVEY_ROWS)
        return (row, GROUPS.index(self.group) if self.group else 0, year(self.source))

    @property
    def formula(self) -> str:
        """The loss in LaTeX, under the knobs as they stand."""
        return written(self.current_terms)

    @property
    def current_terms(self) -> tuple[Term, ...]:
        """The terms of the loss under the knobs as they stand, each by those of the chain that asks."""
        return tuple(term.now(self._asking(term.target)._values) for term in self.terms)

    def _asking(self, target: str) -> "Objective":
        """The chain that asks a target."""
        return {term.target: chain for chain in self.chains[1:] for term in chain.terms}.get(target, self)

    def unit(self, target: str = "") -> str:
        """The unit of the loss of a target, by default of the first one, under the knobs as they stand."""
        stages = self._asking(target or self.target_names[0]).stages
        return next((s.unit for s in stages if isinstance(s, UNITS)), "nats")

    @property
    def _values(self) -> dict[str, Any]:
        """The knobs of the own chain by their bare names."""
        return {k.name: _now(stage, k) for stage in self.stages for k in knobs(stage)}

    def steps(self, tokens: Tokens, rng: Generator, overrides: PlanOverrides | None = None) -> tuple[Step, ...]:
        """The batch after every stage; the last one is what trains. `overrides` overrides the plans."""
        self._refuse_unknown(overrides or {})

        def act(chain: "Objective", number: int, batch: Batch) -> tuple[Any, Batch]:
            return _act(chain.stages[number], batch, rng, chain._meant_for(number, overrides or {}))

        return self._walk(tokens, act)

    def batch(self, tokens: Tokens, rng: Generator) -> Batch:
        """The batch that trains, of a batch of texts."""
        return self.steps(tokens, rng)[-1].batch

    @property
    def opens(self) -> bool:
        """Whether its batches have a beginning that no network has a part in: all, or what is before a generator."""
        return not self.proposes or not (self.auxiliary or self.parts)

    @property
    def _opening(self) -> int:
        return next(number for number, stage in enumerate(self.stages) if isinstance(stage, SampleFromGenerator))

    def opened(self, tokens: Tokens, rng: Generator) -> Batch:
        """The batch of some texts up to where a generator proposes words."""
        return self._acted(begin(tokens), self.stages[: self._opening], rng)

    def ended(self, batch: Batch, rng: Generator) -> Batch:
        """The whole batch from what was `opened`, with the same source of chance."""
        return self._acted(batch, self.stages[self._opening :], rng)

    def _acted(self, batch: Batch, stages: tuple[Stage, ...], rng: Generator) -> Batch:
        for stage in stages:
            batch = _act(stage, batch, rng, {})[1]
        return batch

    def specimens(self, tokens: Tokens, rng: Generator) -> tuple[Batch, ...]:
        """One batch of everything that the objective may ask: of each part of a mixture, else just one."""
        if not self.parts:
            return (self.batch(tokens, rng),)
        return tuple(batch for part in self.parts for batch in part.specimens(tokens, rng))

    def replay(self, tokens: Tokens, plans: tuple[Any, ...]) -> tuple[Step, ...]:
        """The same steps again from saved plans, without any chance."""
        left = list(plans)

        def act(chain: "Objective", number: int, batch: Batch) -> tuple[Any, Batch]:
            stage, plan = chain.stages[number], left.pop(0)
            return plan, stage.build(batch) if plan is None else stage.build(batch, plan)

        steps = self._walk(tokens, act)
        if left:
            raise ValueError(f"{len(left)} plans too many for {self.name}")
        return steps

    def _walk(self, tokens: Tokens, act: "Act") -> tuple[Step, ...]:
        """The chains beside, one after the other, then the own chain; its last batch holds the others' last ones."""
        taken, auxiliary = [], []
        for part, (weight, chain) in enumerate(self.auxiliary, 1):
            steps = chain._walk(tokens, act)
            taken += [replace(step, part=part) for step in steps]
            auxiliary.append(weighed(steps[-1].batch, weight))
        *own, last = self._own(tokens, act)
        whole = replace(last.batch, auxiliary=(*auxiliary, *last.batch.auxiliary))
        return (*taken, *own, replace(last, batch=whole))

    def _own(self, tokens: Tokens, act: "Act") -> tuple[Step, ...]:
        """The steps of the own chain; in a mixture, the draw of a part and the steps of that part.

        Where rows are shared out, each part acts on its own rows, and the last batch has the rows of all.
        """
        batch, taken = begin(tokens), []
        for number, stage in enumerate(self.stages):
            plan, batch = act(self, number, batch)
            taken.append(Step(stage, plan, batch, part=-1 if self.parts else 0))
        if not self.parts:
            return tuple(taken)
        plan = taken[-1].plan
        groups = plan.groups if self.mixes_rows else ()
        if len(groups) <= 1:
            return (*taken, *self.parts[plan.index]._walk(tokens, act))
        walks = [self.parts[number]._walk(pick(tokens, rows), act) for number, rows in groups]
        for walk, (_, rows) in zip(walks, groups, strict=True):
            taken += [replace(step, rows=rows) for step in walk]
        taken[-1] = replace(taken[-1], batch=gathered([walk[-1].batch for walk in walks], [r for _, r in groups]))
        return tuple(taken)

    @property
    def mixes_rows(self) -> bool:
        """Whether it is a mixture whose parts share the rows of every batch."""
        return any(isinstance(stage, SampleTask) and stage.by_row for stage in self.stages)

    @property
    def target_names(self) -> tuple[str, ...]:
        """The names of what it asks, in the order in which losses are reported: what stands beside comes first."""
        auxiliary, own = (
            [q for _, chain in self.auxiliary for q in chain.target_names],
            [term.target for term in self.terms],
        )
        if any(isinstance(stage, AskCrossView) for stage in self.stages):  # the views stand beside the whole text
            own = [*own[1:], *own[:1]]
        return tuple(dict.fromkeys((*auxiliary, *own)))

    @property
    def chains(self) -> tuple["Objective", ...]:
        """The own chain first, then the parts of a mixture, then those beside it."""
        others = (*self.parts, *(chain for _, chain in self.auxiliary))
        return (self, *(c for chain in others for c in chain.chains))

    @property
    def plan_keys(self) -> tuple[str, ...]:
        """The plan keys that a person may set for this objective."""
        stages = (stage for chain in self.chains for stage in chain.stages)
        keys = (key for stage in stages if planned(stage) for key in stage.keys)
        return tuple(dict.fromkeys(keys))

    @cached_property
    def knobs(self) -> dict[str, Knob]:
        """The knobs of all stages by name; a name that stages of one chain share is written `Stage.name`.

        Those that a curriculum moves are not among them.
        """
        stretches = [stretch for chain in self.chains for stretch in chain.curriculum]
        moving = {name.rpartition(".")[2] for stretch in stretches for name, *_ in stretch.moves}
        stages = [stage for chain in self.chains for stage in chain.stages]
        every = [(stage, k) for stage in stages for k in knobs(stage) if k.name not in moving]
        return {
            k.name if self._belongs_to_one(k.name) else f"{type(stage).__name__}.{k.name}": replace(
                k, default=_now(stage, k)
            )
            for stage, k in every
        }

    def _belongs_to_one(self, name: str) -> bool:
        """Whether one kind of stage has a knob of that name, and no chain has two of them."""
        owners = [[type(s) for s in chain.stages if name in {k.name for k in knobs(s)}] for chain in self.chains]
        return len({kind for kinds in owners for kind in kinds}) == 1 and max(map(len, owners)) == 1

    def turn(self, settings: Mapping[str, Any]) -> "Objective":
        """The same objective with some knobs turned; an unknown knob is refused with those there are."""
        for name in settings:
            if name not in self.knobs:
                known = ", ".join(self.knobs) or "none"
                raise UserError(f"{self.name} has no knob {name!r}; its knobs are: {known}.")
        return self.map_stages(lambda stage: turn(stage, self._of(stage, settings)))

    def map_stages(self, change: Callable[[Stage], Stage]) -> "Objective":
        """The same with every stage of every chain changed."""
        auxiliary = tuple((weight, chain.map_stages(change)) for weight, chain in self.auxiliary)
        parts = tuple(part.map_stages(change) for part in self.parts)
        return replace(self, stages=tuple(change(stage) for stage in self.stages), auxiliary=auxiliary, parts=parts)

    def _of(self, stage: Stage, settings: Mapping[str, Any]) -> dict[str, Any]:
        mine, kind = {k.name for k in knobs(stage)}, type(stage).__name__
        split = {name: re.fullmatch(rf"(?:{kind}\.)?(\w+)", name) for name in settings}
        return {m[1]: settings[name] for name, m in split.items() if m and m[1] in mine}

    def proposing(self, proposer: Proposer) -> "Objective":
        """The same objective with a network behind every propose stage."""
        return self.map_stages(lambda s: replace(s, proposer=proposer) if isinstance(s, SampleFromGenerator) else s)

    def knowing(self, names: Mapping[str, tuple[str, ...]]) -> "Objective":
        """The same objective with a corpus' own names of the labels it asks for or reads (`Corpus.label_names`)."""

        def named(stage: Stage) -> Stage:
            if isinstance(stage, AskLabel | AskPair | AskCrossView | SeeLabels) and stage.label in names:
                return replace(stage, classes=tuple(names[stage.label]))
            return stage

        return self.map_stages(named)

    def at_step(self, step: int, steps: int) -> "Objective":
        """The same objective in a step (0-based) of a run of so many steps."""
        if not self.changes:
            return self
        shares, values = schedule(self.curriculum, steps).at(step) if self.curriculum else ((), {})
        now = self.map_stages(lambda stage: turn(stage, self._of(stage, values)))
        return replace(
            now,
            stages=tuple(
                replace(stage, step=step, shares=shares or stage.shares) if isinstance(stage, SampleTask) else stage
                for stage in now.stages
            ),
            parts=tuple(part.at_step(step, steps) for part in now.parts),
            auxiliary=tuple((weight, chain.at_step(step, steps)) for weight, chain in now.auxiliary),
        )

    @cached_property
    def changes(self) -> bool:
        """Whether what it trains depends on the number of the step: by turns of its parts, or by a curriculum."""
        return any(
            chain.curriculum or any(isinstance(stage, SampleTask) and stage.alternating for stage in chain.stages)
            for chain in self.chains
        )

    def counting(self, table: Cells) -> "Objective":
        """The same objective on the co-occurrences of a whole corpus."""
        return self.map_stages(lambda s: replace(s, table=table) if isinstance(s, ArrangeCooccurrences) else s)

    @property
    def counts(self) -> bool:
        """Whether it wants the co-occurrences of a whole corpus."""
        return any(
            isinstance(s, ArrangeCooccurrences) and s.table is None for chain in self.chains for s in chain.stages
        )

    @cached_property
    def teacher(self) -> ReadWithTeacher | None:
        """The stage with the decay of its teacher, where a slow copy of the model takes part."""
        stages = (stage for chain in self.chains for stage in chain.stages)
        return next((stage for stage in stages if isinstance(stage, ReadWithTeacher)), None)

    @property
    def proposes(self) -> bool:
        """Whether a generator takes part."""
        return any(isinstance(s, SampleFromGenerator) for chain in self.chains for s in chain.stages)

    def _meant_for(self, number: int, overrides: PlanOverrides) -> PlanOverrides:
        """The wishes without those that a later stage knows too: the words to propose are not for the stage before."""
        if not overrides:
            return overrides
        later = {key for stage in self.stages[number + 1 :] if planned(stage) for key in stage.keys}
        return {key: value for key, value in overrides.items() if key not in later}

    def _refuse_unknown(self, overrides: PlanOverrides) -> None:
        for key in overrides:
            if key not in self.plan_keys:
                known = ", ".join(self.plan_keys) or "none, since nothing in it is random"
                raise UserError(f"{self.name} has no plan key {key!r}; its keys are: {known}.")


Act = Callable[[Objective, int, Batch], tuple[Any, Batch]]
"""Takes stage `number` of a chain and the batch before it; gives the plan and the batch after it."""


def acting_on(steps: tuple[Step, ...], row: int) -> list[tuple[Step, int]]:
    """The steps that acted on a row of a batch, each with the row's number among those that it acted on."""
    listed = {id(step.rows): step.rows.tolist() for step in steps if step.rows is not None}
    positions = ((step, [row] if step.rows is None else listed[id(step.rows)]) for step in steps)
    return [(step, row if step.rows is None else rows.index(row)) for step, rows in positions if row in rows]


def weighed(batch: Batch, weight: float) -> Batch:
    """The same batch with all its targets weighed once more."""
    targets = tuple(replace(target, weight=target.weight * weight) for target in batch.targets)
    return replace(batch, targets=targets, auxiliary=tuple(weighed(e, weight) for e in batch.auxiliary))


def describe_plan(steps: tuple[Step, ...], row: int = 0) -> dict[str, Any]:
    """The plans of all stages in a person's words, ready to be edited and given back as wishes."""
    found: dict[str, Any] = {}
    for part in sorted({step.part for step in steps}, reverse=True):
        found |= _tell_chain([step for step in steps if step.part == part], row)
    return found


def _tell_chain(steps: list[Step], row: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    batches = [begin(steps[0].batch.tokens), *(s.batch for s in steps)]
    for before, step, after in zip(batches, steps, batches[1:], strict=False):
        if planned(step.stage):
            seen = before if step.verb != "change" else after
            found |= step.stage.describe_plan(seen, step.plan, row)
    return found


def _act(stage: Stage, batch: Batch, rng: Generator, overrides: PlanOverrides) -> tuple[Any, Batch]:
    if not planned(stage):
        return None, stage.build(batch)
    plan = stage.override_plan(batch, stage.plan(batch, rng), overrides)
    return plan, stage.build(batch, plan)


def _now(stage: Stage, k: Knob) -> Any:
    assert is_dataclass(stage)
    return next(getattr(stage, f.name) for f in fields(stage) if f.name == k.name)
