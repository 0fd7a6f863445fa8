"""Tasks learnt one after another: what is left of each after each, for every strategy."""

from collections.abc import Sequence
from html import escape
from typing import Any

from playground.finetuning.comparing.continual import ContinualResult
from widgets.theme import BLUE


def first_task(passed: Sequence[ContinualResult], names: Sequence[str]) -> dict[str, dict[int, list[float]]]:
    """How well the first task is still answered after 1, 2, ... tasks, by strategy, a value for each seed."""
    found: dict[str, dict[int, list[float]]] = {name: {} for name in names}
    for one in passed:
        for learnt, row in enumerate(one.matrix, 1):
            found.setdefault(one.strategy.name, {}).setdefault(learnt, []).append(row[0])
    return found


def pre_training(passed: Sequence[ContinualResult], names: Sequence[str]) -> dict[str, dict[int, list[float]]]:
    """The rise of the pre-training loss after 1, 2, ... tasks, by strategy, a value for each seed."""
    found: dict[str, dict[int, list[float]]] = {name: {} for name in names}
    for one in passed:
        for learnt, lost in enumerate(one.forgetting, 1):
            found.setdefault(one.strategy.name, {}).setdefault(learnt, []).append(lost)
    return found


def markup(found: dict[str, Any]) -> str:
    """A table for each strategy, a row for what had been learnt by then, a column for each task, and the change."""
    tables = "".join(_one(found["tasks"], one) for one in found["strategies"])
    columns = "repeat(auto-fill,minmax(min(250px,100%),1fr))"
    return f'<div style="display:grid;grid-template-columns:{columns};gap:10px 34px">{tables}</div>'


def _one(tasks: Sequence[str], one: dict[str, Any]) -> str:
    heads = "".join(f'<th scope="col">{escape(task)}</th>' for task in tasks)
    rows = "".join(_row(task, row, len(tasks)) for task, row in zip(tasks, one["matrix"], strict=True))
    change = "".join(f'<td style="padding-left:8px">{_change(value)}</td>' for value in one["changes"])
    back, lost = one["backward"], one["forgetting"]
    said = (
        f"Earlier tasks changed by {back['mean']:+.3f} ± {back['sd']:.3f} on average, the pre-training loss by "
        f"{lost['mean']:+.3f} nats."
    )
    return (
        f'<div style="min-width:0"><div style="overflow-x:auto"><table><caption '
        f'style="text-align:left;font-weight:600;padding:6px 0">{escape(one["name"])}</caption>'
        f'<tr><th scope="col">after learning</th>{heads}</tr>{rows}'
        f'<tr><th scope="row">change since learnt</th>{change}<td></td></tr></table></div>'
        f'<p class="quiet">{escape(said)}</p></div>'
    )


def _row(task: str, row: Sequence[float], number: int) -> str:
    cells = "".join(f'<td style="background:{BLUE}{_strength(v)};padding-left:8px">{v:.3f}</td>' for v in row)
    return f'<tr><th scope="row">{escape(task)}</th>{cells}{"<td></td>" * (number - len(row))}</tr>'


def _strength(value: float) -> str:
    """How full the colour is, as two hexadecimal digits: nothing at 0.3, full from 1 on."""
    return f"{round(110 * min(1.0, max(0.0, (value - 0.3) / 0.7))):02x}"


def _change(value: float) -> str:
    return "0, exactly" if value == 0.0 else f"{value:+.3f}"
