"""Nats of every word of a sentence beside the best possible; their mean exponentiated is the perplexity."""

from dataclasses import dataclass
from math import exp, log

import torch
from torch import Tensor

from playground.analysis.cloze import log_chances, one_sided, with_gap
from playground.analysis.finding import Bars, Finding, Number, Table
from playground.analysis.floor.sentence import best_possible
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.predictions import one_row
from playground.analysis.subject import ROWS_AT_ONCE, Subject
from playground.batch import Tokens
from playground.corpora import pick
from playground.knob import knob
from playground.models import LanguageModel


@dataclass(frozen=True)
class Settings:
    """Which sentence."""

    sentence: str = knob("", why="A sentence of your own; empty for a held-out one.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """Each word predicted from the words on the side that the model reads, or from both sides."""
    text = subject.sentence(settings.sentence)
    ids, size = text.ids[0].tolist(), text.ids.shape[1]
    words = [f"{k + 1} {subject.tokenizer.words[number]}" for k, number in enumerate(ids)]
    nats = nats_of(subject.model, one_row(ids, subject.tokenizer)).tolist()
    chances, why = best_possible(subject, text.ids[0], range(size))
    best = [] if chances is None else [abs(float(chances[k, number].log())) for k, number in enumerate(ids)]
    name = "perplexity" if one_sided(subject.model.shape) else "pseudo-perplexity"
    groups = {subject.name: nats, **({"best possible": best} if best else {})}
    columns = {
        "word": [word for word in words for _ in groups],
        "nats": [each[k] for k in range(size) for each in groups.values()],
        "who": [who for _ in words for who in groups],
    }
    columns |= {"bits": [n / log(2) for n in columns["nats"]], "factor": [exp(n) for n in columns["nats"]]}
    mean = sum(nats) / size
    dearest = words[max(range(size), key=nats.__getitem__)].partition(" ")[2]
    bounds = {"best possible": sum(best) / size} if best else {}
    if subject.corpus.entropy_bound and subject.model.shape.attention == "left to right":
        bounds["entropy of the corpus"] = subject.corpus.entropy_bound
    return Finding(
        f"The {name} is {exp(mean):.1f}; the most surprising word is {dearest!r}." + (f" {why}" if why else ""),
        (
            Number(name, exp(mean), "equally likely words", {who: exp(nats) for who, nats in bounds.items()}),
            Number("nats", mean, "nats a word", bounds),
            Number("bits", mean / log(2), "bits a word", {who: nats / log(2) for who, nats in bounds.items()}),
        ),
        (
            Table("Nats of every word", columns, Bars("word", "nats", "who"), unit="nats",
                  note=f"The factor of a word is 1 / probability; all {size} multiply to {name} to the power {size}."),
        ),
    )  # fmt: skip


def nats_of(model: LanguageModel, tokens: Tokens) -> Tensor:
    """-log p of every word of some texts `[b, t]`, one text after the other, `[n]`; each is predicted by itself."""
    row, position = tokens.valid.nonzero(as_tuple=True)
    parts = torch.arange(len(row)).split(ROWS_AT_ONCE * 8)
    return torch.cat([_nats(model, pick(tokens, row[part]), position[part]) for part in parts])


def _nats(model: LanguageModel, tokens: Tokens, position: Tensor) -> Tensor:
    device = model.token_embedding.weight.device
    chances = log_chances(model, with_gap(model.shape, tokens.to(device), position.to(device))).double().cpu()
    number = tokens.ids.gather(1, position[:, None])
    return -chances.gather(1, number)[:, 0]


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
