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
from playground.objectives.arrange.part import SampleTask
from playground.objectives.ask.judged import Judged, OverrideLossMask
from playground.objectives.ask.label import AskCrossView, AskLabel, AskPair
from playground.objectives.ask.words import AskCount
from playground.objectives.choose.order import ChooseOrder, FixedOrder
from playground.objectives.formula import Misprint, Term, written
from playground.objectives.mask_overrides import Rule, meant_for, read
from playground.objectives.propose import Proposer, SampleFromGenerator, SampleNegatives
from playground.objectives.see.labels import SeeLabels
from playground.objectives.see.painted import OverrideMask, Painted
from playground.objectives.stage import Stage, Wishes, planned
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

BY_HAND = " painted "
"""Stands between the name of an objective and what a person painted over its own mask and its own grading."""

CHOSEN_BY_HAND: Mapping[type[Rule], str] = {Painted: "a mask", Judged: "answers", FixedOrder: "an order"}
"""What a person may choose by hand, and what it is called."""


@dataclass(frozen=True)
class Step:
    """One stage that has acted: its plan (None for stages without chance) and the example after it.

    `part` is 0 for the objective's own chain and counts the chains beside it from 1; -1 is the draw of a mixture.
    `rows` are the numbers of the rows that it acted on, where a mixture shares them out; the example of the last step
    of all has every row nevertheless.
    """

    stage: Stage
    plan: Any
    example: Batch
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
    `versus` says how it differs from others, by their names.
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
    beside: tuple[tuple[float, "Objective"], ...] = ()
    parts: tuple["Objective", ...] = ()
    misprint: Misprint | None = None
    switch: tuple[str, str] = ("", "")
    versus: Mapping[str, str] = field(default_factory=dict)

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
        return tuple(term.now(self._asking(term.question)._values) for term in self.terms)

    def _asking(self, question: str) -> "Objective":
        """The chain that asks a question."""
        return {term.question: chain for chain in self.chains[1:] for term in chain.terms}.get(question, self)

    def unit(self, question: str = "") -> str:
        """The unit of the loss of a question, by default of the first one, under the knobs as they stand."""
        stages = self._asking(question or self.questions[0]).stages
        return next((stage.unit for stage in stages if isinstance(stage, AskCount | SampleNegatives)), "nats")

    @property
    def _values(self) -> dict[str, Any]:
        """The knobs of the own chain by their bare names."""
        return {k.name: _now(stage, k) for stage in self.stages for k in knobs(stage)}

    def steps(self, tokens: Tokens, rng: Generator, wanted: Wishes | None = None) -> tuple[Step, ...]:
        """The example after every stage; the last one is the training example. `wanted` bends the plans."""
        self._refuse_unknown(wanted or {})

        def act(chain: "Objective", number: int, example: Batch) -> tuple[Any, Batch]:
            return _act(chain.stages[number], example, rng, chain._meant_for(number, wanted or {}))

        return self._walk(tokens, act)

    def example(self, tokens: Tokens, rng: Generator) -> Batch:
        """The training example of a batch."""
        return self.steps(tokens, rng)[-1].example

    @property
    def opens(self) -> bool:
        """Whether its examples have a beginning that no network has a part in: all, or what is before a generator."""
        return not self.proposes or not (self.beside or self.parts)

    @property
    def _opening(self) -> int:
        return next(number for number, stage in enumerate(self.stages) if isinstance(stage, SampleFromGenerator))

    def opened(self, tokens: Tokens, rng: Generator) -> Batch:
        """The example of a batch up to where a generator proposes words."""
        return self._acted(begin(tokens), self.stages[: self._opening], rng)

    def ended(self, example: Batch, rng: Generator) -> Batch:
        """The training example from what was `opened`, with the same source of chance."""
        return self._acted(example, self.stages[self._opening :], rng)

    def _acted(self, example: Batch, stages: tuple[Stage, ...], rng: Generator) -> Batch:
        for stage in stages:
            example = _act(stage, example, rng, {})[1]
        return example

    def specimens(self, tokens: Tokens, rng: Generator) -> tuple[Batch, ...]:
        """One example of everything that the objective may ask: of each part of a mixture, else just one."""
        if not self.parts:
            return (self.example(tokens, rng),)
        return tuple(example for part in self.parts for example in part.specimens(tokens, rng))

    def replay(self, tokens: Tokens, plans: tuple[Any, ...]) -> tuple[Step, ...]:
        """The same steps again from saved plans, without any chance."""
        left = list(plans)

        def act(chain: "Objective", number: int, example: Batch) -> tuple[Any, Batch]:
            stage, plan = chain.stages[number], left.pop(0)
            return plan, stage.build(example) if plan is None else stage.build(example, plan)

        steps = self._walk(tokens, act)
        if left:
            raise ValueError(f"{len(left)} plans too many for {self.name}")
        return steps

    def _walk(self, tokens: Tokens, act: "Act") -> tuple[Step, ...]:
        """The chains beside, one after the other, then the own chain; its last example holds the others' last ones."""
        taken, beside = [], []
        for part, (weight, chain) in enumerate(self.beside, 1):
            steps = chain._walk(tokens, act)
            taken += [replace(step, part=part) for step in steps]
            beside.append(weighed(steps[-1].example, weight))
        *own, last = self._own(tokens, act)
        whole = replace(last.example, auxiliary=(*beside, *last.example.auxiliary))
        return (*taken, *own, replace(last, example=whole))

    def _own(self, tokens: Tokens, act: "Act") -> tuple[Step, ...]:
        """The steps of the own chain; in a mixture, the draw of a part and the steps of that part.

        Where rows are shared out, each part acts on its own rows, and the last example has the rows of all.
        """
        example, taken = begin(tokens), []
        for number, stage in enumerate(self.stages):
            plan, example = act(self, number, example)
            taken.append(Step(stage, plan, example, part=-1 if self.parts else 0))
        if not self.parts:
            return tuple(taken)
        plan = taken[-1].plan
        groups = plan.groups if self.mixes_rows else ()
        if len(groups) <= 1:
            return (*taken, *self.parts[plan.index]._walk(tokens, act))
        walks = [self.parts[number]._walk(pick(tokens, rows), act) for number, rows in groups]
        for walk, (_, rows) in zip(walks, groups, strict=True):
            taken += [replace(step, rows=rows) for step in walk]
        taken[-1] = replace(taken[-1], example=gathered([walk[-1].example for walk in walks], [r for _, r in groups]))
        return tuple(taken)

    @property
    def mixes_rows(self) -> bool:
        """Whether it is a mixture whose parts share the rows of every batch."""
        return any(isinstance(stage, SampleTask) and stage.by_row for stage in self.stages)

    @property
    def questions(self) -> tuple[str, ...]:
        """The names of what it asks, in the order in which losses are reported: what stands beside comes first."""
        beside, own = [q for _, chain in self.beside for q in chain.questions], [term.question for term in self.terms]
        if any(isinstance(stage, AskCrossView) for stage in self.stages):  # the views stand beside the whole text
            own = [*own[1:], *own[:1]]
        return tuple(dict.fromkeys((*beside, *own)))

    @property
    def chains(self) -> tuple["Objective", ...]:
        """The own chain first, then the parts of a mixture, then those beside it."""
        others = (*self.parts, *(chain for _, chain in self.beside))
        return (self, *(c for chain in others for c in chain.chains))

    @property
    def plan_keys(self) -> tuple[str, ...]:
        """The plan keys that a person may set for this objective."""
        stages = (stage for chain in self.chains for stage in chain.stages)
        keys = (key for stage in stages if planned(stage) for key in stage.keys)
        return tuple(dict.fromkeys(keys))

    @cached_property
    def knobs(self) -> dict[str, Knob]:
        """The knobs of all stages by name; a name that stages of one chain share is written `Stage.name`."""
        every = [(stage, k) for chain in self.chains for stage in chain.stages for k in knobs(stage)]
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
        return self._each(lambda stage: turn(stage, self._of(stage, settings)))

    def _each(self, change: Callable[[Stage], Stage]) -> "Objective":
        """The same with every stage of every chain changed."""
        beside = tuple((weight, chain._each(change)) for weight, chain in self.beside)
        parts = tuple(part._each(change) for part in self.parts)
        return replace(self, stages=tuple(change(stage) for stage in self.stages), beside=beside, parts=parts)

    def _of(self, stage: Stage, settings: Mapping[str, Any]) -> dict[str, Any]:
        mine, kind = {k.name for k in knobs(stage)}, type(stage).__name__
        split = {name: re.fullmatch(rf"(?:{kind}\.)?(\w+)", name) for name in settings}
        return {m[1]: settings[name] for name, m in split.items() if m and m[1] in mine}

    def proposing(self, proposer: Proposer) -> "Objective":
        """The same objective with a network behind every propose stage."""
        return self._each(lambda s: replace(s, proposer=proposer) if isinstance(s, SampleFromGenerator) else s)

    def knowing(self, names: Mapping[str, tuple[str, ...]]) -> "Objective":
        """The same objective with a corpus' own names of the labels it asks for or reads (`Corpus.label_names`)."""

        def named(stage: Stage) -> Stage:
            if isinstance(stage, AskLabel | AskPair | AskCrossView | SeeLabels) and stage.label in names:
                return replace(stage, classes=tuple(names[stage.label]))
            return stage

        return self._each(named)

    def at_step(self, step: int) -> "Objective":
        """The same objective in a step (0-based) of training; only parts that take turns depend on it."""
        turns = [stage for stage in self.stages if isinstance(stage, SampleTask) and stage.alternating]
        return replace(self, stages=tuple(replace(stage, step=step) for stage in turns)) if turns else self

    def counting(self, table: Cells) -> "Objective":
        """The same objective on the co-occurrences of a whole corpus."""
        return self._each(lambda s: replace(s, table=table) if isinstance(s, ArrangeCooccurrences) else s)

    def painted(self, line: str) -> "Objective":
        """The same objective with a mask, a grading or an order by hand in every text, as `carried.written` says it."""
        rules = read(line)
        kinds = ((kind, [rule.words for rule in rules if isinstance(rule, kind)]) for kind in CHOSEN_BY_HAND)
        sentences = (f"With {CHOSEN_BY_HAND[kind]} by hand: {'; '.join(words)}." for kind, words in kinds if words)
        idea = " ".join((self.idea, *sentences))
        plain = {"aliases": (), "row": "", "printed": Printed(), "switch": ("", "")}
        return replace(self._obeying(rules)._ordered(rules), name=f"{self.name}{BY_HAND}{line}", idea=idea, **plain)

    def _obeying(self, rules: tuple[Rule, ...]) -> "Objective":
        """The same chain with what is by hand after its own; in a mixture, in every part that a rule is meant for."""
        unknown = [rule.part for rule in rules if rule.part > len(self.parts)]
        if unknown:
            known = f"its parts are 1 to {len(self.parts)}" if self.parts else "it is not a mixture"
            raise UserError(f"{self.name} has no part {unknown[0]} to paint in; {known}.")
        if self.parts:
            numbered = enumerate(self.parts, 1)
            return replace(self, parts=tuple(part._obeying(meant_for(rules, number)) for number, part in numbered))
        cells = tuple(rule for rule in rules if isinstance(rule, Painted))
        answers = tuple(rule for rule in rules if isinstance(rule, Judged))
        asked = (OverrideLossMask(answers),) if answers else ()
        return replace(self, stages=(*self._seeing(cells), *asked))

    def _ordered(self, rules: tuple[Rule, ...]) -> "Objective":
        """The same with an order by hand wherever an order of prediction is drawn."""
        orders = [rule.positions for rule in rules if isinstance(rule, FixedOrder)]
        if orders and not self.draws_order:
            raise UserError(f"{self.name} draws no order of prediction, so none can be set by hand; PLM draws one.")
        return self._each(lambda s: replace(s, order=orders[-1]) if orders and isinstance(s, ChooseOrder) else s)

    @property
    def draws_order(self) -> bool:
        """Whether it draws an order of prediction."""
        return any(isinstance(s, ChooseOrder) for chain in self.chains for s in chain.stages)

    def _seeing(self, cells: tuple[Painted, ...]) -> tuple[Stage, ...]:
        """The stages with the cells by hand after the mask that they are painted over."""
        if not cells:
            return self.stages
        seen = [number for number, stage in enumerate(self.stages) if stage.verb == "see"]
        if not seen:
            raise UserError(f"{self.name} has no mask of its own that could be painted over.")
        after = seen[-1] + 1
        return (*self.stages[:after], OverrideMask(cells), *self.stages[after:])

    @property
    def counts(self) -> bool:
        """Whether it wants the co-occurrences of a whole corpus."""
        return any(
            isinstance(s, ArrangeCooccurrences) and s.table is None for chain in self.chains for s in chain.stages
        )

    @property
    def proposes(self) -> bool:
        """Whether a generator takes part."""
        return any(isinstance(s, SampleFromGenerator) for chain in self.chains for s in chain.stages)

    def _meant_for(self, number: int, wanted: Wishes) -> Wishes:
        """The wishes without those that a later stage knows too: the words to propose are not for the stage before."""
        if not wanted:
            return wanted
        later = {key for stage in self.stages[number + 1 :] if planned(stage) for key in stage.keys}
        return {key: value for key, value in wanted.items() if key not in later}

    def _refuse_unknown(self, wanted: Wishes) -> None:
        for key in wanted:
            if key not in self.plan_keys:
                known = ", ".join(self.plan_keys) or "none, since nothing in it is random"
                raise UserError(f"{self.name} has no plan key {key!r}; its keys are: {known}.")


