"""The card of an entry: what it is, how its model is built, what it changed over its parent, and its sizes."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from playground.inventory import PhaseFacts, entry_facts
from playground.zoo import Entry, entries
from playground.zoo.changes import FieldChange, changes
from playground.zoo.surveys import family, network, representation, shortened
from widgets.bundle import sheet
from widgets.charts.reference_run import recorded
from widgets.static import svg
from widgets.static.zoo import architecture
from widgets.static.zoo.parts import button, note

STYLE = sheet(__file__)


def markup(entry: Entry) -> str:
    """The whole card."""
    facts = entry_facts(entry)
    size = f"{facts['parameters']:,} parameters with a vocabulary of {facts['vocabulary']} words"
    name = entry.name
    trains = button("train", name, f"Train {name}", "act main")
    stage = button("objective", name, f"{entry.objective.name} on the Stage", "act")
    corpus = button("corpus", name, f"Corpus here: {entry.corpus}", "act")
    return (
        f'<article class="card" aria-label="{escape(name)}"><div class="head"><h2>{escape(name)}</h2>'
        f"{button('entry', '', 'Close', 'act', f'Close the card of {name}')}</div>"
        f'<p class="quiet">{entry.year}, {escape(_kind(entry))}</p><p>{escape(entry.idea)}</p>'
        f'<div class="acts">{trains}{stage}{corpus}</div>'
        f"<h3>The model here</h3>{architecture.markup(entry.model, entry.objective)}{note(size)}"
        f"{_phases(facts['phases'])}{_recorded(entry)}{_changed(entry)}{_children(entry)}"
        f"<h3>Differences from the paper</h3><p>{escape(entry.not_the_paper)}</p>"
        f"<h3>In the paper</h3><dl>{''.join(_paper(entry))}</dl></article>"
    )


def _kind(entry: Entry) -> str:
    """Its network, its stacks and what it makes of a word."""
    return ", ".join(dict.fromkeys((network(entry), family(entry), f"{representation(entry)} vectors")))


def _phases(phases: Sequence[PhaseFacts]) -> str:
    """What is trained one after another, where that is more than one."""
    each = (
        f"<li>{escape(p['name'])}, {p['share']:.0%} of the steps: {escape(p['objective'])} on {escape(p['corpus'])}."
        f" {note(p['idea'])}</li>"
        for p in phases
    )
    return f"<h3>Training phases</h3><ol>{''.join(each)}</ol>" if phases else ""


def _recorded(entry: Entry) -> str:
    """The recorded run of a system of Table 1."""
    if (run := recorded(entry.name)) is None:
        return ""
    first, last = (f"{loss:.2f}" for loss in (run.held_out[0], run.held_out[-1]))
    said = (
        f"On {run.corpus}, with the fast recipe and seed 0, the held-out loss ({run.unit} per position) is {first} "
        f"before training and {last} after {run.steps:,} steps."
    )
    return f"<h3>Recorded run</h3>{svg.sparkline(run.held_out, said)}{note(said)}"


def _changed(entry: Entry) -> str:
    """What is new over the parent: the sentence, and the differences of the two declarations as a diff."""
    if not entry.parent:
        return "<h3>What it changed</h3><p>It is not derived from another system here.</p>"
    groups = groupby(changes(entry), key=lambda change: change.group)
    parts = "".join(
        f'<div class="diff"><h4>{escape(group)}</h4>{"".join(map(_line, lines))}</div>' for group, lines in groups
    )
    return (
        f"<h3>What it changed over {button('entry', entry.parent)}</h3><p>{escape(entry.changed)}</p>"
        f"{parts or '<p>The two declarations do not differ.</p>'}"
    )


def _line(change: FieldChange) -> str:
    return (
        f"<p>{escape(change.part)}: <del>{escape(change.before)}</del> → <ins>{escape(change.after)}</ins>"
        f"{note(change.why)}</p>"
    )


def _children(entry: Entry) -> str:
    """What came of it, each with its card."""
    names = [button("entry", name) for name, other in entries().items() if other.parent == entry.name]
    return f"<h3>Systems derived from it</h3><p>{', '.join(names)}</p>" if names else ""


def _paper(entry: Entry) -> Iterator[str]:
    """Source, texts and sizes, as they were published."""
    yield f"<dt>source</dt><dd>{escape(entry.paper)}</dd><dt>texts</dt><dd>{escape(entry.data)}</dd>"
    for size in entry.published:
        yield f"<dt>{escape(size.name)}</dt><dd>{shortened(size.parameters)} parameters{note(size.where)}</dd>"
