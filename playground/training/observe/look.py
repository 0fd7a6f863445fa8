"""A look at one text while a model learns; it can be sent to a worker, which then takes the same looks."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import torch

from playground.analysis.predictions import Predictions, glance_at, sentence_of, watched
from playground.batch import Batch, Tokens
from playground.corpora import Corpus
from playground.corpora.corpus import pick
from playground.errors import Refusal
from playground.objectives import Objective
from playground.rng import generator
from playground.tokenizing.text_input import read_input
from playground.trace.inputs import read, said_by_hand, strangers
from playground.trace.rebuild import guessed
from playground.training.data import windows
from playground.training.train_state import TrainState

ROWS_TRIED, DRAWS_TRIED = 16, 8
"""Held-out rows, and draws of each, among which the first is taken of which the objective asks something."""

ROWS = {
    "translation": "text with its translation",
    "answer": "text with its answer",
    "distance": "sentence with its neighbours",
    "pair": "pair of texts",
    "sentences": "text of several sentences",
}
"""What a row of a corpus is called, by what the objective needs; the first that fits is said."""


@dataclass(frozen=True)
class WatchedText:
    """One text with everything that an objective needs beside it, and sentences that say which text it is."""

    tokens: Tokens
    origin: str


@dataclass
class ProbeSentence:
    """Looks at one text; what is asked of it is drawn once, unless a generator draws it anew with every step."""

    sentence: Tokens
    origin: str = ""
    _drawn: list[tuple[Objective, Batch]] = field(default_factory=list, repr=False)

    def __call__(self, learner: TrainState) -> Predictions:
        objective = learner.objective
        if objective.proposes or not self._drawn or self._drawn[0][0] is not objective:
            seed = draw_that_asks(objective, self.sentence.to(learner.device)) or 0
            self._drawn[:] = [(objective, watched(learner.model, objective, self.sentence, seed))]
        return glance_at(learner.model, self._drawn[0][1], learner.step)

    @property
    def names_words(self) -> bool:
        """Whether a word of the vocabulary is asked for; believed before anything is drawn."""
        asked = [q for _, example in self._drawn for part in example.with_auxiliary for q in part.questions]
        return not asked or any(question.head == "vocabulary" and question.loss is None for question in asked)


def text_to_watch(
    corpus: Corpus, objective: Objective, window: int, sentence: str = "", second: str = ""
) -> WatchedText:
    """The typed sentence where the objective can be asked of it, else a held-out row of the corpus.

    `second` is the typed second text of objectives that read two. A sentence without a word is refused.
    """
    held_out = f"a held-out {_row_name(objective)} from {corpus.name}"
    if not sentence.strip():
        why = f", because {objective.name} needs one" if objective.needs else ""
        return WatchedText(to_watch(corpus, objective, window), f"Watched: {held_out}{why}.")
    read_input(sentence, corpus.tokenizer)
    try:
        found = read(objective, sentence, second, strangers(0), corpus.tokenizer)
        if said_by_hand(objective):
            raise Refusal(f"{objective.name} needs a pair that somebody has judged; nobody has judged a typed one.")
        if draw_that_asks(objective, found.tokens) is None:
            raise Refusal(f"{objective.name} asks nothing of {sentence[:60]!r}; type a longer sentence.")
    except Refusal as refusal:
        said = f"The typed sentence is not watched: {refusal} Watched instead: {held_out}."
        return WatchedText(to_watch(corpus, objective, window), said)
    said = ("Watched: the typed sentence.", found.notice, guessed(objective))
    return WatchedText(found.tokens, " ".join(filter(None, said)))


def to_watch(corpus: Corpus, objective: Objective, window: int) -> Tokens:
    """One held-out text with everything that the objective needs beside it, of which it asks something."""
    rows = _held_out_rows(corpus, objective, window)
    first = next(rows)
    asked = (row for row in chain([first], rows) if draw_that_asks(objective, row) is not None)
    return next(asked, first)


def _held_out_rows(corpus: Corpus, objective: Objective, window: int) -> Iterator[Tokens]:
    """A short sentence where any text will do, then rows of the length that is trained on."""
    if not objective.needs:
        yield sentence_of(corpus)
    rows = windows(corpus, window, "held_out", 0, objective.needs)
    for number in range(min(ROWS_TRIED, len(rows.ids))):
        yield pick(rows, torch.tensor([number]))


def draw_that_asks(objective: Objective, text: Tokens) -> int | None:
    """The seed of the first draw in which an answer is scored; a generator that proposes asks in every draw."""
    if objective.proposes:
        return 0
    return next((seed for seed in range(DRAWS_TRIED) if _asks(objective, text, seed)), None)


def _asks(objective: Objective, text: Tokens, seed: int) -> bool:
    """Whether an answer is scored in a draw."""
    example = objective.example(text, generator(seed, "glance", device=text.ids.device.type))
    return any(bool(question.loss_mask.any()) for part in example.with_auxiliary for question in part.questions)


def _row_name(objective: Objective) -> str:
    """What a row of a corpus is called that has what the objective needs."""
    kinds = [ROWS[need] for need in ROWS if need in objective.needs]
    labels = [need.removeprefix("label:") for need in objective.needs if need.startswith("label:")]
    known = f" with its labels ({', '.join(labels)})" if labels else ""
    return f"{kinds[0] if kinds else 'text' if labels else 'sentence'}{known}"
