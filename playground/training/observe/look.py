"""The predictions for one text while a model learns; the text can be sent to a worker process."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import torch

from playground.analysis.predictions import Predictions, glance_at, sentence_of, watched
from playground.batch import Batch, Tokens
from playground.corpora import Corpus
from playground.corpora.corpus import pick
from playground.devices import on_cpu
from playground.errors import UserError
from playground.objectives import Objective
from playground.rng import generator
from playground.tokenizing.text_input import read_input
from playground.trace.inputs import read, said_by_hand, strangers
from playground.trace.rebuild import guessed
from playground.training.data import windows
from playground.training.train_state import TrainState

ROWS_TRIED, DRAWS_TRIED = 16, 8
"""Held-out rows, and draws of each, among which the first with a scored position is taken."""

ROWS = {
    "translation": "text with its translation",
    "answer": "text with its answer",
    "distance": "sentence with its neighbours",
    "pair": "pair of texts",
    "sentences": "text of several sentences",
}
"""What a row of a corpus is called, by what the objective needs; the first that fits is taken."""


@dataclass
class ProbeSentence:
    """Predicts one text; its corruption is drawn once, or with every step where a generator takes part."""

    sentence: Tokens
    origin: str = ""
    _drawn: list[tuple[Objective, Batch]] = field(default_factory=list, repr=False)

    def __call__(self, learner: TrainState) -> Predictions:
        model, objective = on_cpu((learner.model, learner.objective), learner.device)
        if objective.proposes or not self._drawn or self._drawn[0][0] is not learner.objective:
            seed = draw_that_asks(objective, self.sentence) or 0
            self._drawn[:] = [(learner.objective, watched(model, objective, self.sentence, seed))]
        return glance_at(model, self._drawn[0][1], learner.step)

    @property
    def names_words(self) -> bool:
        """Whether a word of the vocabulary is predicted; assumed before anything is drawn."""
        asked = [target for _, batch in self._drawn for part in batch.with_auxiliary for target in part.targets]
        return not asked or any(target.kind.plain and target.kind.names_words for target in asked)


def text_to_watch(
    corpus: Corpus, objective: Objective, window: int, sentence: str = "", second: str = ""
) -> tuple[Tokens, str]:
    """The typed sentence (and `second` one) where it suits the objective, else a held-out row, and which it is."""
    held_out = f"a held-out {_row_name(objective)} from {corpus.name}"
    if not sentence.strip():
        why = f", because {objective.name} needs one" if objective.needs else ""
        return to_watch(corpus, objective, window), f"Watched: {held_out}{why}."
    read_input(sentence, corpus.tokenizer)
    try:
        typed = read(objective, sentence, second, strangers(0), corpus.tokenizer)
        if said_by_hand(objective):
            raise UserError(f"{objective.name} needs a pair with a label; a typed one has none.")
        if draw_that_asks(objective, typed.tokens) is None:
            raise UserError(f"{objective.name} asks nothing of {sentence[:60]!r}; type a longer sentence.")
    except UserError as refusal:
        origin = f"The typed sentence is not watched: {refusal} Watched instead: {held_out}."
        return to_watch(corpus, objective, window), origin
    origins = ("Watched: the typed sentence.", typed.notice, guessed(objective))
    return typed.tokens, " ".join(filter(None, origins))


def to_watch(corpus: Corpus, objective: Objective, window: int) -> Tokens:
    """A held-out text with all that the objective needs, and with a scored position where one is found."""
    rows = _held_out_rows(corpus, objective, window)
    first = next(rows)
    return next((row for row in chain([first], rows) if draw_that_asks(objective, row) is not None), first)


def _held_out_rows(corpus: Corpus, objective: Objective, window: int) -> Iterator[Tokens]:
    """A short sentence where the objective needs no more, then rows of the training length."""
    if not objective.needs:
        yield sentence_of(corpus)
    rows = windows(corpus, window, "held_out", 0, objective.needs)
    for number in range(min(ROWS_TRIED, len(rows.ids))):
        yield pick(rows, torch.tensor([number]))


def draw_that_asks(objective: Objective, text: Tokens) -> int | None:
    """The seed of the first draw with a scored position, None where none is found; 0 where a generator takes part."""
    if objective.proposes:
        return 0
    for seed in range(DRAWS_TRIED):
        batch = objective.batch(text, generator(seed, "glance", device=text.ids.device))
        if any(bool(target.loss_mask.any()) for part in batch.with_auxiliary for target in part.targets):
            return seed
    return None


def _row_name(objective: Objective) -> str:
    kinds = [ROWS[need] for need in ROWS if need in objective.needs]
    labels = [need.removeprefix("label:") for need in objective.needs if need.startswith("label:")]
    labelled = f" with its labels ({', '.join(labels)})" if labels else ""
    return f"{kinds[0] if kinds else 'text' if labels else 'sentence'}{labelled}"
