"""Which run suits which task: runs down, tasks across, the accuracy in colour and how alike the words are."""

from collections.abc import Mapping
from html import escape
from typing import Any

from widgets.theme import say
from widgets.tokens import BLUE


def markup(found: Mapping[str, Any], whole: bool) -> str:
    """The table so far; once it is whole, also whether the best run of each task leads by more than the noise."""
    cells = {(one["run"], one["task"]): one for one in found["cells"]}
    heads = "".join(f'<th scope="col">{escape(task)}</th>' for task in found["tasks"])
    rows = ""
    for run in found["runs"]:
        row = "".join(_cell(cells.get((run, task))) for task in found["tasks"])
        rows += f'<tr><th scope="row">{escape(run)}</th>{row}</tr>'
    table = f'<div style="overflow-x:auto"><table><tr><th>run</th>{heads}</tr>{rows}</table></div>'
    return table + (_verdicts(found) if whole else "")


def _cell(one: Mapping[str, Any] | None) -> str:
    """Accuracy, the likeness of the words below it; a dash with the reason where a run cannot do a task."""
    if one is None:
        return '<td class="quiet">…</td>'
    alike = f'<span class="quiet" style="display:block">alike {one["alike"]:.2f}</span>'
    if one["accuracy"] is None:
        return f'<td title="{escape(one["reason"])}">–{alike}</td>'
    full = round(150 * max(0.0, one["accuracy"] - 0.3) / 0.7)
    return f'<td style="background:{BLUE}{full:02x};padding-left:8px"><b>{one["accuracy"]:.3f}</b>{alike}</td>'


def _verdicts(found: Mapping[str, Any]) -> str:
    """A verdict for every task, what goes along with what, and why a run could not do a task."""
    lines = [f"{task}: {said}" for task, said in found["verdicts"].items()]
    lines += dict.fromkeys(f"{one['run']}, {one['task']}: {one['reason']}" for one in found["cells"] if one["reason"])
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>{say(found['said'], 'quiet')}"
