"""One loss, four names: all 2^T ways to hide words of a sentence, and the best and worst order of prediction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from playground.analysis.finding import Curve, Finding, Matrix, Number, Table, Words, columns_of
from playground.analysis.floor.automaton import automaton_of
from playground.analysis.floor.chart import ParseChart
from playground.analysis.instrument import Instrument, scores_words
from playground.analysis.lattice import MOST, Lattice, Order, lattice_of, not_masked
from playground.analysis.subject import Subject
from playground.errors import UserError
from playground.knob import knob

RATES = [k / 20 for k in range(1, 21)]
"""Mask ratios at which MLM is drawn."""

BERT = 0.15
"""The mask ratio of BERT (arXiv:1810.04805, sec. 3.1)."""


@dataclass(frozen=True)
class Settings:
    """Which sentence; its first words are taken."""

    sentence: str = knob("", why="A sentence of your own; empty for a held-out one.")
    words: int = knob(8, 2, MOST, unit="words", why="Each further word doubles the number of masks.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """All losses of one sentence, summed in four ways."""
    whole = subject.sentence(settings.sentence).ids[0].tolist()
    ids = whole[: settings.words]
    text = "the sentence" if len(ids) == len(whole) else f"the first {len(ids)} of {len(whole)} tokens"
    words = [subject.tokenizer.words[number] for number in ids]
    lattice = lattice_of(subject.model, ids, subject.tokenizer)
    subject.count(2 ** len(ids), "masks")
    best, worst, left = lattice.best_order(), lattice.worst_order(), lattice.in_order(range(len(ids)))
    known = _known(subject, ids)
    orders = {"best order": best, "worst order": worst, "left to right": left}
    first = " ".join(words[position] for position in best.positions[:3])
    return Finding(
        f"The best order of prediction gives {text} {best.nats:.2f} nats, the worst {worst.nats:.2f}; "
        f"the best begins with: {first}.",
        (
            Number("any-order prediction", lattice.any_order(), "nats a sentence", known),
            Number("masked diffusion", lattice.masked_diffusion(), "nats a sentence", known),
            Number("mask-predict", lattice.mask_predict(), "nats a sentence", known),
            Number("MLM, 15 % hidden", lattice.masked_at(BERT), "nats a sentence, no bound", known),
            *(Number(name, order.nats, "nats a sentence", known) for name, order in orders.items()),
        ),
        (
            _heat(words, lattice),
            _steps(words, orders),
            Table(
                "MLM at a mask ratio", {"mask ratio": RATES, "nats": [lattice.masked_at(rate) for rate in RATES]},
                Curve("mask ratio", "nats"), unit="nats a sentence",
                lines={"masked diffusion: the mean over all ratios": lattice.masked_diffusion(), **known},
                note="MLM at one ratio does not bound the nats of the sentence; its mean over all ratios is.",
            ),
        ),
    )  # fmt: skip


def _steps(words: Sequence[str], orders: Mapping[str, Order]) -> Table:
    """At which step of each order each word is predicted, and its loss there."""
    steps = [
        (name, words[position], step, loss, f"step {step}: {loss:.2f} nats")
        for name, order in orders.items()
        for position, step, loss in sorted(zip(order.positions, range(1, len(words) + 1), order.losses, strict=True))
    ]
    return Table(
        "Orders of prediction: best, worst, left to right",
        columns_of(("order", "word", "step", "loss", "note"), steps),
        Words("word", "step", note="note", group="order"), unit="step at which the word is predicted",
    )  # fmt: skip


def _heat(words: Sequence[str], lattice: Lattice) -> Table:
    """The mean loss of each word by the number of words that are visible."""
    cells = [
        (lattice.size - hidden, f"{position} {word}", float(loss), f"{loss:.1f}")
        for hidden, losses in enumerate(lattice.by_word, 1)
        for position, (word, loss) in enumerate(zip(words, losses, strict=True), 1)
    ]
    return Table(
        "Loss by number of visible words",
        columns_of(("visible words", "word", "loss", "nats"), cells),
        Matrix("visible words", "word", "loss", text="nats"), unit="nats",
        note="The mean over all sets with this number of visible words.",
    )  # fmt: skip


def _known(subject: Subject, ids: Sequence[int]) -> dict[str, float]:
    """The nats of the sentence in the grammar, where it is known; there every order gives the same."""
    try:
        chances = ParseChart(automaton_of(subject.corpus), tuple(ids)).next_words()
    except UserError:
        return {}
    return {"grammar": -sum(float(row[number].log()) for row, number in zip(chances, ids, strict=True))}


def fills_gaps(subject: Subject) -> str:
    """It fills gaps from both sides."""
    return not_masked(subject.model.shape)


MASK_LATTICE = Instrument(
    name="mask lattice",
    group="Floor",
    question="What is the loss under every possible mask, and in which order are the words best predicted?",
    source="arXiv:1904.09324; arXiv:2110.02037; arXiv:2406.07524",
    measure=measure,
    rows=("V36", "V37"),
    needs=(
        scores_words,
        fills_gaps,
    ),
    settings=Settings(),
)
