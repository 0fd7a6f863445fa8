"""Labelled tasks as text: a prefix that names the task, its texts, and the answer in words (T5, arXiv:1910.10683)."""

from collections.abc import Callable, Mapping
from random import Random

from playground.corpora.catalog.pairwise import Pair, of_pairs
from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.corpora.tinyworld.tasks.draw import Split
from playground.corpora.tinyworld.tasks.inference import INFERENCES, inference_pairs
from playground.corpora.tinyworld.tasks.minimal import minimal_pairs
from playground.corpora.tinyworld.tasks.polarity import polarity_sentences
from playground.corpora.tinyworld.tasks.similarity import similarity_pairs
from playground.corpora.tinyworld.vocabulary import as_word
from playground.rng import derive

LENGTH = 20
"""Tokens of a prefix, its texts, the answer and the [SEP], on the average of the tasks."""

MOST = 10_000
"""Examples of each task that are drawn at most; all of them differ."""

ALIKE = 5.0
"""The score of two texts that mean the same; TinyWorld counts four things that may agree."""

GOOD = ("negative", "positive")
RIGHT = ("acceptable", "unacceptable")
"""What is written of a bad and a good feeling, of a sentence that is right and of one that is wrong (appendix D)."""


def _sst2(count: int, seed: int, split: Split) -> list[Pair]:
    texts, goods = polarity_sentences(count, seed, split)
    return [(["sst2", "sentence", ":", *text], [GOOD[good]]) for text, good in zip(texts, goods, strict=True)]


def _mnli(count: int, seed: int, split: Split) -> list[Pair]:
    pairs, labels = inference_pairs(count, seed, split)
    read = [["mnli", "hypothesis", ":", *two, "premise", ":", *one] for one, two in pairs]
    return [(text, [INFERENCES[label]]) for text, label in zip(read, labels, strict=True)]


def _stsb(count: int, seed: int, split: Split) -> list[Pair]:
    pairs, scores = similarity_pairs(count, seed, split)
    read = [["stsb", "sentence1", ":", *one, "sentence2", ":", *two] for one, two in pairs]
    return [(text, [as_word(score * ALIKE / 4)]) for text, score in zip(read, scores, strict=True)]


def _cola(count: int, seed: int, split: Split) -> list[Pair]:
    pairs = minimal_pairs("agreement-1", (count + 1) // 2, seed, split)
    both = [
        (["cola", "sentence", ":", *text], [said]) for pair in pairs for text, said in zip(pair, RIGHT, strict=True)
    ]
    return both[:count]


TASKS: Mapping[str, Callable[[int, int, Split], list[Pair]]] = {
    "sst2": _sst2, "mnli": _mnli, "stsb": _stsb, "cola": _cola,
}  # fmt: skip
"""What writes so many different examples of each task, named as T5 names the data set with the same kind of labels."""

WRITTEN = (
    *TASKS, *"sentence sentence1 sentence2 hypothesis premise :".split(),
    *GOOD, *INFERENCES, *(as_word(score * ALIKE / 4) for score in range(5)), *RIGHT,
)  # fmt: skip
"""The words of the prefixes and of the answers."""


def make_text_to_text(seed: int, tokens: int) -> Corpus:
    """About so many tokens, as many examples of each task, in no order; every word knows its task."""
    count = min(MOST, max(4, tokens // (LENGTH * len(TASKS))))
    made = [(pair, k) for k, write in enumerate(TASKS.values()) for pair in write(count, seed, "train")]
    Random(derive(seed, "text to text")).shuffle(made)
    return of_pairs("text to text", [pair for pair, _ in made], "task", [k for _, k in made], tuple(TASKS))


TEXT_TO_TEXT = Source(
    name="text to text",
    aliases=("T5 tasks", "prefixed tasks"),
    idea="Four labelled tasks as text: a prefix, the texts, and the answer as text, even if it is a number.",
    make=make_text_to_text,
    tokens=300_000,
    prefixes=("sst2 sentence:", "mnli hypothesis:", "stsb sentence1:", "cola sentence:"),
)
