"""The surveys' tables of systems, and that of measured properties, drawn from what the entries of the zoo declare."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from playground.training.properties import Properties
from playground.zoo import Entry, entries
from playground.zoo.surveys import family, network, reads, shortened, sizes
from widgets.static.zoo.parts import button, note

Found = Properties | str | None
"""What was measured of an entry, or the sentence that says why it could not be measured."""

NONE = '<span class="quiet">–</span>'


@dataclass(frozen=True)
class Heading:
    """A column: its name, what it means, the cell of an entry in it, and how the cell looks."""

    name: str
    says: str
    cell: Callable[[Entry, Found], str]
    looks: str = ""


def markup(view: str, first: Sequence[str], rest: Sequence[str], measured: Mapping[str, Found]) -> str:
    """The table of a view: its own systems first, then the others of the zoo."""
    title, headings = TABLES[view]
    heads = "".join(
        f'<th scope="col" title="{escape(h.says)}" class="{h.looks}">{escape(h.name)}</th>' for h in headings
    )
    own, others = (
        "".join(_row(headings, entries()[name], measured.get(name)) for name in names) for names in (first, rest)
    )
    part = f'<th class="part" scope="rowgroup" colspan="{len(headings)}">Other systems of the zoo, '
    return (
        f'<div class="wide"><table aria-label="{escape(title)}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{own}</tbody><tbody><tr>{part}the oldest first</th></tr>{others}</tbody></table></div>"
    )


def _row(headings: Sequence[Heading], entry: Entry, found: Found) -> str:
    first, *others = headings
    cells = "".join(f'<td class="{h.looks}">{h.cell(entry, found)}</td>' for h in others)
    return f'<tr data-row="{escape(entry.name)}"><th scope="row">{first.cell(entry, found)}</th>{cells}</tr>'


def _name(entry: Entry, _: Found) -> str:
    return button("entry", entry.name) + note(str(entry.year))


def _architecture(entry: Entry, _: Found) -> str:
    printed = entry.printed.get("stacks", "")
    return escape(network(entry)) + note(f"printed as {printed}" if printed else "")


def _has(stack: str) -> Callable[[Entry, Found], str]:
    return lambda entry, _: "✓" if stack in entry.model.stacks else "✗"


def _objective(cell: str) -> Callable[[Entry, Found], str]:
    """The objective, which opens the Stage, and what the table prints where that is said otherwise."""

    def made(entry: Entry, _: Found) -> str:
        objective, printed = entry.objective, entry.printed.get(cell, "")
        same = printed in ("", objective.name, objective.row)
        says = f"{objective.name}, the objective of {entry.name}, on the Stage"
        return button("objective", entry.name, objective.name, says=says) + note("" if same else f"printed: {printed}")

    return made


def _qiu_architecture(entry: Entry, _: Found) -> str:
    both = family(entry) == "encoder and decoder"
    side = "" if entry.model.kind != "transformer" or both else f" {family(entry).title()[:3]}."
    return escape(f"{network(entry)}{side}")


def _printed(cell: str) -> Callable[[Entry, Found], str]:
    """A cell as a survey prints it."""
    return lambda entry, _: escape(entry.printed.get(cell, "")) or NONE


def _parameters(entry: Entry, _: Found) -> str:
    return escape(sizes(entry)) or NONE


NAME = Heading("Method", "The system; its name opens its card.", _name)
TRAIN = Heading(
    "Run", "Trains the system at tiny size, on the Train page.",
    lambda entry, _: button("train", entry.name, "Train", "act", f"Train {entry.name}"),
)  # fmt: skip
DATASET = Heading("Dataset", "The texts that its authors trained on.", lambda entry, _: escape(entry.data), "loose")
SIZES = Heading("Parameters", "Of the published sizes, from the smallest to the largest.", _parameters)

SURVEY = (
    NAME,
    Heading("Architecture", "What the network is made of.", _architecture, "some"),
    Heading("Encoder", "A stack that sees both sides of a word.", _has("encoder")),
    Heading("Decoder", "A stack that sees one side of a word, so that it can write.", _has("decoder")),
    Heading("Objective", "The pre-training objective; opens the Stage.", _objective("objective"), "some"),
    DATASET, SIZES, TRAIN,
)  # fmt: skip

QIU = (
    NAME,
    Heading("Architecture", "Enc. sees both sides of a word, Dec. the left side alone.", _qiu_architecture, "some"),
    Heading("Input", "What a training example consists of.", lambda entry, _: escape(reads(entry)), "some"),
    Heading("Pre-training task", "The pre-training objective; opens the Stage.", _objective("task"), "some"),
    Heading("Corpus", DATASET.says, DATASET.cell, "loose"),
    Heading("Params", SIZES.says, SIZES.cell),
    Heading("GLUE", "Mean over the tasks of GLUE, as Qiu et al. print it.", _printed("GLUE"), "some"),
    Heading("FT?", "Whether it is usually fine-tuned, as Qiu et al. print it.", _printed("FT")),
    TRAIN,
)  # fmt: skip


def _measured(name: str, says: str, words: Callable[[Properties], str]) -> Heading:
    """A column of what is measured, with its words for a value."""

    def cell(_: Entry, found: Found) -> str:
        if found is None:
            return '<span class="quiet">not measured yet</span>'
        return f'<span title="{escape(found)}">–</span>' if isinstance(found, str) else escape(words(found))

    return Heading(name, says, cell)


def _yes(answer: bool) -> str:
    return "✓ yes" if answer else "✗ no"


MEASURED = (
    _measured(
        "Right context", "Whether the hidden state of a token changes with the tokens after it.",
        lambda p: _yes(p.right_context),
    ),
    _measured(
        "Mismatch", "Share of input positions with a special token that no text in use has, such as [MASK].",
        lambda p: f"{p.mismatch:.0%}" if p.mismatch == 0 or p.mismatch >= 0.01 else f"{p.mismatch:.1%}",
    ),
    _measured("Can generate", "Whether it can generate text token by token.", lambda p: _yes(p.generates)),
    _measured("Scored positions", "Share of the input positions that have a loss.", lambda p: f"{p.taught:.0%}"),
    _measured("One step", "Time of one training step on this machine.", lambda p: f"{p.step_ms:,.1f} ms"),
    _measured("Per scored position", "Time of a step over its scored positions.", lambda p: f"{p.taught_us:,.1f} µs"),
    _measured("Parameters", "Trainable parameters of the tiny model here.", lambda p: shortened(p.parameters)),
)  # fmt: skip


TABLES = {
    "survey": ("The survey's Table 1, made from the zoo", SURVEY),
    "qiu": ("Table 2 of Qiu et al., made from the zoo", QIU),
    "properties": ("Properties, measured with the models of the zoo", (NAME, *MEASURED, TRAIN)),
}
"""The title and the columns of each view."""


def legend() -> str:
    """What is measured, as one paragraph."""
    return " ".join(f"<b>{escape(h.name)}</b>: {escape(h.says)}" for h in MEASURED)
