"""Choose n-grams of whole words."""

from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from playground.batch import Batch, arange_rows
from playground.knob import knob
from playground.objectives.choose.tokens import Chosen, TokenChoice, bert_count
from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import MarkedSpans, marked_spans
from playground.objectives.ops.ragged import ahead

TOO_LONG = 2**31


@dataclass(frozen=True)
class ChooseNgrams(TokenChoice):
    """Mark spans of up to `max_ngram` words until the share is met (ALBERT, arXiv:1909.11942, sec. 4.1, released code).

    "1/n" draws n words with a probability in proportion to 1/n (ALBERT); "80/20" draws one in 80 %, else one of the
    longer lengths (UniLM, arXiv:1905.03197, sec. 2, over single tokens); "uniform" draws every length equally often
    (GPT-BERT, arXiv:2410.24159, released code, over single tokens). A span that is too long for the budget is
    shortened word by word; one that meets a chosen word is dropped.
    """

    mask_ratio: float = knob(0.15, 0.0, 1.0, unit="share of tokens", why="More gaps, less context.")
    max_ngram: int = knob(3, 1, 6, unit="words", why="Longer spans are harder to guess.")
    sampler: str = knob(
        "1/n",
        choices=("1/n", "80/20", "uniform"),
        why="How often each length is drawn: ALBERT's, UniLM's or GPT-BERT's way.",
    )
    whole_words: bool = knob(True, why="Count in whole words (ALBERT), not in tokens (UniLM).")
    min_one: bool = knob(True, why="Always have a target: cut a word if none fits.")
    num_special_tokens: int = knob(2, 0, 4, unit="tokens", why="BERT counts [CLS] and [SEP] when it takes its share.")

    def plan(self, batch: Batch, rng: Generator) -> Chosen:
        tokens, blocks = batch.tokens, marked_spans(batch, batch.maskable)
        words = marked_spans(batch, batch.maskable, tokens.word_ids if self.whole_words else arange_rows(tokens.ids))
        keys, noise = sampling.noise((2, *words.number.shape), rng)
        order = keys.masked_fill(words.length == 0, 2.0).argsort(dim=1)
        budget = bert_count(self.mask_ratio, batch.maskable, self.num_special_tokens)
        size = self.sizes(words, blocks)
        positions = words.at(take_ngrams(size, self.lengths(size, noise), order, budget))
        return Chosen(at_least_one(positions, words, order, budget) if self.min_one else positions)

    def sizes(self, words: MarkedSpans, blocks: MarkedSpans) -> Tensor:
        """The tokens of 1, 2, ... words from each word on, `[b, u, n]`; `TOO_LONG` where the text ends before."""
        block = blocks.of.gather(1, words.start).masked_fill(words.length == 0, -1)
        found = []
        for further in range(self.max_ngram):
            one, where = ahead(words.length, further, 0), ahead(block, further, -2)
            together = one + (found[-1] if found else 0)
            found.append(together.masked_fill((where != block) | (words.length == 0), TOO_LONG))
        return torch.stack(found, dim=2).clamp(max=TOO_LONG)

    def lengths(self, size: Tensor, noise: Tensor) -> Tensor:
        """The words `[b, u]` to be hidden from each word on, drawn among the lengths that there is room for."""
        n = torch.arange(1, self.max_ngram + 1, dtype=torch.double)
        share = torch.ones_like(n) if self.sampler == "uniform" else 1 / n
        if self.sampler == "80/20" and self.max_ngram > 1:
            share = torch.where(n == 1, 0.8, 0.2 / (self.max_ngram - 1))
        total = (share / share.sum()).to(size.device).cumsum(0)
        within = pad(total, (1, 0))[(size < TOO_LONG).sum(2)]
        return 1 + (noise.double()[..., None] * within[..., None] >= total[:-1]).sum(2)

    def build(self, batch: Batch, plan: Chosen) -> Batch:
        return replace(batch, selected=plan.positions & batch.maskable)


def take_ngrams(size: Tensor, length: Tensor, order: Tensor, budget: Tensor) -> Tensor:
    """Which words `[b, u]` are taken: spans begin in an order `[b, u]` and hold `length` words or what still fits.

    `size` `[b, u, n]` is the number of tokens of the first n words of each span.
    """
    rows, width, longest = size.shape
    row, ahead = (torch.arange(number, device=size.device) for number in (rows, longest))
    taken = torch.zeros((rows, width + longest), dtype=torch.bool, device=size.device)
    for begin in order.unbind(1):
        cost, words = size[row, begin], length.gather(1, begin[:, None])
        fits = (ahead < words) & (cost <= budget[:, None])
        here = begin[:, None] + ahead
        was = taken.gather(1, here)
        new = fits & ~(was & fits).any(1, keepdim=True)
        taken = taken.scatter(1, here, was | new)
        budget = budget - cost.masked_fill(~new, 0).amax(1)
        if not bool(budget.any()):
            break
    return taken[:, :width]


def at_least_one(positions: Tensor, words: MarkedSpans, order: Tensor, budget: Tensor) -> Tensor:
    """The positions `[b, t]`; where there are none, the beginning of the first word, as long as the budget."""
    idle = (~positions.any(1)).nonzero()[:, 0]
    if not len(idle):
        return positions
    word = words.of[idle] == order[idle, :1]
    return positions.index_copy(0, idle, word & (word.cumsum(1) <= budget[idle, None]))