Act = Callable[[Objective, int, Batch], tuple[Any, Batch]]
"""Takes stage `number` of a chain and the example before it; gives the plan and the example after it."""


def acting_on(steps: tuple[Step, ...], row: int) -> list[tuple[Step, int]]:
    """The steps that acted on a row of a batch, each with the row's number among those that it acted on."""
    listed = {id(step.rows): step.rows.tolist() for step in steps if step.rows is not None}
    places = ((step, [row] if step.rows is None else listed[id(step.rows)]) for step in steps)
    return [(step, row if step.rows is None else rows.index(row)) for step, rows in places if row in rows]


def weighed(example: Batch, weight: float) -> Batch:
    """The same example with all its questions weighed once more."""
    questions = tuple(replace(q, weight=q.weight * weight) for q in example.questions)
    return replace(example, questions=questions, auxiliary=tuple(weighed(e, weight) for e in example.auxiliary))


def tell(steps: tuple[Step, ...], row: int = 0) -> dict[str, Any]:
    """The plans of all stages in a person's words, ready to be edited and given back as wishes."""
    found: dict[str, Any] = {}
    for part in sorted({step.part for step in steps}, reverse=True):
        found |= _tell_chain([step for step in steps if step.part == part], row)
    return found


def _tell_chain(steps: list[Step], row: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    examples = [begin(steps[0].example.tokens), *(s.example for s in steps)]
    for before, step, after in zip(examples, steps, examples[1:], strict=False):
        if planned(step.stage):
            seen = before if step.verb != "change" else after
            found |= step.stage.tell(seen, step.plan, row)
    return found


def _act(stage: Stage, example: Batch, rng: Generator, wanted: Wishes) -> tuple[Any, Batch]:
    if not planned(stage):
        return None, stage.build(example)
    plan = stage.revise(example, stage.plan(example, rng), wanted)
    return plan, stage.build(example, plan)


def _now(stage: Stage, k: Knob) -> Any:
    assert is_dataclass(stage)
    return next(getattr(stage, f.name) for f in fields(stage) if f.name == k.name)
