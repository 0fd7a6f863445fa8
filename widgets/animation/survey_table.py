"""The survey's whole table for one sentence, drawn as the stage draws: the landing view, and a cell of a notebook."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from playground.objectives import Objective
from playground.trace import frames
from playground.trace.rebuild import Rebuilt
from widgets.animation.export_html import document, fragment, packed
from widgets.animation.record import typeset

Row = dict[str, Any]
Refused = Sequence[tuple[Objective, str]]

TITLE = "One sentence, eleven objectives"
ABOUT = (
    "Click a row to open its stage. In an attention mask a row is a word; its coloured cells are what it attends to."
)


def table_data(text: str, done: Sequence[Rebuilt], refused: Refused, stages: bool = False) -> dict[str, Any]:
    """What the table draws, in the survey's order; with `stages` also what each row unfolds to without a kernel."""
    rows: list[tuple[Objective, Row]] = [(lacking, {"reason": why}) for lacking, why in refused]
    for made in done:
        drawn = {"matrices": frames.matrices(made.batch, made.verdict, 0), "signal": made.signal}
        rows.append((made.objective, made.cells() | drawn))
    left_out = next((f" {each}" for made in done for each in made.left_out), "")  # of a long text
    data: dict[str, Any] = {"title": TITLE, "subtitle": f"{ABOUT}{left_out}", "text": text}
    data["rows"] = [
        {"name": o.name, "row": o.row, "idea": o.idea, "source": o.source, **row}
        for o, row in sorted(rows, key=lambda pair: pair[0].order)
    ]
    return data | ({"stages": {r.objective.name: typeset(r.record()) for r in done}} if stages else {})


def table_page(data: Mapping[str, Any]) -> str:
    """A whole HTML document that needs neither kernel nor network."""
    return document(f"<style>body {{ max-width: 3800px; }}</style>\n{table_fragment(data)}", TITLE)


def table_fragment(data: Mapping[str, Any], module: bool = True, reserve: str = "") -> str:
    """The drawn table where scripts run, the table in words where they do not."""
    return fragment("table", in_words(data), packed(data), module, reserve)


def in_words(data: Mapping[str, Any]) -> str:
    """The table as tags that every sanitiser keeps."""
    rows = "".join(_words(row) for row in data["rows"])
    heads = "".join(f"<th>{head}</th>" for head in ("Objective", "The model is given", "It must predict"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _words(row: Row) -> str:
    if "reason" in row:
        return f"<tr><th>{escape(row['name'])}</th><td colspan='2'>{escape(row['reason'])}</td></tr>"
    texts = (" ".join(cell["text"] for cell in row[part]) for part in ("inputs", "targets"))
    return f"<tr><th>{escape(row['name'])}</th>" + "".join(f"<td>{escape(text)}</td>" for text in texts) + "</tr>"
