"""ELMo's two curves: part of speech and sense by level (arXiv:1802.05365, sec. 5.3)."""

from dataclasses import dataclass

from playground.analysis.finding import Curve, Finding, Number, Table, melt
from playground.analysis.instrument import Instrument, reads_sentences
from playground.analysis.probing.classifier import ProbeCurve, probe_curve
from playground.analysis.probing.reading import both_states, make_items, probing_items
from playground.analysis.probing.task import find_probing_task
from playground.analysis.subject import Subject
from playground.knob import knob


@dataclass(frozen=True)
class Settings:
    """How much text is read."""

    count: int = knob(1500, 150, 4000, unit="sentences", why="More sentences have more of the few ambiguous words.")


def ambiguous(subject: Subject) -> str:
    """The held-out text has words of both kinds of labels."""
    held = {name: row[subject.corpus.held_out_from :] for name, row in subject.corpus.labels.items()}
    absent = [name for name in ("pos", "sense") if name not in held or int((held[name] >= 0).sum()) < 100]
    if absent:
        return (
            f"{subject.corpus.name} has too few words with the label {' and '.join(absent)}. Choose the corpus world."
        )
    return ""


def measure(subject: Subject, settings: Settings) -> Finding:
    """The accuracy of two linear probes by level, with the random encoder's."""
    texts, senses = probing_items(subject, find_probing_task("sense"), settings.count)
    states = both_states(subject, texts.tokens)
    parts = make_items(subject, find_probing_task("part of speech"), texts)[1]
    curves = {
        name: probe_curve(*states, texts.tokens, each, subject.seed)
        for name, each in (("part of speech", parts), ("sense", senses))
    }
    series = {
        f"{name}{of}": [getattr(one, field) for one in curve.levels]
        for name, curve in curves.items()
        for of, field in (("", "accuracy"), (", control task", "control"), (", random encoder", "random_accuracy"))
    }
    columns = melt("level", subject.levels, "accuracy", series, "probe")
    lines = {f"{name}: most frequent of the same word": curve.by_type for name, curve in curves.items()}
    best = {name: subject.levels[curve.best.level] for name, curve in curves.items()}
    return Finding(
        f"The probe of part of speech is best at {best['part of speech']}, that of sense at {best['sense']}.",
        tuple(_number(name, curve) for name, curve in curves.items()),
        (Table("Accuracy by level", columns, Curve("level", "accuracy", "probe"), "share right", lines,
               "Unlike the paper: a linear probe instead of the nearest mean vector of a sense."),),
    )  # fmt: skip


def _number(name: str, curve: ProbeCurve) -> Number:
    best = curve.best
    beside = {
        "lowest level": curve.levels[0].accuracy, "control task": best.control,
        "random encoder": best.random_accuracy, "most frequent of the same word": curve.by_type,
    }  # fmt: skip
    return Number(name, best.accuracy, "share right", beside)


LEVELS_OF_SENSE = Instrument(
    name="part of speech and sense by level",
    group="Probes",
    question="Is the part of speech encoded at lower levels and the sense of a word at higher levels?",
    source="arXiv:1802.05365, sec. 5.3",
    measure=measure,
    rows=("V49",),
    needs=(reads_sentences, ambiguous),
    settings=Settings(),
)
