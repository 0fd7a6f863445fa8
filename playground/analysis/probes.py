"""Zero-shot probes during training: a right or a wrong word in a gap of a sentence; chance is a half."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import torch
from torch import Tensor

from playground.analysis.cloze import log_chances, texts, with_gap
from playground.analysis.words.vectors import known_words
from playground.batch import Batch
from playground.corpora import Corpus
from playground.corpora.tinyworld.tasks.cloze import fact_questions
from playground.corpora.tinyworld.tasks.minimal import minimal_pairs
from playground.corpora.tinyworld.tasks.polarity import polarity_sentences
from playground.models import LanguageModel
from playground.rng import derive
from playground.tokenizing import Tokenizer

ITEMS = 120
"""Sentences of a probe: two standard errors at a half are then about 9 points."""

FEWEST = 60
"""Sentences in a corpus' own words that a probe needs at least; with fewer the standard error is too large."""


@dataclass(frozen=True)
class ProbeItem:
    """A sentence, the position of its gap, and a wrong word for it."""

    words: list[str]
    position: int
    wrong: str


@dataclass(frozen=True)
class Probe:
    """A name, the question in words, its source, and its sentences."""

    name: str
    question: str
    source: str
    choices: Callable[[int], Sequence[ProbeItem]]


@dataclass(frozen=True)
class EncodedProbe:
    """A probe as input of a model: the batch with its gaps and both words `[b, 2]`, the right one first."""

    gauge: Probe
    batch: Batch
    words: Tensor

    def measure(self, model: LanguageModel) -> float:
        """The share of gaps where the right word is more probable; a tie counts a half."""
        return float(right_or_wrong(log_chances(model, self.batch), self.words).mean())


def right_or_wrong(chances: Tensor, words: Tensor) -> Tensor:
    """1 where the first of two words `[b, 2]` is more probable by the log chances `[b, v]`, 0 where less, else 0.5."""
    right, wrong = chances.gather(1, words).unbind(1)
    return (right > wrong).float() + (right == wrong).float() / 2


def in_known_words(items: Iterable[ProbeItem], corpus: Corpus) -> list[ProbeItem]:
    """The sentences whose words, the wrong one included, stand in the training text of a corpus."""
    known = known_words(corpus)
    return [item for item in items if known.issuperset((*item.words, item.wrong))]


def encode(items: Sequence[ProbeItem], tokenizer: Tokenizer, model: LanguageModel) -> tuple[Batch, Tensor]:
    """Sentences as a batch with their gaps, and the right and the wrong word of each `[b, 2]`."""
    device = model.token_embedding.weight.device
    tokens = texts([item.words for item in items], tokenizer)
    positions = torch.tensor([item.position for item in items])
    right = tokens.ids.gather(1, positions[:, None])
    wrong = torch.tensor([tokenizer.encode_word(item.wrong) for item in items])
    batch = with_gap(model.shape, tokens.to(device), positions.to(device))
    return batch, torch.cat([right, wrong], dim=1).to(device)


def asked(gauges: Sequence[Probe], corpus: Corpus, model: LanguageModel) -> tuple[EncodedProbe, ...]:
    """The probes whose words the training text of a corpus holds; none for static vectors."""
    if model.shape.kind == "static":
        return ()
    found = ((gauge, in_known_words(gauge.choices(ITEMS), corpus)) for gauge in gauges)
    return tuple(
        EncodedProbe(gauge, *encode(items, corpus.tokenizer, model)) for gauge, items in found if len(items) >= FEWEST
    )


def agreement_items(attractors: int, count: int) -> list[ProbeItem]:
    """The verb in the number of its subject, with nouns of the other number in between (arXiv:1611.01368).

    A full stop stands before each sentence. Rows are cut from the text anywhere, so the first words of a row are mostly
    the end of a sentence: "the doctor" that of "the pens near the doctor are old ."
    """
    pairs = minimal_pairs(f"agreement-{attractors}", count, 0, "test")
    positions = (next(k for k, (a, b) in enumerate(zip(*pair, strict=True)) if a != b) for pair in pairs)
    return [
        ProbeItem([".", *right], position + 1, wrong[position])
        for (right, wrong), position in zip(pairs, positions, strict=True)
    ]


def _polarity(count: int) -> list[ProbeItem]:
    """The second of two joined adjectives, against one of the other polarity."""
    sentences, labels = polarity_sentences(6 * count, 0, "test")
    joined = [(w, y) for w, y in zip(sentences, labels, strict=True) if "and" in w and "not" not in w]
    by_label = {y: [w[w.index("and") + 1] for w, label in joined if label == y] for y in (0, 1)}
    random = Random(derive(0, "polarity gauge"))
    return [ProbeItem(w, w.index("and") + 1, random.choice(by_label[1 - y])) for w, y in joined[:count]]


def _facts(count: int) -> list[ProbeItem]:
    """What the corpus says of a person, against the same of another person (after arXiv:1909.01066)."""
    mentioned = [q for q in fact_questions() if q.fact.mentions]
    random = Random(derive(0, "facts gauge"))
    random.shuffle(mentioned)
    objects: dict[str, set[str]] = {}
    for question in mentioned:
        objects.setdefault(question.fact.relation, set()).add(question.fact.object)
    return [
        ProbeItem(q.words, q.position, random.choice(sorted(objects[q.fact.relation] - {q.fact.object})))
        for q in mentioned[:count]
    ]


AGREEMENT = Probe(
    name="agreement",
    question="Does the verb agree in number with its subject?",
    source="arXiv:1611.01368; sentences of our grammar",
    choices=partial(agreement_items, 0),
)

ATTRACTED = Probe(
    name="agreement past another noun",
    question="Does the verb agree in number with its subject when there is another noun in between?",
    source="arXiv:1611.01368; sentences of our grammar",
    choices=partial(agreement_items, 1),
)

POLARITY = Probe(
    name="polarity",
    question="Are two joined adjectives both kind or both unkind?",
    source="after Hatzivassiloglou and McKeown (1997); sentences of our grammar",
    choices=_polarity,
)

KNOWLEDGE = Probe(
    name="facts",
    question="What does the corpus say about a person?",
    source="LAMA, arXiv:1909.01066, sec. 4.2; facts of our corpus",
    choices=_facts,
)

PROBES = (AGREEMENT, ATTRACTED, POLARITY, KNOWLEDGE)
"""All probes, in the order in which they are drawn."""
