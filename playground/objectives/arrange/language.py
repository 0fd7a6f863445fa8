"""Arrange one of two translations of each other."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Batch, Tokens, begin, zeros_view
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.arrange.pair import either
from playground.objectives.ops import sampling
from playground.objectives.stage import Arrange, PlanOverrides

NAMES = ("first", "second")


@dataclass(frozen=True)
class ArrangeLanguage(Arrange):
    """A coin decides in which of its two languages each text is read (mBART, arXiv:2001.08210, sec. 2).

    What is read has the other language as its translation, unless rows are `filled` with the sentences that follow in
    the same language (XLM, arXiv:1901.07291, sec. 5.1); a typed text stays as it is.
    mBART puts a language token at the end of the input and the start of the output; here every position knows its
    language, as in XLM (arXiv:1901.07291, sec. 3.4 and figure 1).
    """

    filled: bool = False
    keys = ("language",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """Whether each row is read in the second language, `[b]`."""
        return sampling.noise((len(batch.tokens.ids),), rng) < 0.5

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        first, second = batch.tokens, translation(batch.tokens)
        if self.filled:
            near = first.neighbours
            return begin(either(plan, near.get("translation stream", second), near.get("stream", first)))
        facing = {"translation": either(plan, first, second)}
        return begin(replace(either(plan, second, first), neighbours={**first.neighbours, **facing}))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        if overrides["language"] not in NAMES:
            raise UserError(f"The language is {overrides['language']!r}; it must be one of {', '.join(NAMES)}.")
        return torch.full_like(plan, overrides["language"] == NAMES[1])

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"language": NAMES[int(plan[row])]}


@dataclass(frozen=True)
class DropLanguageIds(Arrange):
    """Whether the model gets language ids (XLM, arXiv:1901.07291, figure 1) or must see the language in the words.

    mBERT has no vectors for languages; XLM-R (arXiv:1911.02116, sec. 3) leaves them out for texts that mix languages.
    """

    language_embeddings: bool = knob(
        False, why="A vector for the language at every position, as XLM has it; mBERT and XLM-R do not."
    )

    def build(self, batch: Batch) -> Batch:
        if self.language_embeddings:
            return batch
        return replace(batch, inputs=replace(batch.inputs, language_ids=zeros_view(batch.inputs.ids)))


def translation(tokens: Tokens) -> Tokens:
    """The same texts in the second language."""
    if "translation" not in tokens.neighbours:
        raise UserError("This objective needs translations; this corpus or text has none. Give a second text.")
    return tokens.neighbours["translation"]
