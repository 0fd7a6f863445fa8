"""Strategies put together, and what sets one apart from another."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor

from playground.errors import UserError
from playground.finetuning.strategy.head import TOP, Head
from playground.finetuning.strategy.plasticity import describe, everything, factors, layer_of, product
from playground.finetuning.strategy.strategy import Strategy
from playground.knob import as_written
from playground.models import Architecture

SAMPLE = ("embeddings", "embeddings biases", "encoder layer 1", "encoder layer 1 biases", "encoder layer 2")
FRESH = {
    "encoder": "the encoder starts", "decoder": "the decoder starts", "layers": "all layers start",
    "everything": "the model starts",
}  # fmt: skip
"""What starts from new weights, in words."""
SHAPE, STEPS = Architecture(layers=3), 60
"""Plans are compared for a model of so many layers over so many steps."""


def compose(*strategies: Strategy) -> Strategy:
    """Several strategies as one: plans are multiplied, penalties and losses added, extra modules joined."""
    if len(strategies) < 2:
        raise UserError("One strategy alone is not a combination; name at least two.")
    name = " + ".join(s.name for s in strategies)
    untrained = next((s.name for s in strategies if s.prompt), None)
    if untrained:
        raise UserError(f"{name}: {untrained} trains nothing, so nothing can be put together with it; leave it out.")
    composed = Strategy(
        name=name,
        idea=" ".join(s.idea for s in strategies),
        source="; ".join(dict.fromkeys(s.source for s in strategies)),
        plasticity=product([s.plasticity for s in strategies]),
        waiting=_one(strategies, name, "waiting", everything, "wait for the task with the plans"),
        rate=_one(strategies, name, "rate", Strategy.rate, "learn at the rates"),
        published=next(
            (replace(p, where=f"{p.where}, for {s.name} alone") for s in strategies if (p := s.published)), None
        ),
        penalties=_all(strategies, name, "penalties"),
        aux_losses=_all(strategies, name, "aux_losses"),
        task_loss=_one(strategies, name, "task_loss", None, "take the task's loss by"),
        adapters=_all(strategies, name, "adapters"),
        extra_features=_all(strategies, name, "extra_features"),
        head=_one(strategies, name, "head", TOP, "have heads that read"),
        fresh=_one(strategies, name, "fresh", "", "reinitialise"),
        own_row=_one(strategies, name, "own_row", "", "set apart"),
        after=_one(strategies, name, "after", None, "change the finished weights by"),
        painted=tuple(cell for s in strategies for cell in s.painted),
        made_of=tuple(part for s in strategies for part in s.parts),
    )
    _check(composed)
    return replace(composed, idea=" ".join([composed.idea, *nothing_added(composed, strategies)]))


def nothing_added(whole: Strategy, parts: Sequence[Strategy]) -> list[str]:
    """Which parts of a composed strategy are overruled by the others and change nothing in it, a sentence each."""
    return [f"In {whole.name} the part {part.name} changes nothing." for part in parts if _is_overruled(whole, part)]


def _is_overruled(whole: Strategy, part: Strategy) -> bool:
    """Whether the others do the same without this part, and not what it does: `feature-based + full` stays frozen."""
    fields = ("penalties", "aux_losses", "task_loss", "adapters", "extra_features", "painted", "fresh", "after")
    if any(getattr(part, field) for field in fields) or part.head != TOP:
        return False
    others = product([p for p in factors(whole.plasticity) if p not in factors(part.plasticity)])
    rows = whole.rows(SHAPE)
    plan, without, alone = (
        replace(whole, painted=(), plasticity=p).plan(rows, STEPS) for p in (whole.plasticity, others, part.plasticity)
    )
    return torch.equal(plan, without) and not torch.equal(plan, alone)


def _one(strategies: Sequence[Strategy], name: str, field: str, default: Any, clash: str) -> Any:
    """The value of a field that at most one of the strategies sets."""
    values = list(dict.fromkeys(v for s in strategies if (v := getattr(s, field)) != default))
    if len(values) > 1:
        both = " and ".join(map(_word, values))
        raise UserError(f"{name}: these do not go together, because they {clash} {both}; leave one of them out.")
    return values[0] if values else default


def _all(strategies: Sequence[Strategy], name: str, field: str) -> tuple[Any, ...]:
    """The parts of all strategies; the same kind with two settings is a clash, the same part twice counts once."""
    parts = tuple(dict.fromkeys(part for s in strategies for part in getattr(s, field)))
    kinds = [part.name for part in parts]
    twice = [kind for kind in kinds if kinds.count(kind) > 1]
    if twice:
        raise UserError(f"{name}: these do not go together, because both bring {twice[0]!r}; leave one of them out.")
    return parts


def _check(composed: Strategy) -> None:
    """Refuse a combination in which nothing learns for some steps, or a loss on weights that never move."""
    plan = replace(composed, painted=()).plan((*SAMPLE, *composed.new, "task head"), STEPS)
    reason = ""
    after = [composed.after] if composed.after and composed.after.keeps_start else []
    below = [
        *composed.penalties,
        *after,
        *(term for term in composed.aux_losses if term.for_body and not composed.adapters),
    ]
    held = [*composed.penalties, *([composed.task_loss] if composed.task_loss and composed.task_loss.mixes else [])]
    layers = [k for k, row in enumerate(SAMPLE) if "layer" in row and not row.endswith("biases")]
    if not bool(plan.any(dim=0).all()):
        reason = "in some of the steps one of them freezes what the other trains"
    elif (held or after) and composed.fresh:
        reason = f"{[*held, *after][0].name} holds on to pre-trained weights, and {FRESH[composed.fresh]} from new ones"
    elif below and not bool(plan[: len(SAMPLE)].any()):
        reason = f"{below[0].name} can only change the pre-trained weights, which are all frozen"
    elif len(held) > len(composed.penalties) and not bool(plan[layers].any()):
        reason = f"{held[-1].name} acts on the pre-trained matrices of the layers, which are all frozen"
    if reason:
        raise UserError(f"{composed.name}: these do not go together, because {reason}; leave one of them out.")


Unlike = tuple[str, str, str]
"""A thing in which two strategies differ: its name, what it is in the first and what it is in the other."""


def unlike(one: Strategy, other: Strategy, *more: Unlike) -> list[Unlike]:
    """Everything in which two strategies differ; `more` are things that a comparison set."""
    plans = [("what learns when", _describe_plan(one), _describe_plan(other))] * _plans_differ(one, other)
    own = [(words, show(one), show(other)) for words, value, show in _THINGS if value(one) != value(other)]
    return plans + own + [thing for thing in more if thing[1] != thing[2]]


def _describe_plan(strategy: Strategy) -> str:
    """What learns when, in words."""
    waits = strategy.waits(STEPS) / STEPS
    until = "" if strategy.waiting is everything else f", until then {describe(strategy.waiting)}"
    return describe(strategy.plasticity) + (f", the task's head after {waits:.0%} of the steps{until}" if waits else "")


def difference(one: Strategy, other: Strategy, *more: Unlike) -> str:
    """What sets two strategies apart, as a sentence; a fair pair differs in one thing."""
    changed = [f"{words}: {first} vs. {second}" for words, first, second in unlike(one, other, *more)]
    if not changed:
        return f"{one.name} and {other.name} do the same."
    return f"{one.name} and {other.name} differ in {things(len(changed))}; " + "; ".join(changed) + "."


def things(number: int) -> str:
    """So many things, in words."""
    return "one thing" if number == 1 else f"{number} things"


def _plans_differ(one: Strategy, other: Strategy) -> bool:
    """Whether the multipliers differ in some row, without what is painted or new; biases may follow their layer."""
    first, second = _plan(one), _plan(other)
    rows = {*first, *second} - {*one.new, *other.new}
    both = ((plan[row] if row in plan else plan[layer_of(row)] for plan in (first, second)) for row in rows)
    return not all(torch.equal(*pair) for pair in both)


def _plan(strategy: Strategy) -> dict[str, Tensor]:
    rows = strategy.rows(SHAPE)
    return dict(zip(rows, replace(strategy, painted=()).plan(rows, STEPS), strict=True))


def _word(value: Any) -> str:
    if isinstance(value, Head):
        text = f"level {value.reads}" if isinstance(value.reads, int) else value.reads
        return f"{text} ({', '.join(filter(None, (f'{value.pool} pooling', _own(value))))})"
    if not hasattr(value, "name"):
        return f"{value:g}" if isinstance(value, float) else str(value)
    settings = ", ".join(f"{f.name} {as_written(getattr(value, f.name))}" for f in fields(value))
    return f"{value.name} ({settings})" if settings else value.name


def _own(head: Head) -> str:
    parts = ("an LSTM" if head.recurrent else "", f"a layer of {head.hidden} numbers" if head.hidden else "")
    return " and ".join(filter(None, parts))


def _listed(words: str, field: str) -> tuple[str, Callable[[Strategy], Any], Callable[[Strategy], str]]:
    return words, attrgetter(field), lambda s: " and ".join(map(_word, getattr(s, field))) or "none"


_THINGS: tuple[tuple[str, Callable[[Strategy], Any], Callable[[Strategy], str]], ...] = (
    ("learning rate", attrgetter("rate"), lambda s: f"{s.rate:g}"),
    _listed("penalties", "penalties"),
    _listed("losses in addition to the task's", "aux_losses"),
    ("the task's own loss", attrgetter("task_loss"), lambda s: _word(s.task_loss) if s.task_loss else "the plain one"),
    _listed("extra modules", "adapters"),
    _listed("inputs in addition to the words", "extra_features"),
    (
        "what the head reads",
        attrgetter("head.reads", "head.pool"),
        lambda s: _word(replace(s.head, recurrent=False, hidden=0)),
    ),
    ("the head's own network", attrgetter("head.recurrent", "head.hidden"), lambda s: _own(s.head) or "none"),
    ("starts from scratch", attrgetter("fresh"), lambda s: s.fresh or "nothing"),
    ("rows of their own in the plan", attrgetter("own_row"), lambda s: s.own_row or "none"),
    ("after the last step", attrgetter("after"), lambda s: _word(s.after) if s.after else "nothing"),
    ("examples in a prompt", attrgetter("prompt"), lambda s: str(s.prompt.shots) if s.prompt else "no prompt"),
    ("cells painted by hand", attrgetter("painted"), lambda s: str(len(s.painted))),
)
"""What else two strategies may differ in: its name, the value that is compared, and that value in words."""
