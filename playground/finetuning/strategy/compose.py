"""Strategies put together, and what makes one different from another."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor

from playground.errors import Refusal
from playground.finetuning.strategy.head import TOP, Head
from playground.finetuning.strategy.schedules import parts_of, product, said
from playground.finetuning.strategy.strategy import Published, Strategy

SAMPLE = ("embeddings", "embeddings biases", "encoder layer 1", "encoder layer 1 biases", "encoder layer 2")
LAYERS, STEPS = 3, 60
"""Plans are held against each other for a model of so many layers over so many steps."""


def compose(*strategies: Strategy) -> Strategy:
    """Several strategies as one: plans are multiplied, penalties and losses added, extra modules joined."""
    if len(strategies) < 2:
        raise Refusal("One strategy alone is no combination; name at least two.")
    name = " + ".join(s.name for s in strategies)
    asks = next((s.name for s in strategies if s.prompt), None)
    if asks:
        raise Refusal(f"{name}: {asks} trains nothing, so nothing can be put together with it; leave it out.")
    made = Strategy(
        name=name,
        idea=" ".join(s.idea for s in strategies),
        source="; ".join(dict.fromkeys(s.source for s in strategies)),
        plasticity=product([s.plasticity for s in strategies]),
        rate=_one(strategies, name, "rate", Strategy.rate, "learn at the rates"),
        published=_published(strategies),
        penalties=_all(strategies, name, "penalties"),
        beside=_all(strategies, name, "beside"),
        extras=_all(strategies, name, "extras"),
        given=_all(strategies, name, "given"),
        head=_one(strategies, name, "head", TOP, "have heads that read"),
        fresh=_one(strategies, name, "fresh", "", "start anew"),
        apart=_one(strategies, name, "apart", "", "set apart"),
        averaged=_one(strategies, name, "averaged", 0.0, "average the last shares"),
        painted=tuple(cell for s in strategies for cell in s.painted),
        made_of=tuple(part for s in strategies for part in s.parts),
    )
    _check(made)
    return replace(made, idea=" ".join([made.idea, *nothing_added(made, strategies)]))


def nothing_added(made: Strategy, parts: Sequence[Strategy]) -> list[str]:
    """Which parts of a composed strategy are overruled by the others and change nothing in it, a sentence each."""
    return [f"In {made.name} the part {part.name} changes nothing." for part in parts if _is_overruled(made, part)]


def _is_overruled(made: Strategy, part: Strategy) -> bool:
    """Whether the others do the same without this part, and not what it does: `feature-based + full` stays frozen."""
    fields = ("penalties", "beside", "extras", "given", "painted", "fresh", "averaged")
    if any(getattr(part, field) for field in fields) or part.head != TOP:
        return False
    others = product([p for p in parts_of(made.plasticity) if p not in parts_of(part.plasticity)])
    rows = made.rows(LAYERS)
    now, without, alone = (replace(made, painted=(), plasticity=p) for p in (made.plasticity, others, part.plasticity))
    plan = now.plan(rows, STEPS)
    return torch.equal(plan, without.plan(rows, STEPS)) and not torch.equal(plan, alone.plan(rows, STEPS))


def _published(strategies: Sequence[Strategy]) -> Published | None:
    """The rate that is published for one of the strategies; nobody published one for all of them together."""
    first = next((s for s in strategies if s.published), None)
    if first is None or first.published is None:
        return None
    return replace(first.published, where=f"{first.published.where}, for {first.name} alone")


def _one(strategies: Sequence[Strategy], name: str, field: str, default: Any, clash: str) -> Any:
    """The value of a field that at most one of the strategies sets."""
    values = list(dict.fromkeys(v for s in strategies if (v := getattr(s, field)) != default))
    if len(values) > 1:
        both = " and ".join(map(_word, values))
        raise Refusal(f"{name}: these do not go together, because they {clash} {both}; leave one of them out.")
    return values[0] if values else default


def _all(strategies: Sequence[Strategy], name: str, field: str) -> tuple[Any, ...]:
    """The parts of all strategies; the same kind with two settings is a clash, the same part twice counts once."""
    parts = tuple(dict.fromkeys(part for s in strategies for part in getattr(s, field)))
    kinds = [part.name for part in parts]
    twice = [kind for kind in kinds if kinds.count(kind) > 1]
    if twice:
        raise Refusal(f"{name}: these do not go together, because both bring {twice[0]!r}; leave one of them out.")
    return parts


def _check(made: Strategy) -> None:
    """Refuse what could never learn, or a penalty on weights that never move."""
    groups = (*SAMPLE, *made.new, "task head")
    plan = made.plan(groups, STEPS)
    still = int((~plan.any(dim=0)).sum())
    if still:
        raise Refusal(
            f"{made.name}: these do not go together, because in {still / STEPS:.0%} of the steps one of them freezes "
            "what the other trains; leave one of them out."
        )
    if made.penalties and made.fresh:
        raise Refusal(
            f"{made.name}: these do not go together, because {made.penalties[0].name} holds on to pre-trained weights, "
            "and there are none where a model starts anew; leave one of them out."
        )
    if made.penalties and not bool(plan[: len(SAMPLE)].any()):
        raise Refusal(
            f"{made.name}: these do not go together, because {made.penalties[0].name} acts on the pre-trained weights, "
            "which are all frozen; leave one of them out."
        )


Unlike = tuple[str, str, str]
"""A thing in which two strategies differ: its name, what it is in the first and what it is in the other."""


def unlike(one: Strategy, other: Strategy, *more: Unlike) -> list[Unlike]:
    """Everything in which two strategies differ; `more` are things that a comparison gave them."""
    own = [(words, show(one), show(other)) for field, words, show in _SHOWN if _differ(one, other, field)]
    return own + [thing for thing in more if thing[1] != thing[2]]


def difference(one: Strategy, other: Strategy, *more: Unlike) -> str:
    """What sets two strategies apart, as a sentence; a fair pair differs in one thing."""
    changed = [f"{words}: {first} against {second}" for words, first, second in unlike(one, other, *more)]
    if not changed:
        return f"{one.name} and {other.name} do the same."
    return f"{one.name} and {other.name} differ in {things(len(changed))}; " + "; ".join(changed) + "."


def things(number: int) -> str:
    """So many things, in words."""
    return "one thing" if number == 1 else f"{number} things"


def _differ(one: Strategy, other: Strategy, field: str) -> bool:
    """Whether a field tells two strategies apart; of a plan it counts what the optimiser reads of it."""
    if field == "recurrent":
        return one.head.recurrent != other.head.recurrent
    if field == "head":
        return (one.head.reads, one.head.pool) != (other.head.reads, other.head.pool)
    if field != "plasticity":
        return getattr(one, field) != getattr(other, field)
    first, second = _evaluated(one), _evaluated(other)
    rows = {*first, *second} - {*one.new, *other.new}
    return any(not torch.equal(_row(first, row), _row(second, row)) for row in rows)


def _evaluated(strategy: Strategy) -> dict[str, Tensor]:
    """The multipliers `[s]` of every row of a strategy's plan, without what was painted over it."""
    rows = strategy.rows(LAYERS)
    return dict(zip(rows, replace(strategy, painted=()).plan(rows, STEPS), strict=True))


