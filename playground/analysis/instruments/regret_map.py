"""Nats above the best possible prediction, word by word and for each phenomenon of the grammar."""

from dataclasses import dataclass

import torch

from playground.analysis.finding import Bars, Finding, Number, Table, Words, columns_of
from playground.analysis.floor.automaton import automaton_of
from playground.analysis.floor.regret import Floor, Regret, floor_of, names_words, reads_windows, regret
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.subject import Subject
from playground.errors import UserError
from playground.knob import knob

SHOWN = 6
"""Texts that are shown word by word."""

RARE, SMALL = 2.0, 0.05
"""Instances and nats that a phenomenon needs to be named as not learnt."""


@dataclass(frozen=True)
class Settings:
    """How much text is predicted."""

    texts: int = knob(32, 1, 64, unit="held-out texts", why="More texts, smaller standard error, more time.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """The regret on held-out rows as they are trained on."""
    floor = _floor(subject, settings.texts)
    found = regret(subject.model, floor)
    subject.count(len(floor.asked), "predictions")
    each = found.each
    unlearnt = [name for name, nats in each.items() if nats > SMALL and found.parts[name][1] >= RARE]
    names = ", ".join(f"{name} ({each[name]:.2f} nats)" for name in unlearnt[:3])
    if found.total + 3 * found.standard_error < 0:
        what = "This is better than the best possible, so the model sees its answers"
    else:
        what = f"Not learned yet: {names}" if names else "Every phenomenon is learned"
    phenomena = {
        "phenomenon": list(each),
        "part of the total": [found.parts[name][0] / len(floor.asked) for name in each],
        "nats each": list(each.values()),
        "words": [found.parts[name][1] for name in each],
    }
    summed = Table(
        "Regret by phenomenon", phenomena, Bars("phenomenon", "part of the total"), unit="nats a word",
        note="The parts add up to the mean regret of a word. At a verb, agreement is the choice of its number alone.",
    )  # fmt: skip
    return Finding(
        f"{found.total:.2f} nats a word above the best possible. {what}.",
        (
            Number("regret", found.total, "nats a word", {"best possible": 0.0}),
            Number("standard error", found.standard_error, "nats a word"),
            Number("loss", float(found.losses.mean()), "nats a word", {"best possible": float(found.best.mean())}),
        ),
        (_words(found), summed),
    )


def _floor(subject: Subject, texts: int) -> Floor:
    automaton, layers = automaton_of(subject.corpus), subject.model.shape.layers
    floor = subject.once(("floor", texts), lambda: floor_of(automaton, subject.batch(texts), layers))
    if not floor.asked:
        raise UserError("No word of these texts is predicted; measure more texts.")
    return floor


def _words(found: Regret) -> Table:
    """Every word of the first texts; a word that is not asked for has no nats."""
    tokens = found.floor.batch.tokens
    nats: dict[tuple[int, int], list[int]] = {}
    for k, one in enumerate(found.floor.asked):
        nats.setdefault((one.row, one.position), []).append(k)
    rows = []
    for row, (ids, size) in enumerate(zip(tokens.ids[:SHOWN], tokens.lengths.tolist(), strict=False)):
        for position, number in enumerate(ids[:size].tolist()):
            asked = torch.tensor(nats.get((row, position), []), dtype=torch.long)
            above = float(found.nats[asked].mean()) if len(asked) else 0.0
            rows.append((str(row + 1), tokens.vocabulary[number], above, _said(found, asked)))
    columns = columns_of(("text", "word", "nats", "what"), rows)
    return Table("Word by word", columns, Words("word", "nats", note="what", group="text"), unit="nats above the best")


def _said(found: Regret, asked: torch.Tensor) -> str:
    if not len(asked):
        return "not predicted"
    losses, best = float(found.losses[asked].mean()), float(found.best[asked].mean())
    kind = found.floor.automaton.phenomena[int(found.floor.shares[int(asked[0])].argmax())]
    return f"{kind}: loss {losses:.2f}, best possible {best:.2f} nats"


# what a subject can lack


def floor_is_known(subject: Subject) -> str:
    """A grammar wrote its corpus, word by word."""
    try:
        automaton_of(subject.corpus)
    except UserError as error:
        return str(error)
    return ""


def predicts_stretches(subject: Subject) -> str:
    """It predicts words in single stretches of text."""
    if not reads_windows(subject.objective):
        return f"{subject.objective.name} reads several texts at once; the grammar knows single texts only."
    targets = [target for part in subject.batch(1).with_auxiliary for target in part.targets]
    if not any(names_words(target) for target in targets):
        return f"{subject.objective.name} does not predict words of the vocabulary."
    return ""


REGRET_MAP = Instrument(
    name="regret map",
    group="Floor",
    question="How far is the loss of each prediction above the best possible, and what is not learned yet?",
    source="exact sums over the grammar of the corpus; agreement as in arXiv:1611.01368",
    measure=measure,
    rows=("V11", "V35"),
    needs=(scores_words, reads_sentences, floor_is_known, predicts_stretches),
    settings=Settings(),
)
