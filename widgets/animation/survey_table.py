"""The survey's whole table for one sentence, drawn as the stage draws: the landing view, and a cell of a notebook."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from playground.objectives import Objective
from playground.trace import frames
from playground.trace.rebuild import Rebuilt
from widgets.animation.export_html import document, packed
from widgets.animation.record import typeset
from widgets.bundle import beside

if TYPE_CHECKING:
    from panel.custom import AnyWidgetComponent

Row = dict[str, Any]
Refused = Sequence[tuple[Objective, str]]

TITLE = "One sentence, eleven objectives"
ABOUT = "Each row opens its stage. In the squares a row is a word, and its coloured cells are what it may attend to."


TABLE_ESM = beside(__file__, "js/survey_table.js")


@cache
def _pane_class() -> "type[AnyWidgetComponent]":
    import param

    from widgets.panel_compat import Component

    class TablePane(Component):
        """The table in the served app."""

        _esm = TABLE_ESM
        table = param.Dict(default={}, doc="The rows to draw.")
        opened = param.Dict(default={}, doc="The row that the person opened last, and how many were opened.")

    return TablePane


def table_pane(table: Mapping[str, Any], **parameters: Any) -> "AnyWidgetComponent":
    """The table as a Panel component; Panel is imported here, not before."""
    return _pane_class()(**{"sizing_mode": "stretch_width", "table": dict(table), **parameters})


def table_data(text: str, done: Sequence[Rebuilt], refused: Refused, stages: bool = False) -> dict[str, Any]:
    """What the table draws, in the survey's order; with `stages` also what each row unfolds to without a kernel."""
    made = {rebuilt.objective.name: _row(rebuilt) for rebuilt in done} | {
        o.name: _lacking(o, why) for o, why in refused
    }
    order = sorted([*(r.objective for r in done), *(o for o, _ in refused)], key=lambda o: o.rank)
    data = {
        "title": TITLE,
        "subtitle": f"{ABOUT}{_left_out(done)}",
        "text": text,
        "rows": [made[o.name] for o in order],
    }
    return data | ({"stages": {r.objective.name: typeset(r.record()) for r in done}} if stages else {})


def _left_out(done: Sequence[Rebuilt]) -> str:
    """What the rows leave out of a long text; the stage shows more of it."""
    cut = next((each for made in done for each in made.left_out), None)
    return f" {cut}" if cut is not None else ""


def _row(made: Rebuilt) -> Row:
    matrices = frames.matrices(made.example, made.verdict, 0)
    return _about(made.objective) | made.cells() | {"matrices": matrices, "signal": made.signal}


def _lacking(objective: Objective, reason: str) -> Row:
    return _about(objective) | {"reason": reason}


def _about(objective: Objective) -> Row:
    return {"name": objective.name, "row": objective.row, "idea": objective.idea, "source": objective.source}


@dataclass(frozen=True)
class Wall:
    """The table in a notebook: rows unfold their stages, also where there is no kernel and no network."""

    text: str
    done: Sequence[Rebuilt]
    refused: Refused

    @property
    def facts(self) -> list[dict[str, Any]]:
        """The same rows as `playground table --json`."""
        return [made.facts() for made in self.done]

    def data(self) -> dict[str, Any]:
        return table_data(self.text, self.done, self.refused, stages=True)

    def _repr_html_(self) -> str:
        return standalone_table(self.data())

    def page(self) -> str:
        """A whole HTML document that needs neither kernel nor network."""
        return document(f"<style>body {{ max-width: 3800px; }}</style>\n{standalone_table(self.data())}", TITLE)


def standalone_table(data: Mapping[str, Any]) -> str:
    """A self-contained fragment: the drawn table where scripts run, the table in words where they do not."""
    name = f"table-{uuid4().hex[:12]}"
    return (
        f'<div id="{name}">{in_words(data)}</div>\n<script type="module">\n{TABLE_ESM}\n'
        f'mountTable(document.getElementById("{name}"), await unpacked("{packed(dict(data))}"));\n</script>'
    )


def in_words(data: Mapping[str, Any]) -> str:
    """The table as tags that every sanitiser keeps."""
    rows = "".join(_words(row) for row in data["rows"])
    heads = "".join(f"<th>{head}</th>" for head in ("Objective", "The model is given", "It must predict"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _words(row: Row) -> str:
    if "reason" in row:
        return f"<tr><th>{escape(row['name'])}</th><td colspan='2'>{escape(row['reason'])}</td></tr>"
    said = (" ".join(cell["text"] for cell in row[part]) for part in ("inputs", "targets"))
    return f"<tr><th>{escape(row['name'])}</th>" + "".join(f"<td>{escape(s)}</td>" for s in said) + "</tr>"
