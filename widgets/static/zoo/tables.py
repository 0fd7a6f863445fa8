"""The surveys' tables of systems, and that of measured properties, drawn from what the entries of the zoo declare."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from playground.training.properties import Properties
from playground.zoo import Entry, entries
from playground.zoo.surveys import family, network, reads, shortened, sizes
from widgets.static.zoo.parts import button, note

Measured = Mapping[str, Properties | str]
"""The properties of an entry by its name, or the sentence that says why it could not be measured."""

NONE = '<span class="quiet">–</span>'


@dataclass(frozen=True)
class Heading:
    """A column: its name, what it means, the cell of an entry in it, and how the cell looks."""

    name: str
    says: str
    cell: Callable[[Entry], str]
    looks: str = ""


def survey(first: Sequence[str], rest: Sequence[str]) -> str:
    """Table 1 of the survey, its thirteen rows first."""
    return _table("The survey's Table 1, made from the zoo", SURVEY, first, rest)


def qiu(first: Sequence[str], rest: Sequence[str]) -> str:
    """Table 2 of Qiu et al., as far as its systems are here, and the other entries."""
    return _table("Table 2 of Qiu et al., made from the zoo", QIU, first, rest)


def properties(first: Sequence[str], rest: Sequence[str], measured: Measured) -> str:
    """What was measured of each entry so far."""
    headings = (NAME, *(_measured(heading, measured) for heading in MEASURED), TRAIN)
    return _table("Properties, measured with the models of the zoo", headings, first, rest)


def _table(title: str, headings: Sequence[Heading], first: Sequence[str], rest: Sequence[str]) -> str:
    heads = "".join(
        f'<th scope="col" title="{escape(h.says)}" class="{h.looks}">{escape(h.name)}</th>' for h in headings
    )
    title_row = "Other systems of the zoo, the oldest first"
    other = f'<tr><th class="part" scope="rowgroup" colspan="{len(headings)}">{title_row}</th></tr>'
    bodies = (_rows(headings, first), other + _rows(headings, rest))
    return (
        f'<div class="wide"><table aria-label="{escape(title)}"><thead><tr>{heads}</tr></thead>'
        f"{''.join(f'<tbody>{body}</tbody>' for body in bodies)}</table></div>"
    )


def _rows(headings: Sequence[Heading], names: Sequence[str]) -> str:
    return "".join(_row(headings, entries()[name]) for name in names)


def _row(headings: Sequence[Heading], entry: Entry) -> str:
    first, *others = headings
    cells = "".join(f'<td class="{h.looks}">{h.cell(entry)}</td>' for h in others)
    return f'<tr data-row="{escape(entry.name)}"><th scope="row">{first.cell(entry)}</th>{cells}</tr>'


def _name(entry: Entry) -> str:
    return button("entry", entry.name) + note(str(entry.year))


def _architecture(entry: Entry) -> str:
    printed = entry.printed.get("stacks", "")
    return escape(network(entry)) + note(f"printed as {printed}" if printed else "")


def _has(stack: str) -> Callable[[Entry], str]:
    return lambda entry: "✓" if stack in entry.model.stacks else "✗"


def _objective(cell: str) -> Callable[[Entry], str]:
    """The objective, which opens the Stage, and what the table prints where that is said otherwise."""

    def made(entry: Entry) -> str:
        objective, printed = entry.objective, entry.printed.get(cell, "")
        same = printed in ("", objective.name, objective.row)
        says = f"{objective.name}, the objective of {entry.name}, on the Stage"
        return button("objective", entry.name, objective.name, says=says) + note("" if same else f"printed: {printed}")

    return made


def _qiu_architecture(entry: Entry) -> str:
    both = family(entry) == "encoder and decoder"
    side = "" if entry.model.kind != "transformer" or both else f" {family(entry).title()[:3]}."
    return escape(f"{network(entry)}{side}")


def _printed(cell: str) -> Callable[[Entry], str]:
    """A cell as a survey prints it."""
    return lambda entry: escape(entry.printed.get(cell, "")) or NONE


def _parameters(entry: Entry) -> str:
    return escape(sizes(entry)) or NONE


NAME = Heading("Method", "The system; its name opens its card.", _name)
TRAIN = Heading(
    "Run", "Trains the system at tiny size, on the Train page.",
    lambda entry: button("train", entry.name, "Train", "act", f"Train {entry.name}"),
)  # fmt: skip
DATASET = Heading("Dataset", "The texts that its authors trained on.", lambda entry: escape(entry.data), "loose")
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
    Heading("Input", "What a training example holds.", lambda entry: escape(reads(entry)), "some"),
    Heading("Pre-training task", "The pre-training objective; opens the Stage.", _objective("task"), "some"),
    Heading("Corpus", DATASET.says, DATASET.cell, "loose"),
    Heading("Params", SIZES.says, SIZES.cell),
    Heading("GLUE", "Mean over the tasks of GLUE, as Qiu et al. print it.", _printed("GLUE"), "some"),
    Heading("FT?", "Whether it is usually fine-tuned, as Qiu et al. print it.", _printed("FT")),
    TRAIN,
)  # fmt: skip


@dataclass(frozen=True)
class Property:
    """A column of what is measured: its name, what it means, and its words for a value."""

    name: str
    says: str
    words: Callable[[Properties], str]


MEASURED = (
    Property(
        "Right context", "Whether the hidden state of a token changes with the tokens after it.",
        lambda p: _yes(p.right_context),
    ),
    Property(
        "Mismatch", "Share of input positions with a special token that no text in use has, such as [MASK].",
        lambda p: f"{p.mismatch:.0%}" if p.mismatch == 0 or p.mismatch >= 0.01 else f"{p.mismatch:.1%}",
    ),
    Property("Can generate", "Whether it can generate text token by token.", lambda p: _yes(p.generates)),
    Property("Scored positions", "Share of the input positions that have a loss.", lambda p: f"{p.taught:.0%}"),
    Property("One step", "Time of one training step on this machine.", lambda p: f"{p.step_ms:,.1f} ms"),
    Property("Per scored position", "Time of a step over its scored positions.", lambda p: f"{p.taught_us:,.1f} µs"),
    Property("Parameters", "Trainable parameters of the tiny model here.", lambda p: shortened(p.parameters)),
)  # fmt: skip


def _yes(answer: bool) -> str:
    return "✓ yes" if answer else "✗ no"


def _measured(column: Property, measured: Measured) -> Heading:
    def cell(entry: Entry) -> str:
        found = measured.get(entry.name)
        if found is None:
            return '<span class="quiet">not measured yet</span>'
        return f'<span title="{escape(found)}">–</span>' if isinstance(found, str) else escape(column.words(found))

    return Heading(column.name, column.says, cell)


def legend(headings: Sequence[Heading | Property]) -> str:
    """What the columns mean, as one paragraph."""
    return " ".join(f"<b>{escape(h.name)}</b>: {escape(h.says)}" for h in headings)
