"""Nats of every word of a sentence beside the best possible; their mean exponentiated is the perplexity."""

from dataclasses import dataclass
from math import exp

import torch

from playground.analysis.cloze import log_chances, one_sided, with_gap, words_seen
from playground.analysis.finding import Bars, Finding, Number, Table
from playground.analysis.floor.automaton import automaton_of
from playground.analysis.floor.chart import ParseChart
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.predictions import one_row
from playground.analysis.subject import Subject
from playground.corpora import pick
from playground.errors import UserError
from playground.knob import knob


@dataclass(frozen=True)
class Settings:
    """Which sentence."""

    sentence: str = knob("", why="A sentence of your own; empty for a held-out one.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """Each word predicted from the words on the side that the model reads, or from both sides."""
    text = subject.sentence(settings.sentence)
    ids, size = text.ids[0].tolist(), text.ids.shape[1]
    words = [f"{k + 1} {subject.tokenizer.words[number]}" for k, number in enumerate(ids)]
    device = subject.model.token_embedding.weight.device
    rows = pick(one_row(ids, subject.tokenizer), torch.zeros(size, dtype=torch.long)).to(device)
    batch = with_gap(subject.model.shape, rows, torch.arange(size, device=device))
    chances = log_chances(subject.model, batch).double().cpu()
    nats = [-float(row[number]) for row, number in zip(chances, ids, strict=True)]
    best, why = _best(subject, ids)
    name = "perplexity" if one_sided(subject.model.shape) else "pseudo-perplexity"
    groups = {subject.name: nats, **({"best possible": best} if best else {})}
    columns = {
        "word": [word for word in words for _ in groups],
        "nats": [nats_of[k] for k in range(size) for nats_of in groups.values()],
        "who": [who for _ in words for who in groups],
    }
    mean = sum(nats) / size
    dearest = words[max(range(size), key=nats.__getitem__)].partition(" ")[2]
    bound = {"best possible": exp(sum(best) / size)} if best else {}
    return Finding(
        f"The {name} is {exp(mean):.1f}; the most surprising word is {dearest!r}." + (f" {why}" if why else ""),
        (
            Number(name, exp(mean), "equally likely words", bound),
            Number("nats", mean, "nats a word", {"best possible": sum(best) / size} if best else {}),
        ),
        (Table("Nats of every word", columns, Bars("word", "nats", "who"), unit="nats"),),
    )


def _best(subject: Subject, ids: list[int]) -> tuple[list[float], str]:
    """The nats of the best possible prediction, or why it is not known."""
    try:
        chart = ParseChart(automaton_of(subject.corpus), tuple(ids))
    except UserError as error:
        return [], str(error)
    table = (chart.chances(k, words_seen(subject.model.shape, k, len(ids))) for k in range(len(ids)))
    return [abs(float(row[number].log())) for row, number in zip(table, ids, strict=True)], ""


PERPLEXITY = Instrument(
    name="perplexity",
    group="Floor",
    question="Which words of a sentence surprise the model, and which would surprise any model?",
    source="perplexity; from both sides pseudo-log-likelihood (arXiv:1910.14659)",
    measure=measure,
    rows=("V35",),
    needs=(
        scores_words,
        reads_sentences,
    ),
    settings=Settings(),
)
