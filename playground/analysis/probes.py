"""Gauges: what a model has understood, asked again and again while it learns, without any training for the question.

Each is a choice between a right and a wrong word in a gap of sentences whose truth the grammar knows; guessing gets
a half right. What a gauge shows appears suddenly, long after the loss has begun to fall.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from playground.analysis.cloze import log_chances, texts, with_gap
from playground.batch import Batch
from playground.corpora import Corpus
from playground.corpora.tinyworld.tasks import fact_questions, minimal_pairs, polarity_sentences
from playground.models import LanguageModel
from playground.rng import derive
from playground.tokenizing import Tokenizer

ITEMS = 120
"""Sentences of a gauge: its value is then good to about 9 points (two standard errors at a half)."""

FEWEST = 60
"""Sentences in a corpus' own words that a gauge needs; with fewer, chance would be louder than the model."""


@dataclass(frozen=True)
class ProbeItem:
    """A sentence, the place of its gap, the word that is right there and one that is wrong."""

    words: list[str]
    place: int
    wrong: str


@dataclass(frozen=True)
class Probe:
    """A name, the question in words, where it comes from, and the sentences that ask it."""

    name: str
    question: str
    source: str
    choices: Callable[[int], Sequence[ProbeItem]]


@dataclass(frozen=True)
class EncodedProbe:
    """A gauge made ready for one model: the example with its gaps and both words `[b, 2]`, the right one first."""

    gauge: Probe
    example: Batch
    words: Tensor

    def measure(self, model: LanguageModel) -> float:
        """The share of gaps for which the model finds the right word more likely; a tie counts a half."""
        right, wrong = log_chances(model, self.example).gather(1, self.words).unbind(1)
        return float(((right > wrong).float() + (right == wrong).float() / 2).mean())


def asked(gauges: Sequence[Probe], corpus: Corpus, model: LanguageModel) -> tuple[EncodedProbe, ...]:
    """The gauges that a corpus' words and a model allow, ready to measure; others are left out.

    The vocabulary may hold more than the corpus: what no training text says has not been learnt.
    """
    if model.shape.kind == "static":
        return ()
    said = corpus.ids[: corpus.held_out_from].unique().tolist()
    known = {corpus.tokenizer.words[number] for number in said}
    made = (_made(gauge, corpus.tokenizer, known, model) for gauge in gauges)
    return tuple(one for one in made if one is not None)


def _made(gauge: Probe, tokenizer: Tokenizer, known: set[str], model: LanguageModel) -> EncodedProbe | None:
    device = model.token_embedding.weight.device
    choices = [c for c in gauge.choices(ITEMS) if known.issuperset((*c.words, c.wrong))]
    if len(choices) < FEWEST:
        return None
    tokens = texts([choice.words for choice in choices], tokenizer)
    places = torch.tensor([choice.place for choice in choices])
    right = tokens.ids.gather(1, places[:, None])
    wrong = torch.tensor([tokenizer.encode_word(choice.wrong) for choice in choices])
    example = with_gap(model.shape, tokens.to(device), places.to(device))
    return EncodedProbe(gauge, example, torch.cat([right, wrong], dim=1).to(device))


def _agreement(attractors: int, count: int) -> list[ProbeItem]:
    """The verb in the number of its subject, with nouns of the other number in between (arXiv:1611.01368)."""
    choices = []
    for right, wrong in minimal_pairs(f"agreement-{attractors}", count, 0, "test"):
        place = next(k for k, (a, b) in enumerate(zip(right, wrong, strict=True)) if a != b)
        choices.append(ProbeItem(right, place, wrong[place]))
    return choices


def _polarity(count: int) -> list[ProbeItem]:
    """The second of two joined adjectives, against one of the other feeling."""
    sentences, labels = polarity_sentences(6 * count, 0, "test")
    joined = [(w, y) for w, y in zip(sentences, labels, strict=True) if "and" in w and "not" not in w]
    by_label = {y: [w[w.index("and") + 1] for w, label in joined if label == y] for y in (0, 1)}
    random = Random(derive(0, "polarity gauge"))
    return [ProbeItem(w, w.index("and") + 1, random.choice(by_label[1 - y])) for w, y in joined[:count]]


def _facts(count: int) -> list[ProbeItem]:
    """What the corpus has told of somebody, against the same told of somebody else (after arXiv:1909.01066)."""
    told = [q for q in fact_questions() if q.fact.mentions]
    random = Random(derive(0, "facts gauge"))
    random.shuffle(told)
    objects: dict[str, set[str]] = {}
    for question in told:
        objects.setdefault(question.fact.relation, set()).add(question.fact.object)
    return [
        ProbeItem(q.words, q.place, random.choice(sorted(objects[q.fact.relation] - {q.fact.object})))
        for q in told[:count]
    ]


AGREEMENT = Probe(
    name="agreement",
    question="Does the verb stand in the number of its subject?",
    source="arXiv:1611.01368; sentences of our grammar",
    choices=lambda count: _agreement(0, count),
)

ATTRACTED = Probe(
    name="agreement past another noun",
    question="Does the verb stand in the number of its subject, although another noun stands between?",
    source="arXiv:1611.01368; sentences of our grammar",
    choices=lambda count: _agreement(1, count),
)

POLARITY = Probe(
    name="polarity",
    question="Are two joined adjectives both kind or both unkind?",
    source="after Hatzivassiloglou and McKeown (1997); sentences of our grammar",
    choices=_polarity,
)

KNOWLEDGE = Probe(
    name="facts",
    question="What did the corpus tell of a person?",
    source="LAMA, arXiv:1909.01066, sec. 4.2; facts of our corpus",
    choices=_facts,
)

PROBES = (AGREEMENT, ATTRACTED, POLARITY, KNOWLEDGE)
"""All gauges, in the order in which they are drawn."""
