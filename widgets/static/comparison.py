"""A finished comparison in numbers: one row per strategy, each against the first, and the verdict."""

from collections.abc import Sequence
from html import escape
from typing import Any

from playground.finetuning.data.task import short
from playground.finetuning.run.trainer import BODY
from playground.finetuning.strategy.compose import things
from widgets.static.svg import shortened

HEADS = ("strategy", "{metric}", "forgetting (nats)", "trained parameters", "seconds, all seeds")

WHOLE = (
    "strategy", "{metric}", "vs. baseline (95 % CI)", "forgetting (nats)", "trained parameters",
    "stored per task", "memory of a step", "seconds, all seeds", "steps at rate", "estimated GFLOP",
)  # fmt: skip
"""The columns of the whole table; what matters most stands first, for on a narrow screen it scrolls."""


def markup(facts: dict[str, Any], differences: bool = False, verdict: bool = True) -> str:
    """Accuracy, forgetting, parameters and seconds of every strategy; `differences` adds costs and paired differences.

    The first strategy is what the others are held against; the verdict stands below unless it is said elsewhere.
    """
    gaps = {gap["name"]: gap for gap in facts.get("against_first", ())}
    named = (head.format(metric=short(facts["metric"])) for head in (WHOLE if differences else HEADS))
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in named)
    rows = (_whole(s, gaps.get(s["name"])) if differences else _row(s) for s in facts["strategies"])
    small = ' style="font-size:.88em"' if differences else ""
    table = f'<div class="wide" tabindex="0" role="group" aria-label="outcomes"><table{small}><tr>{heads}</tr>'
    table += f"{''.join(rows)}</table></div>"
    table += f"<p>{escape(facts['verdict'])}</p>" if verdict else ""
    return table + apart(facts) if differences else table


def _row(s: dict[str, Any]) -> str:
    cells = (*_found(s), f"{s['trainable']:,}", f"{s['seconds']:.2f}")
    return f"<tr>{_cell(s['name'])}{''.join(map(_cell, cells))}</tr>"


def _whole(s: dict[str, Any], gap: dict[str, Any] | None) -> str:
    right, lost = _found(s)
    costs = (
        _cell(f"{s['trainable']:,}"), _cell(_bytes(4 * s["stored"]), f"{s['stored']:,} parameters"),
        _cell(_bytes(s["memory"]), ", ".join(f"{name} {_bytes(size)}" for name, size in s["held"].items())),
        _cell(f"{s['seconds']:.2f}"), _rate(s), _cell(f"{s['flops'] / 1e9:.2f}"),
    )  # fmt: skip
    number, _, noise = escape(against(gap)).partition(": ")
    told = f'{number}<br><span class="quiet">{noise}</span>' if noise else number
    return f'<tr>{_cell(s["name"])}{_cell(right)}<td class="loose">{told}</td>{_cell(lost)}{"".join(costs)}</tr>'


def _found(s: dict[str, Any]) -> tuple[str, str]:
    right, lost = s["accuracy"], s["forgetting"]
    return f"{right['mean']:.3f} ± {right['sd']:.3f}", f"{lost['mean']:+.3f} ± {lost['sd']:.3f}"


def _rate(s: dict[str, Any]) -> str:
    """Steps and rate, with whose rate that is; the place where it stands is said where the pointer rests."""
    if not s["rate_from"]:
        return _cell("none")
    whose = s["rate_from"].split(": ")[0]
    return (
        f'<td title="{escape(s["rate_from"])}">{s["steps"]} at {s["rate"]:g}<br>'
        f'<span class="quiet">{escape(whose)}</span></td>'
    )


def _cell(said: str, more: str = "") -> str:
    """A cell; `more` is said where the pointer rests."""
    return f'<td title="{escape(more)}">{escape(said)}</td>' if more else f"<td>{escape(said)}</td>"


def _bytes(number: float) -> str:
    """A size in the unit that suits it."""
    return f"{number / 2**20:.1f} MiB" if number >= 2**20 else f"{number / 2**10:.1f} KiB"


def apart(facts: dict[str, Any]) -> str:
    """What sets every strategy apart from the first: how many things, and each with what it is here and there."""
    if not facts["unlike"]:
        return ""
    first = escape(facts["strategies"][0]["name"])
    heads = f'<th scope="col">differences from the baseline</th><th scope="col">{first} against it, thing by thing</th>'
    return f"<table><tr>{heads}</tr>{''.join(map(_apart, facts['unlike']))}</table>"


def _apart(one: dict[str, Any]) -> str:
    number = len(one["things"])
    fair = f"differs in {things(number)}" if number else "does the same"
    said = "; ".join(
        f"<b>{escape(what)}</b> {escape(first)} against {escape(other)}" for what, first, other in one["things"]
    )
    return (
        f'<tr><td style="vertical-align:top;min-width:8em">{escape(one["name"])}<br>'
        f'<span class="quiet">{fair}</span></td><td style="font-size:.9em">{said}</td></tr>'
    )


def against(gap: dict[str, Any] | None) -> str:
    """A paired difference in accuracy in a few words; the first strategy has none."""
    if gap is None:
        return "the first"
    room = f" ({gap['low']:+.3f} to {gap['high']:+.3f})" if gap["low"] is not None else ""
    return f"{gap['difference']:+.3f}{room}: {gap['said']}"


def changed(comparison: Any) -> str:
    """Whether the weights that were pre-trained have changed, for all strategies: not one bit, some layers, or all."""
    found: dict[str, list[str]] = {}
    for name, some in comparison.outcomes.items():
        if some:
            found.setdefault(_moved(some), []).append(name)
    lines = [f"{', '.join(names)}: {said}." for said, names in found.items()]
    return "".join(f"<li>{escape(line)}</li>" for line in lines)


def _moved(some: Sequence[Any]) -> str:
    """Which groups of the pre-trained model have moved in any lane of a strategy."""
    groups = [(group, any(o.moved[k] != 0.0 for o in some)) for k, group in enumerate(some[0].groups)]
    own = [(shortened(group, some[0].groups), moves) for group, moves in groups if group.startswith(BODY)]
    moving = [group for group, moves in own if moves]
    if not moving:
        return "pre-trained weights unchanged (bit-identical)"
    if len(moving) == len(own):
        return "all layers of the pre-trained model have changed"
    still = [group for group, moves in own if not moves]
    return f"of the pre-trained model {', '.join(moving)} have changed, and not one bit of {', '.join(still)}"


def untouched(comparison: Any) -> str:
    """What the old task still gives once extra modules are taken out, for every strategy that plugs modules in."""
    lines = []
    for strategy in comparison.strategies:
        some = comparison.outcomes[strategy.name]
        if strategy.extras and some:
            inside = sum(o.plugged_in for o in some) / len(some)
            out = (
                "all old outputs are bit for bit what they were"
                if all(o.unchanged for o in some)
                else f"the old loss has risen by {sum(o.forgetting for o in some) / len(some):.3f} nats"
            )
            lines.append(f"{strategy.name}: plugged in, the old loss rises by {inside:+.3f} nats; taken out, {out}.")
    return "".join(f"<li>{escape(line)}</li>" for line in lines)
