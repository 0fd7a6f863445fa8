"""An instrument: one question about a model, what it needs, and the function that answers it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from playground.analysis.cloze import unknown_beside_gap
from playground.analysis.finding import Finding
from playground.analysis.subject import MOST_TYPED, Subject
from playground.catalog import choose, find
from playground.errors import UserError
from playground.tokenizing import read_input

__all__ = ["Instrument", "instrument_named", "instruments"]

PACKAGES = ("playground.analysis.instruments", "playground.finetuning.instruments")
"""Where instruments stand; those that fine-tune or train a model need a room above this one."""

Need = Callable[[Subject], str]
"""Says in a sentence what a subject lacks; nothing where it has it."""

GROUPS = (
    "Attention heads", "Intervene", "Influence", "Probes", "Words", "Knowledge", "Floor", "Fragility", "Training",
    "Meters",
)  # fmt: skip
"""The groups of instruments, in the order of the page."""


@dataclass(frozen=True)
class NoSettings:
    """An instrument without knobs."""


@dataclass(frozen=True)
class Instrument:
    """One way to look inside.

    `question` is what it answers, in a learner's words; `rows` are its rows of the inventory; `settings` is a frozen
    dataclass of knobs with its defaults; `measure` gets the subject, in evaluation mode, and the settings. The numbers
    are the same for the same seed but where it is not `repeatable`, because it measures time.
    """

    name: str
    group: str
    question: str
    source: str
    measure: Callable[[Subject, Any], Finding]
    rows: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    settings: Any = NoSettings()
    repeatable: bool = True

    @property
    def idea(self) -> str:
        return self.question

    @property
    def order(self) -> tuple[int]:
        return (GROUPS.index(self.group),)

    def missing(self, subject: Subject) -> str:
        """Why a subject cannot be measured, in a sentence; nothing where it can."""
        return next((sentence for need in self.needs if (sentence := need(subject))), "")

    def look(self, subject: Subject, settings: Any = None) -> Finding:
        """Measure a subject, whose model stays as it was; one that lacks something is refused with the sentence.

        The finding says how much was measured. Its notes say what of a typed `sentence` among the settings was not read
        as it stands there, and where fewer texts were read than were asked for.
        """
        if sentence := self.missing(subject):
            raise UserError(sentence)
        modes = [(module, module.training) for module in subject.model.modules()]
        subject.model.eval()
        chosen = self.settings if settings is None else settings
        try:
            subject = replace(subject, lacking=[], counts={})
            found = self.measure(subject, chosen)
            notes = filter(None, dict.fromkeys([_not_read(subject, chosen), *subject.lacking]))
            return replace(found, n=subject.counts, notes=tuple(notes))
        finally:
            for module, training in modes:
                module.training = training


def _not_read(subject: Subject, settings: Any) -> str:
    """What of a typed sentence is not read as it stands there: unknown words, and what is cut off."""
    text = getattr(settings, "sentence", "")
    if hasattr(settings, "answer"):  # the sentence has a gap, and is not cut
        return unknown_beside_gap(text, subject.tokenizer)
    return read_input(text, subject.tokenizer, MOST_TYPED).notice if text.strip() else ""


def instruments() -> dict[str, Instrument]:
    """All instruments by name, group by group."""
    every = [each for package in PACKAGES for each in find(package, Instrument).values()]
    return {each.name: each for each in sorted(every, key=lambda each: each.order)}


def instrument_named(name: str) -> Instrument:
    """An instrument by its name; else a refusal that names the nearest."""
    lowered = name.strip().lower()
    home = next((package for package in PACKAGES if lowered in find(package, Instrument)), PACKAGES[0])
    return choose(home, Instrument, name, "instrument")


# what a subject can lack


def reads_sentences(subject: Subject) -> str:
    """It reads words in a sentence: no static vectors."""
    if subject.model.shape.kind == "static":
        return "Static vectors do not read a sentence: a word has the same vector everywhere."
    return ""


def scores_words(subject: Subject) -> str:
    """It has a head that scores words."""
    batch = subject.batch(1)
    return subject.model.unscored(batch) if subject.model.lm_head is None else ""


def attends(subject: Subject) -> str:
    """It has attention heads in its encoder."""
    if subject.model.shape.kind != "transformer":
        return f"There are no attention heads in a model of the kind {subject.model.shape.kind}."
    return ""


def has_residual_states(subject: Subject) -> str:
    """It fills gaps with the states of one stream of a transformer."""
    if sentence := attends(subject):
        return sentence
    if subject.model.shape.two_streams:
        return "This model predicts with two streams; the states of one stream alone cannot be exchanged."
    return ""


def has_table(subject: Subject) -> str:
    """It reads word vectors from a table, which gradients reach."""
    return (
        "The word vectors of this model are computed from characters, which words share."
        if subject.model.shape.char_cnn
        else ""
    )


def labels(*names: str) -> Need:
    """The corpus has gold labels of these names."""

    def lacks(subject: Subject) -> str:
        absent = [name for name in names if name not in subject.corpus.labels]
        return f"The corpus {subject.corpus.name} has no gold labels for {', '.join(absent)}." if absent else ""

    lacks.__doc__ = f"The corpus has gold labels of these names: {', '.join(names)}."
    return lacks
