"""A finished comparison in numbers: one row per strategy, each against the first, and the verdict."""

from collections.abc import Callable, Sequence
from html import escape

from playground.finetuning.comparing.compare import Comparison, ComparisonFacts, StrategyFacts
from playground.finetuning.comparing.significance import Verdict
from playground.finetuning.data.task import short
from playground.finetuning.report.page import signed
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import BODY
from playground.finetuning.strategy.compose import things
from playground.training.parallel.seeds import spread_if_measured
from widgets.charts.columns import shortened
from widgets.charts.wide_table import wide_table

COLUMNS: dict[str, Callable[[StrategyFacts, Verdict | None], str]] = {
    "strategy": lambda s, _: _cell(s["name"]),
    "{metric}": lambda s, _: _cell(f"{s['accuracy']['mean']:.3f} ± {s['accuracy']['sd']:.3f}"),
    "vs. baseline (95 % CI)": lambda _, gap: paired_difference(gap),
    "forgetting ({unit})": lambda s, _: _cell(signed(s["forgetting"])),
    "trained parameters": lambda s, _: _cell(f"{s['trainable']:,}"),
    "stored per task": lambda s, _: _cell(_bytes(4 * s["stored"]), f"{s['stored']:,} parameters"),
    "memory of a step": lambda s, _: _cell(
        _bytes(s["memory"]), ", ".join(f"{name} {_bytes(size)}" for name, size in s["held"].items())
    ),
    "seconds, all seeds": lambda s, _: _cell(f"{s['seconds']:.2f}"),
    "steps at rate": lambda s, _: _rate(s),
    "estimated GFLOP": lambda s, _: _cell(f"{s['flops'] / 1e9:.2f}"),
}
"""The cell of a strategy in each column; what matters most stands first, for on a narrow screen the table scrolls."""

FEW = ("strategy", "{metric}", "forgetting ({unit})", "trained parameters", "seconds, all seeds")
"""The columns of the short table."""


def markup(facts: ComparisonFacts, differences: bool = False, verdict: bool = True) -> str:
    """Accuracy, forgetting, parameters and seconds of every strategy; `differences` adds costs and paired differences.

    The first strategy is what the others are compared with; `verdict` adds the verdict and notices below.
    """
    gaps = {gap["name"]: gap for gap in facts["against_first"]}
    columns = COLUMNS if differences else {head: COLUMNS[head] for head in FEW}
    heads = [head.format(metric=short(facts["metric"]), unit=facts["unit"]) for head in columns]
    rows = ((cell(s, gaps.get(s["name"])) for cell in columns.values()) for s in facts["strategies"])
    table = wide_table("outcomes", heads, rows, small=differences)
    table += "".join(f"<p>{escape(line)}</p>" for line in (facts["verdict"], *facts["notices"]) if verdict)
    return table + _apart(facts) if differences else table


def paired_difference(gap: Verdict | None, none: str = "baseline") -> str:
    """The cell of a paired difference with its interval, and whether it is beyond the noise; the first has `none`."""
    if gap is None:
        return f'<td class="loose">{none}</td>'
    room = f" ({gap['low']:+.3f} to {gap['high']:+.3f})" if gap["low"] is not None else ""
    said = f'<br><span class="quiet">{escape(gap["said"])}</span>'
    return f'<td class="loose">{gap["difference"]:+.3f}{room}{said}</td>'


def _rate(s: StrategyFacts) -> str:
    """Steps and rate, with whose rate that is; where it was published stands where the pointer rests."""
    if not s["rate_from"]:
        return _cell("none")
    whose = s["rate_from"]
    said = f'{s["steps"]} at {s["rate"]:g}<br><span class="quiet">{escape(whose)}</span>'
    return f'<td title="{escape(": ".join(filter(None, (whose, s["rate_where"]))))}">{said}</td>'


def _cell(text: str, more: str = "") -> str:
    """A cell; `more` is shown where the pointer rests."""
    return f'<td title="{escape(more)}">{escape(text)}</td>' if more else f"<td>{escape(text)}</td>"


def _bytes(number: float) -> str:
    """A size in the unit that suits it."""
    return f"{number / 2**20:.1f} MiB" if number >= 2**20 else f"{number / 2**10:.1f} KiB"


def _apart(facts: ComparisonFacts) -> str:
    """What sets every strategy apart from the first: how many things, and each with what it is here and there."""
    if not facts["unlike"]:
        return ""
    first = escape(facts["strategies"][0]["name"])
    heads = f'<th scope="col">differences from the baseline</th><th scope="col">{first} against it</th>'
    rows = ""
    for one in facts["unlike"]:
        number = len(one["things"])
        said = "; ".join(f"<b>{escape(w)}</b> {escape(a)} against {escape(b)}" for w, a, b in one["things"])
        rows += (
            f'<tr><td style="vertical-align:top;min-width:8em">{escape(one["name"])}<br><span class="quiet">'
            f"{f'differs in {things(number)}' if number else 'does the same'}</span></td>"
            f'<td style="font-size:.9em">{said}</td></tr>'
        )
    return f"<table><tr>{heads}</tr>{rows}</table>"


def changed(comparison: Comparison) -> str:
    """Whether the weights that were pre-trained have changed, for all strategies: not one bit, some layers, or all."""
    found: dict[str, list[str]] = {}
    for name, some in comparison.outcomes.items():
        if some:
            found.setdefault(_moved(some), []).append(name)
    return "".join(f"<li>{escape(', '.join(names))}: {escape(said)}.</li>" for said, names in found.items())


def _moved(some: Sequence[Result]) -> str:
    """Which groups of the pre-trained model have moved in any trial of a strategy."""
    groups = some[0].groups
    own = {
        shortened(group, groups): any(o.moved[k] != 0.0 for o in some)
        for k, group in enumerate(groups)
        if group.startswith(BODY)
    }
    moving = [group for group, moves in own.items() if moves]
    if not moving:
        return "pre-trained weights unchanged (bit-identical)"
    if len(moving) == len(own):
        return "all layers of the pre-trained model have changed"
    still = [group for group in own if group not in moving]
    return f"of the pre-trained model {', '.join(moving)} have changed; {', '.join(still)} are bit-identical"


def untouched(comparison: Comparison) -> str:
    """What the old task still gives once extra modules are taken out, for every strategy that plugs modules in."""
    lines = ""
    for strategy in comparison.strategies:
        some = comparison.outcomes[strategy.name]
        if strategy.adapters and some:
            inside, out = (
                _rise([getattr(o, what) for o in some], comparison.unit) for what in ("plugged_in", "forgetting")
            )
            if all(o.unchanged for o in some):
                out = "pre-training outputs are bit-identical"
            name = escape(strategy.name)
            lines += f"<li>{name}: with the modules attached, {inside}; with the modules removed, {out}.</li>"
    return lines


def _rise(values: Sequence[float | None], unit: str) -> str:
    rise = spread_if_measured(values)
    return f"the pre-training loss rises by {signed(rise, unit)}" if rise else "the pre-training loss is not measured"
