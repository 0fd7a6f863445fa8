"""Several objectives in one: one of them for each batch or each row, or all of them at once with weights."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from typing import Any

from playground.errors import UserError
from playground.objectives.arrange import SampleTask
from playground.objectives.ask import Reweight
from playground.objectives.curriculum import Curriculum, Stretch, mean_shares
from playground.objectives.formula import Term, spelt
from playground.objectives.objective import Objective

Parts = tuple[tuple[float, Objective], ...]

WEIGHED = re.compile(r"(-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)(?:\s*[*×·]\s*|\s+)(.+)", re.IGNORECASE)
"""A weight before a part of a sum, as in `0.5*SOP`, `0.5 * SOP` or `0.5 SOP`."""

PERCENT = re.compile(r"(?P<name>.+?)\s+(?P<share>\d+(?:\.\d+)?)\s*%")
"""An objective and its share of the steps, as in `LM 70 %`."""


def mixture(name: str, parts: Parts, alternating: bool = False, by_row: bool = False, **card: Any) -> Objective:
    """Draws one of the parts for each batch by its share (T5's multi-task mixture, arXiv:1910.10683, sec. 3.5.2).

    With `alternating` the parts, of equal shares, take turns from step to step. With `by_row` the rows of every batch
    are shared out among the parts, which must read one stack and have targets of different names. `card` are the
    other fields of an `Objective`; the terms are those of all parts, each target once.
    """
    objectives = tuple(part for _, part in parts)
    if any(share < 0 for share, _ in parts) or not any(share for share, _ in parts):
        raise UserError(
            f"The shares of {name} are {[s for s, _ in parts]}; none may be negative and one must be above 0."
        )
    shares, known = tuple(share for share, _ in parts), tuple(part.plan_keys for part in objectives)
    draw = SampleTask(shares, known, alternating, by_row)
    terms = {term.target: term for part in objectives for term in part.terms}
    return Objective(name, (draw,), parts=objectives, **_shared(objectives, tuple(terms.values()), card))


def scheduled(
    name: str, parts: tuple[Objective, ...], curriculum: Curriculum, by_row: bool = False, **card: Any
) -> Objective:
    """A mixture whose shares follow a curriculum; outside training a part is drawn by its share of the whole run."""
    shared = tuple(zip(mean_shares(curriculum), parts, strict=True))
    return mixture(name, shared, by_row=by_row, curriculum=curriculum, **card)


def mixed(name: str, parts: Parts, **card: Any) -> Objective:
    """The weighted sum of the parts in every step; the first one is shown as the main one, the others beside it.

    A later part whose target has a name that is taken asks it under its own name in front, as in "RTD: hidden words".
    """
    named = _named_apart(tuple(part for _, part in parts))
    (weight, first), *others = ((weight, part) for (weight, _), part in zip(parts, named, strict=True))
    main = first if weight == 1.0 else _asking(first, weight, {})
    terms = tuple(_weighed(term, weight) for (weight, _), part in zip(parts, named, strict=True) for term in part.terms)
    fields = {"parts": main.parts, "curriculum": main.curriculum, "auxiliary": (*main.auxiliary, *others)}
    return Objective(name, main.stages, **fields, **_shared(named, terms, card))


def summed(line: str, find: Callable[[str], Objective]) -> Objective:
    """A weighted sum as it is typed, such as `MLM + 0.5*SOP`, of objectives that are found by their names.

    Neighbours without a weight that have a name together keep it: `MLM + NSP + 50*RTD` has two parts.
    """
    pieces = [piece.strip() for piece in line.split("+")]
    parts: list[tuple[float, Objective]] = []
    while pieces:
        weight, part, used = _first_part(pieces, find)
        if not 0 < weight < inf:
            raise UserError(f"The weight of {part.name} is {weight:g}; it must be a number above 0.")
        if any(part.name == other.name for _, other in parts):
            raise UserError(f"{part.name} occurs twice in {line!r}; name it once, with one weight.")
        parts.append((weight, part))
        pieces = pieces[used:]
    name = " + ".join(_spelt(weight, part) for weight, part in parts)
    weighted = [f"{part.name}{'' if weight == 1.0 else f' (weight {weight:g})'}" for weight, part in parts]
    return mixed(
        name,
        tuple(parts),
        idea=f"Train several objectives in every step: {', '.join(weighted)}.",
        loss=f"The sum of the losses, each times its weight: {', '.join(weighted)}.",
        source="; ".join(dict.fromkeys(part.source for _, part in parts)),
        group="In combination",
    )


def in_turn(line: str, find: Callable[[str], Objective]) -> Objective:
    """One objective after another as it is typed, such as `LM 70 % then MLM 30 %`; shares of the steps of a run."""
    found = [PERCENT.fullmatch(piece.strip()) for piece in re.split(r"\bthen\b", line)]
    stretches = [(find(m["name"]), float(m["share"])) for m in found if m is not None]
    if len(stretches) < len(found) or len(found) < 2:
        raise UserError(f"{line!r} lacks a share of the steps; write it as in 'LM 70 % then MLM 30 %'.")
    if abs(sum(share for _, share in stretches) - 100) > 1e-6:
        raise UserError(f"The shares in {line!r} add up to {sum(share for _, share in stretches):g} %; make it 100 %.")
    parts = tuple({part.name: part for part, _ in stretches}.values())
    curriculum = tuple(
        Stretch(share / 100, tuple(float(part is other) for other in parts)) for part, share in stretches
    )
    parts = _named_apart(parts)
    said = ", then ".join(f"{part.name} for {share:g} % of the steps" for part, share in stretches)
    return scheduled(
        " then ".join(f"{part.name} {share:g} %" for part, share in stretches),
        parts,
        curriculum,
        idea=f"Train one objective after another: {said}.",
        loss=f"The loss of the objective whose turn it is: {said}.",
        source="; ".join(dict.fromkeys(part.source for part in parts)),
        group="In combination",
    )


def _first_part(pieces: list[str], find: Callable[[str], Objective]) -> tuple[float, Objective, int]:
    """The weight of the first part, the part, and how many pieces between plus signs its name takes."""
    for used in range(len(pieces), 1, -1):
        try:
            return 1.0, find(" + ".join(pieces[:used])), used
        except UserError:
            continue
    try:
        return 1.0, find(pieces[0]), 1
    except UserError:
        weighed = WEIGHED.fullmatch(pieces[0])
        if weighed is None:
            raise
    return float(weighed[1]), find(weighed[2]), 1


def _spelt(weight: float, part: Objective) -> str:
    return part.name if weight == 1.0 else f"{weight:.12g} {part.name}"


def _shared(objectives: tuple[Objective, ...], terms: tuple[Term, ...], card: Mapping[str, Any]) -> dict[str, Any]:
    needs = tuple(dict.fromkeys(need for part in objectives for need in part.needs))
    return {"terms": terms, "needs": needs, **card}


def _named_apart(objectives: tuple[Objective, ...]) -> tuple[Objective, ...]:
    """The same objectives, no two of them with a target of the same name."""
    taken: set[str] = set()
    found = []
    for part in objectives:
        asked = [term.target for term in part.terms]
        names = {target: f"{part.name}: {target}" for target in asked if target in taken}
        taken |= {names.get(target, target) for target in asked}
        found.append(_asking(part, 1.0, names) if names else part)
    return tuple(found)


def _asking(part: Objective, weight: float, names: Mapping[str, str]) -> Objective:
    """The part with all its targets weighed once more and some of them renamed, in every chain it has."""
    within = () if part.parts else (Reweight(weight, tuple(names.items())),)
    return replace(
        part,
        stages=(*part.stages, *within),
        parts=tuple(_asking(p, weight, names) for p in part.parts),
        auxiliary=tuple((w * weight, _asking(chain, 1.0, names)) for w, chain in part.auxiliary),
        terms=tuple(replace(term, target=names.get(term.target, term.target)) for term in part.terms),
    )


def renamed(part: Objective, target: str, name: str, weight: float = 1.0) -> Objective:
    """The same objective with another name for one of its targets, so that its loss is reported from others'.

    All its targets are weighed once more.
    """
    named = _asking(part, weight, {target: name})
    return replace(named, terms=tuple(_weighed(term, weight) for term in named.terms))


def _weighed(term: Term, weight: float) -> Term:
    return term if weight == 1.0 else replace(term, weight=rf"{spelt(weight)}\,{term.weight}".removesuffix(r"\,"))
