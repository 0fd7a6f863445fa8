"""Choose whole sentences."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Batch, arange, arange_rows
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.choose.spans import ChosenSpans, mark_spans
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides

FEWEST, HIGHEST = 0.15, 0.45
"""The share of sentences of each text is drawn between these where it is `stochastic`."""

SHAKEN = 0.2
"""By how much of itself a score may rise or fall where it is `stochastic`."""

TIE = 1e-9
"""How far a later sentence is ahead of an earlier one whose random score is the same, as it is where both are 0."""


@dataclass(frozen=True)
class ChooseGapSentences(Choose):
    """Mark the sentences that share most words with the rest (PEGASUS, arXiv:1912.08777, sec. 3.1 and released code).

    "rouge" takes those with the highest ROUGE-1 F1 against all others, each scored alone and repeated words counted
    ("Ind-Orig"), of equals the later; "lead" takes the first, "random" any. A text of one sentence keeps it.
    Frequent words without meaning count like all others here; the released code leaves them out of ROUGE. The mixed and
    stochastic model (`stochastic`) draws the share of each text and multiplies the scores by noise of a fifth up or
    down, as its authors write; their code has less noise.
    """

    gap_sentence_ratio: float = knob(0.3, 0.05, 0.9, unit="share of sentences", why="More gaps, less to read.")
    sentence_selection: str = knob(
        "rouge", choices=("rouge", "lead", "random"), why="Which sentences make the best summary."
    )
    stochastic: bool = knob(False, why="Draw the share of each text from .15 to .45 and perturb the scores by 20 %.")
    keys = ("sentences",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """Which sentences are taken, `[b, m]`, counted from the row's first."""
        size = words_by_sentence(batch)
        return sampling.rank(-self.priority(batch, size, rng)) < self.count((size > 0).sum(1), rng)[:, None]

    def count(self, number: Tensor, rng: Generator) -> Tensor:
        """How many of so many sentences `[b]`: the share rounded down, at least one, none where there is only one."""
        ratio = torch.full(number.shape, self.gap_sentence_ratio, dtype=torch.double, device=number.device)
        if self.stochastic:
            ratio = FEWEST + (HIGHEST - FEWEST) * sampling.noise(tuple(number.shape), rng).double()
        count = (number * ratio + 1e-9).floor().long().clamp(min=1)
        return count.masked_fill(number < 2, 0)

    def priority(self, batch: Batch, size: Tensor, rng: Generator) -> Tensor:
        """A number for every sentence `[b, m]`, highest first; sentences without words come last."""
        position = arange_rows(size)
        if self.sentence_selection == "random":
            return sampling.noise(tuple(size.shape), rng).masked_fill(size == 0, -1.0)
        if self.sentence_selection == "lead":
            return (-position).masked_fill(size == 0, -size.shape[1])
        score = overlap(batch, size.shape[1])
        if self.stochastic:
            score = score * (1 + SHAKEN * (2 * sampling.noise(tuple(size.shape), rng).double() - 1))
            return (score + TIE * position).masked_fill(size == 0, -1.0)
        return (score * size.shape[1] + position).masked_fill(size == 0, -1)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        width, most = batch.tokens.ids.shape[1], plan.shape[1]
        number = sentence_number(batch).where(batch.maskable, most).clamp(max=most)
        position = arange_rows(number)
        table = torch.zeros((len(number), most + 1), dtype=torch.long, device=number.device)
        stop = table.scatter_reduce(1, number, position + 1, "amax")[:, :most]
        start = (table + width).scatter_reduce(1, number, position, "amin")[:, :most]
        taken = plan & (stop > 0)
        return mark_spans(batch, ChosenSpans(start * taken, (stop - start).where(taken, -1)))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        count = plan.shape[1]
        for number in overrides["sentences"]:
            if not 1 <= number <= count:
                raise UserError(
                    f"Sentence {number} is not in the text; it has {count}, so 1 to {count} would be right."
                )
        asked = torch.tensor([n - 1 for n in overrides["sentences"]], dtype=torch.long, device=plan.device)
        return torch.isin(arange(count, plan.device), asked).expand_as(plan)

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"sentences": (plan[row].nonzero().flatten() + 1).tolist()}


def sentence_number(batch: Batch) -> Tensor:
    """The sentence of each position `[b, t]`, counted from the row's first."""
    sentence = batch.tokens.sentence_ids
    return (sentence - sentence[:, :1]).clamp(min=0)


def words_by_sentence(batch: Batch) -> Tensor:
    """How many words each sentence has, `[b, m]`."""
    number, words = sentence_number(batch) * batch.maskable, batch.maskable
    most = int(number.max()) + 1 if number.numel() else 0
    size = torch.zeros((len(number), most), dtype=torch.long, device=number.device)
    return size.scatter_add(1, number, words.long()) if most else size


def overlap(batch: Batch, most: int) -> Tensor:
    """How many words of each sentence `[b, most]` the rest of the text has too, repeats counted.

    This is the numerator of ROUGE-1 F1; its denominator is half the words of the text, the same for every sentence.
    The words are sorted by id and sentence; a word that comes k-th in its sentence counts where others have k of it.
    """
    words, width = batch.maskable, max(1, batch.tokens.ids.shape[1])
    number = sentence_number(batch) * words
    key = (batch.tokens.ids * width + number).masked_fill(~words, torch.iinfo(torch.long).max)
    key, order = key.sort(dim=1)
    first_of_word = key // width * width
    first, last = (torch.searchsorted(key, key, right=right) for right in (False, True))
    everywhere = torch.searchsorted(key, first_of_word + width) - torch.searchsorted(key, first_of_word)
    nth = arange_rows(key) - first
    counted = (nth < everywhere - (last - first)) & words.gather(1, order)
    score = torch.zeros((len(key), most), dtype=torch.long, device=key.device)
    return score.scatter_add(1, number.gather(1, order), counted.long()) if most else score