def _row(plan: dict[str, Tensor], name: str) -> Tensor:
    """The multipliers of a row; biases that have none of their own learn as the rest of their layer."""
    return plan[name] if name in plan else plan[name.removesuffix(" biases")]


def _listed(field: str) -> Callable[[Strategy], str]:
    return lambda s: " and ".join(map(_word, getattr(s, field))) or "none"


def _word(value: Any) -> str:
    """A value in words: a part by its name and settings."""
    if isinstance(value, Head):
        text = f"level {value.reads}" if isinstance(value.reads, int) else value.reads
        return f"{text} ({value.pool} pooling{', an LSTM' if value.recurrent else ''})"
    if not hasattr(value, "name"):
        return f"{value:g}" if isinstance(value, float) else str(value)
    settings = ", ".join(f"{f.name} {getattr(value, f.name):g}" for f in fields(value))
    return f"{value.name} ({settings})" if settings else value.name


def _plan(strategy: Strategy) -> str:
    return said(strategy.plasticity)


_SHOWN: tuple[tuple[str, str, Callable[[Strategy], str]], ...] = (
    ("plasticity", "what learns when", _plan),
    ("rate", "learning rate", lambda s: f"{s.rate:g}"),
    ("penalties", "penalties", _listed("penalties")),
    ("beside", "losses beside the task's", _listed("beside")),
    ("extras", "extra modules", _listed("extras")),
    ("given", "given beside the words", _listed("given")),
    ("head", "what the head reads", lambda s: _word(replace(s.head, recurrent=False))),
    ("recurrent", "the head's own network", lambda s: "an LSTM" if s.head.recurrent else "none"),
    ("fresh", "what starts anew", lambda s: s.fresh or "nothing"),
    ("apart", "rows of their own in the plan", lambda s: s.apart or "none"),
    ("averaged", "share of the last steps that is averaged", lambda s: f"{s.averaged:g}"),
    ("prompt", "examples in a prompt", lambda s: str(s.prompt.shots) if s.prompt else "no prompt"),
    ("painted", "cells painted by hand", lambda s: str(len(s.painted))),
)
