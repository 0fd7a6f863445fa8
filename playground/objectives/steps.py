"""What the chains of an objective do to a batch of texts, step by step: with chance, again from plans, in words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torch import Generator, Tensor

from playground.batch import Batch, Tokens, begin
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.objectives.propose import SampleFromGenerator
from playground.objectives.stage import PlanOverrides, Stage, planned
from playground.slicing import gathered

if TYPE_CHECKING:
    from playground.objectives.objective import Objective


@dataclass(frozen=True)
class Step:
    """One stage that has acted: its plan (None for stages without chance) and the batch after it.

    `part` is 0 for the objective's own chain and counts its auxiliary chains from 1; -1 is the draw of a mixture.
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


Act = Callable[["Objective", int, Batch], tuple[Any, Batch]]
"""Takes stage `number` of a chain and the batch before it; gives the plan and the batch after it."""


def draw(objective: "Objective", tokens: Tokens, rng: Generator, overrides: PlanOverrides) -> tuple[Step, ...]:
    """The steps of all chains, with plans drawn from `rng` and overridden by `overrides`."""
    for key in overrides:
        if key not in objective.plan_keys:
            known = ", ".join(objective.plan_keys) or "none, since nothing in it is random"
            raise UserError(f"{objective.name} has no plan key {key!r}; its keys are: {known}.")

    def act(chain: "Objective", number: int, batch: Batch) -> tuple[Any, Batch]:
        return _act(chain.stages[number], batch, rng, _meant_for(chain, number, overrides))

    return _walk(objective, tokens, act)


def replay(objective: "Objective", tokens: Tokens, plans: tuple[Any, ...]) -> tuple[Step, ...]:
    """The same steps again from saved plans, without any chance."""
    left = list(plans)

    def act(chain: "Objective", number: int, batch: Batch) -> tuple[Any, Batch]:
        stage, plan = chain.stages[number], left.pop(0)
        return plan, stage.build(batch) if plan is None else stage.build(batch, plan)

    steps = _walk(objective, tokens, act)
    if left:
        raise ValueError(f"{len(left)} plans too many for {objective.name}")
    return steps


def specimens(objective: "Objective", tokens: Tokens, rng: Generator) -> tuple[Batch, ...]:
    """One batch of everything that the objective may ask: of each part of a mixture, else just one."""
    if not objective.parts:
        return (objective.batch(tokens, rng),)
    return tuple(batch for part in objective.parts for batch in specimens(part, tokens, rng))


def has_beginning(objective: "Objective") -> bool:
    """Whether its batches have a beginning without any network: all of it, or what is before a generator."""
    return not objective.proposes or not (objective.auxiliary or objective.parts)


def before_generator(objective: "Objective", tokens: Tokens, rng: Generator) -> Batch:
    """The batch of some texts up to where a generator proposes words."""
    return _acted(begin(tokens), objective.stages[: _generator(objective)], rng)


def from_generator(objective: "Objective", batch: Batch, rng: Generator) -> Batch:
    """The whole batch from that `before_generator`, with the same source of chance."""
    return _acted(batch, objective.stages[_generator(objective) :], rng)


def _generator(objective: "Objective") -> int:
    return next(number for number, stage in enumerate(objective.stages) if isinstance(stage, SampleFromGenerator))


def _acted(batch: Batch, stages: tuple[Stage, ...], rng: Generator) -> Batch:
    for stage in stages:
        batch = _act(stage, batch, rng, {})[1]
    return batch


def _walk(objective: "Objective", tokens: Tokens, act: Act) -> tuple[Step, ...]:
    """The auxiliary chains, one after the other, then the own chain; its last batch holds the others' last ones."""
    taken, auxiliary = [], []
    for part, (weight, chain) in enumerate(objective.auxiliary, 1):
        steps = _walk(chain, tokens, act)
        taken += [replace(step, part=part) for step in steps]
        auxiliary.append(weighed(steps[-1].batch, weight))
    *own, last = _own(objective, tokens, act)
    whole = replace(last.batch, auxiliary=(*auxiliary, *last.batch.auxiliary))
    return (*taken, *own, replace(last, batch=whole))


def _own(objective: "Objective", tokens: Tokens, act: Act) -> tuple[Step, ...]:
    """The steps of the own chain; in a mixture, the draw of a part and the steps of that part.

    Where rows are shared out, each part acts on its own rows, and the last batch has the rows of all.
    """
    batch, taken = begin(tokens), []
    for number, stage in enumerate(objective.stages):
        plan, batch = act(objective, number, batch)
        taken.append(Step(stage, plan, batch, part=-1 if objective.parts else 0))
    if not objective.parts:
        return tuple(taken)
    plan = taken[-1].plan
    groups = plan.groups if objective.mixes_rows else ()
    if len(groups) <= 1:
        return (*taken, *_walk(objective.parts[plan.index], tokens, act))
    walks = [_walk(objective.parts[number], pick(tokens, rows), act) for number, rows in groups]
    for walk, (_, rows) in zip(walks, groups, strict=True):
        taken += [replace(step, rows=rows) for step in walk]
    taken[-1] = replace(taken[-1], batch=gathered([walk[-1].batch for walk in walks], [r for _, r in groups]))
    return tuple(taken)


def _act(stage: Stage, batch: Batch, rng: Generator, overrides: PlanOverrides) -> tuple[Any, Batch]:
    if not planned(stage):
        return None, stage.build(batch)
    plan = stage.plan(batch, rng)
    if not overrides.keys().isdisjoint((*stage.keys, *stage.follows)):
        plan = stage.override_plan(batch, plan, overrides)
    return plan, stage.build(batch, plan)


def _meant_for(chain: "Objective", number: int, overrides: PlanOverrides) -> PlanOverrides:
    """The overrides without those that a later stage knows too: words to propose are not for the stage before."""
    if not overrides:
        return overrides
    later = {key for stage in chain.stages[number + 1 :] if planned(stage) for key in stage.keys}
    return {key: value for key, value in overrides.items() if key not in later}


def weighed(batch: Batch, weight: float) -> Batch:
    """The same batch with all its targets weighed once more."""
    targets = tuple(replace(target, weight=target.weight * weight) for target in batch.targets)
    return replace(batch, targets=targets, auxiliary=tuple(weighed(e, weight) for e in batch.auxiliary))


def acting_on(steps: tuple[Step, ...], row: int) -> list[tuple[Step, int]]:
    """The steps that acted on a row of a batch, each with the row's number among those that it acted on."""
    listed = {id(step.rows): step.rows.tolist() for step in steps if step.rows is not None}
    positions = ((step, [row] if step.rows is None else listed[id(step.rows)]) for step in steps)
    return [(step, row if step.rows is None else rows.index(row)) for step, rows in positions if row in rows]


def describe_plan(steps: tuple[Step, ...], row: int = 0) -> dict[str, Any]:
    """The plans of all stages in a person's words, ready to be edited and given back as overrides."""
    found: dict[str, Any] = {}
    for part in sorted({step.part for step in steps}, reverse=True):
        found |= _describe_chain([step for step in steps if step.part == part], row)
    return found


def _describe_chain(steps: list[Step], row: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    batches = [begin(steps[0].batch.tokens), *(s.batch for s in steps)]
    for before, step, after in zip(batches, steps, batches[1:], strict=False):
        if planned(step.stage):
            seen = before if step.verb != "change" else after
            found |= step.stage.describe_plan(seen, step.plan, row)
    return found
