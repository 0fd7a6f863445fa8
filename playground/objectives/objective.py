"""An objective: a named chain of stages, with its loss in words and symbols and the place where it was published."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

from torch import Generator

from playground.batch import Batch, Tokens
from playground.catalog import year
from playground.errors import UserError
from playground.knob import Knob, knobs, turn
from playground.objectives.arrange.mixture_part import SampleTask
from playground.objectives.ask.label import AskCrossView
from playground.objectives.ask.states import AskTeacherState
from playground.objectives.ask.words import AskCount, AskDiffused
from playground.objectives.curriculum import Curriculum
from playground.objectives.formula import Misprint, Term, written
from playground.objectives.mask_overrides import MaskOverride
from playground.objectives.propose import ReadWithTeacher, SampleFromGenerator, SampleNegatives
from playground.objectives.stage import PlanOverrides, Stage, planned
from playground.objectives.steps import Step, draw, replay
from playground.pickling import declared_fields

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
    names what a text must have (see `inputs.NEEDS`). `switch` is a question and the knob whose choices answer it.
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

    def variant(self, **changes: Any) -> "Objective":
        """Another objective, with these fields and the others of this one; names and the survey's row are not its."""
        own = {"aliases": (), "row": "", "printed": Printed(), "switch": ("", "")}
        return replace(self, **{**own, **changes})

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
        return tuple(term.now(_values(self._asking(term.target))) for term in self.terms)

    def _asking(self, target: str) -> "Objective":
        """The chain that asks a target."""
        return {term.target: chain for chain in self.chains[1:] for term in chain.terms}.get(target, self)

    def unit(self, target: str = "") -> str:
        """The unit of the loss of a target, by default of the first one, under the knobs as they stand."""
        stages = self._asking(target or self.target_names[0]).stages
        return next((s.unit for s in stages if isinstance(s, UNITS)), "nats")

    def steps(self, tokens: Tokens, rng: Generator, overrides: PlanOverrides | None = None) -> tuple[Step, ...]:
        """The batch after every stage; the last one is what trains. `overrides` overrides the plans."""
        return draw(self, tokens, rng, overrides or {})

    def batch(self, tokens: Tokens, rng: Generator) -> Batch:
        """The batch that trains, of a batch of texts."""
        return self.steps(tokens, rng)[-1].batch

    def replay(self, tokens: Tokens, plans: tuple[Any, ...]) -> tuple[Step, ...]:
        """The same steps again from saved plans, without any chance."""
        return replay(self, tokens, plans)

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
    def every_stage(self) -> tuple[Stage, ...]:
        """The stages of all chains."""
        return tuple(stage for chain in self.chains for stage in chain.stages)

    @property
    def plan_keys(self) -> tuple[str, ...]:
        """The plan keys that a person may set for this objective."""
        keys = (key for stage in self.every_stage if planned(stage) for key in stage.keys)
        return tuple(dict.fromkeys(keys))

    @cached_property
    def knobs(self) -> dict[str, Knob]:
        """The knobs of all stages by name; a name that stages of one chain share is written `Stage.name`.

        Those that a curriculum moves are not among them.
        """
        stretches = [stretch for chain in self.chains for stretch in chain.curriculum]
        moving = {name.rpartition(".")[2] for stretch in stretches for name, *_ in stretch.moves}
        every = [(stage, k) for stage in self.every_stage for k in knobs(stage) if k.name not in moving]
        return {
            k.name if _belongs_to_one(k.name, self.chains) else f"{type(stage).__name__}.{k.name}": replace(
                k, default=_now(stage, k)
            )
            for stage, k in every
        }

    def turn(self, settings: Mapping[str, Any]) -> "Objective":
        """The same objective with some knobs turned; an unknown knob is refused with those there are."""
        for name in settings:
            if name not in self.knobs:
                known = ", ".join(self.knobs) or "none"
                raise UserError(f"{self.name} has no knob {name!r}; its knobs are: {known}.")
        return self.map_stages(lambda stage: turn(stage, settings_of(stage, settings)))

    def map_stages(self, change: Callable[[Stage], Stage]) -> "Objective":
        """The same with every stage of every chain changed."""
        auxiliary = tuple((weight, chain.map_stages(change)) for weight, chain in self.auxiliary)
        parts = tuple(part.map_stages(change) for part in self.parts)
        return replace(self, stages=tuple(change(stage) for stage in self.stages), auxiliary=auxiliary, parts=parts)

    @cached_property
    def changes(self) -> bool:
        """Whether what it trains depends on the number of the step: by turns of its parts, or by a curriculum."""
        return any(
            chain.curriculum or any(isinstance(stage, SampleTask) and stage.alternating for stage in chain.stages)
            for chain in self.chains
        )

    @cached_property
    def teacher(self) -> ReadWithTeacher | None:
        """The stage with the decay of its teacher, where a slow copy of the model takes part."""
        return next((stage for stage in self.every_stage if isinstance(stage, ReadWithTeacher)), None)

    @property
    def proposes(self) -> bool:
        """Whether a generator takes part."""
        return any(isinstance(stage, SampleFromGenerator) for stage in self.every_stage)


def settings_of(stage: Stage, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are for a stage, by the bare names of its knobs."""
    mine, kind = {k.name for k in knobs(stage)}, type(stage).__name__
    split = {name: re.fullmatch(rf"(?:{kind}\.)?(\w+)", name) for name in settings}
    return {m[1]: settings[name] for name, m in split.items() if m and m[1] in mine}


def _values(chain: Objective) -> dict[str, Any]:
    """The knobs of a chain by their bare names."""
    return {k.name: _now(stage, k) for stage in chain.stages for k in knobs(stage)}


def _belongs_to_one(name: str, chains: tuple[Objective, ...]) -> bool:
    """Whether one kind of stage has a knob of that name, and no chain has two of them."""
    owners = [[type(s) for s in chain.stages if name in {k.name for k in knobs(s)}] for chain in chains]
    return len({kind for kinds in owners for kind in kinds}) == 1 and max(map(len, owners)) == 1


def _now(stage: Stage, k: Knob) -> Any:
    assert is_dataclass(stage)
    return next(getattr(stage, f.name) for f in fields(stage) if f.name == k.name)
