"""Tasks learnt one after another: what is left of each after each, for every strategy."""

from collections.abc import Callable, Sequence
from html import escape

from playground.finetuning.comparing.continual import ContinualResult, LearnedTasks, SequenceFacts
from playground.finetuning.report.page import signed
from widgets.design_tokens import BLUE

ByTask = dict[str, dict[int, list[float]]]
"""Values after 1, 2, ... tasks, by strategy, one for each seed."""


def first_task(passed: Sequence[ContinualResult], names: Sequence[str]) -> ByTask:
    """The accuracy on the first task."""
    return _by_task(passed, names, lambda one: [row[0] for row in one.matrix])


def pre_training(passed: Sequence[ContinualResult], names: Sequence[str]) -> ByTask:
    """The rise of the pre-training loss."""
    return _by_task(passed, names, lambda one: one.forgetting)


def _by_task(
    passed: Sequence[ContinualResult], names: Sequence[str], values: Callable[[ContinualResult], Sequence[float | None]]
) -> ByTask:
    found: ByTask = {name: {} for name in names}
    for one in passed:
        for learnt, value in enumerate(values(one), 1):
            if value is not None:
                found.setdefault(one.strategy.name, {}).setdefault(learnt, []).append(value)
    return found


def markup(found: SequenceFacts) -> str:
    """A table for each strategy, a row for what had been learnt by then, a column for each task, and the change."""
    tables = "".join(_one(found["tasks"], one, found["unit"]) for one in found["strategies"])
    columns = "repeat(auto-fill,minmax(min(250px,100%),1fr))"
    return f'<div style="display:grid;grid-template-columns:{columns};gap:10px 34px">{tables}</div>'


def _one(tasks: Sequence[str], one: LearnedTasks, unit: str) -> str:
    heads = "".join(f'<th scope="col">{escape(task)}</th>' for task in tasks)
    rows = "".join(_row(task, row, len(tasks)) for task, row in zip(tasks, one["matrix"], strict=True))
    changes = ("0, exactly" if value == 0.0 else f"{value:+.3f}" for value in one["changes"])
    cells = "".join(f'<td style="padding-left:8px">{change}</td>' for change in changes)
    return (
        f'<div style="min-width:0"><div style="overflow-x:auto"><table><caption '
        f'style="text-align:left;font-weight:600;padding:6px 0">{escape(one["name"])}</caption>'
        f'<tr><th scope="col">after learning</th>{heads}</tr>{rows}'
        f'<tr><th scope="row">change since learned</th>{cells}<td></td></tr></table></div>'
        f'<p class="quiet">Earlier tasks changed by {signed(one["backward"])} on average, the '
        f"pre-training loss by {signed(one['forgetting'], unit)}.</p></div>"
    )


def _row(task: str, row: Sequence[float], number: int) -> str:
    """A row of accuracies, the colour from nothing at 0.3 to full from 1 on."""
    full = [round(110 * min(1.0, max(0.0, (value - 0.3) / 0.7))) for value in row]
    cells = "".join(
        f'<td style="background:{BLUE}{alpha:02x};padding-left:8px">{value:.3f}</td>'
        for alpha, value in zip(full, row, strict=True)
    )
    return f'<tr><th scope="row">{escape(task)}</th>{cells}{"<td></td>" * (number - len(row))}</tr>'
