"""A finished comparison in numbers: one row per strategy, each against the first, and the verdict."""

from html import escape
from typing import Any

from playground.finetuning.task import short

HEADS = ("strategy", "{metric}", "forgetting (nats)", "trained parameters", "seconds, all seeds")
MORE = ("steps", "rate", "estimated GFLOP", "stored per task", "against the first (95 % interval)")


def markup(facts: dict[str, Any], differences: bool = False, verdict: bool = True) -> str:
    """Accuracy, forgetting, parameters and seconds of every strategy; `differences` adds costs and paired differences.

    The first strategy is what the others are held against; the verdict stands below unless it is said elsewhere.
    """
    gaps = {gap["name"]: gap for gap in facts.get("against_first", ())}
    named = (head.format(metric=short(facts["metric"])) for head in (HEADS + MORE if differences else HEADS))
    heads = "".join(f"<th>{escape(head)}</th>" for head in named)
    rows = "".join(_row(s, gaps.get(s["name"]), differences) for s in facts["strategies"])
    unlike = "".join(f"<li>{escape(said)}</li>" for said in facts["differences"])
    wide = ' style="min-width:860px"' if differences else ""  # on a narrow screen it scrolls
    table = f'<div style="overflow-x:auto"><table{wide}><tr>{heads}</tr>{rows}</table></div>'
    table += f"<p>{escape(facts['verdict'])}</p>" if verdict else ""
    if not differences:
        return table
    return f"{table}<ul>{unlike}</ul>"


def _row(s: dict[str, Any], gap: dict[str, Any] | None, differences: bool) -> str:
    right, forgot = s["accuracy"], s["forgetting"]
    cells = [
        s["name"], f"{right['mean']:.3f} ± {right['sd']:.3f}", f"{forgot['mean']:+.3f} ± {forgot['sd']:.3f}",
        f"{s['trainable']:,}", f"{s['seconds']:.2f}",
    ]  # fmt: skip
    if differences:
        stored = f"{s['stored']:,} ({s['stored'] * 4 / 1024:.1f} KiB)"
        cells += [f"{s['steps']}", f"{s['rate']:g}", f"{s['flops'] / 1e9:.2f}", stored, against(gap)]
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def against(gap: dict[str, Any] | None) -> str:
    """A paired difference in accuracy in a few words; the first strategy has none."""
    if gap is None:
        return "the first"
    room = f" ({gap['low']:+.3f} to {gap['high']:+.3f})" if gap["low"] is not None else ""
    return f"{gap['difference']:+.3f}{room}: {gap['said']}"


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
