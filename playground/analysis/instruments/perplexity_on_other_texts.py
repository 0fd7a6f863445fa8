"""Zero-shot perplexity on other corpora, beside the entropy of each (GPT-2, Radford et al. 2019, sec. 3.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

import torch

from playground.analysis.cloze import one_sided
from playground.analysis.cloze import texts as batch_of
from playground.analysis.finding import Bars, Finding, Number, Table, columns_of
from playground.analysis.instrument import Instrument, reads_sentences, scores_words
from playground.analysis.instruments.perplexity import nats_of
from playground.analysis.subject import SENTENCES, Subject, draw_sentences
from playground.batch import Tokens
from playground.catalog import find
from playground.corpora import Corpus, pick
from playground.corpora.tinyworld import generate
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.vocabulary import vocabulary
from playground.knob import knob
from playground.rng import generator

SEED, TOKENS = 1, 10_000
"""Of each of the other corpora; a tenth of the tokens is held out."""


@dataclass(frozen=True)
class Settings:
    """How much text is predicted."""

    texts: int = knob(32, 2, 200, unit=f"{SENTENCES} of each corpus", why="More texts, smaller standard error.")


@dataclass(frozen=True)
class Texts:
    """Sentences `[b, t]` of one corpus, in the ids of the model, and the entropy bound of the corpus in nats."""

    name: str
    tokens: Tokens
    bound: float | None


def measure(subject: Subject, settings: Settings) -> Finding:
    """The mean nats of a word on sentences of each corpus, its own first; every word is predicted by itself."""
    counts = torch.bincount(subject.corpus.ids[: subject.corpus.held_out_from], minlength=len(subject.tokenizer))
    rows = []
    for texts in _all_texts(subject, settings.texts):
        nats, valid = nats_of(subject.model, texts.tokens), texts.tokens.valid
        mean, error = float(nats.mean()), float(nats.std() / len(nats) ** 0.5)
        unseen = float((counts[texts.tokens.ids[valid]] == 0).double().mean())
        rows.append((texts.name, mean, error, mean / log(2), exp(mean), texts.bound, unseen, len(valid), len(nats)))
    names = ("corpus", "nats", "standard error", "bits", "perplexity", "entropy", "words not seen", "texts", "words")
    bars = [
        (row[0], nats, who)
        for row in rows
        for nats, who in ((row[1], subject.name), (row[5], "entropy of the corpus"))
        if nats is not None
    ]
    own, *others = rows
    others.sort(key=lambda row: row[1])
    kind = "perplexity" if one_sided(subject.model.shape) else "pseudo-perplexity"
    return Finding(
        f"The {kind} is {own[4]:.1f} on {own[0]}; on other texts it is {others[0][4]:.1f} ({others[0][0]}) to "
        f"{others[-1][4]:,.1f} ({others[-1][0]}).",
        tuple(
            Number(f"nats on {name}", nats, "nats a word",
                   {**({} if bound is None else {"entropy of the corpus": bound}), "standard error": error, "texts": n})
            for name, nats, error, _, _, bound, _, n, _ in (own, *others)
        ),
        (
            Table("Nats on other texts", columns_of(("corpus", "nats", "who"), bars), Bars("corpus", "nats", "who"),
                  unit="nats a word",
                  note="The entropy is that of whole documents read from left to right. A model that reads single "
                  "sentences cannot reach it; one that sees both sides can go below."),
            Table("Perplexity by corpus", columns_of(names, [own, *others]),
                  note="Words not seen are the share of words that the training text of the model does not have."),
        ),
    )  # fmt: skip


def _all_texts(subject: Subject, count: int) -> Iterator[Texts]:
    """The held-out sentences of the model's own corpus, of each of its domains, and of all corpora in its words."""
    own, tokens = subject.corpus, subject.sentences(count)
    subject.count(len(tokens.ids), SENTENCES, count)
    yield Texts(own.name, tokens, own.entropy_bound)
    for number, name in enumerate(own.label_names.get("domain", ())):
        there = (tokens.labels["domain"][:, 0] == number).nonzero()[:, 0]
        if len(there) > 1:
            yield Texts(f"{own.name}: {name}", pick(tokens, there), None)
    for name in _others(own):
        other, rows = _sentences(name, count)
        subject.count(len(rows.ids), f"sentences of {name}")
        words = [other.tokenizer.decode(row[ok].tolist()) for row, ok in zip(rows.ids, rows.valid, strict=True)]
        yield Texts(name, batch_of(words, subject.tokenizer), other.entropy_bound)


def _others(corpus: Corpus) -> list[str]:
    """The generated corpora whose words all have an id in the tokenizer of a corpus, without this one."""
    known = set(corpus.tokenizer.words) if corpus.tokenizer.kind == "word" else set[str]()
    names = find("playground.corpora.tinyworld.presets", Preset)
    return [p.name for p in names.values() if p.name != corpus.name and known.issuperset(vocabulary(p.name).words)]


@lru_cache(maxsize=64)
def _sentences(preset: str, count: int) -> tuple[Corpus, Tokens]:
    corpus = generate(preset, SEED, TOKENS)
    return corpus, draw_sentences(corpus, count, "held_out", generator(SEED, "other texts"))


def shares_words(subject: Subject) -> str:
    """Its tokens are the words of the generated corpora."""
    if _others(subject.corpus):
        return ""
    return f"The corpus {subject.corpus.name} does not have the words of another generated corpus; train on world."


PERPLEXITY_ON_OTHER_TEXTS = Instrument(
    name="perplexity on other texts",
    group="Floor",
    question="How well does the model predict texts of other corpora, without training on them?",
    source="zero-shot language modelling, GPT-2 (Radford et al. 2019, sec. 3.1)",
    measure=measure,
    rows=("T42",),
    needs=(scores_words, reads_sentences, shares_words),
    settings=Settings(),
)
