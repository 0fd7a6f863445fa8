"""Unmasking: a masked model fills the gaps of a text step by step; each step reads what those before filled in."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch
from playground.models import LanguageModel

RULES = ("confidence", "random", "left to right")
"""Which gaps a step fills: those that the model is surest of (LLaDA, arXiv:2502.09992, sec. 2.4), any (MDLM,
arXiv:2406.07524, sec. 3.3), or the first ones."""


@dataclass(frozen=True)
class Filled:
    """The batch after a step, and what the step filled in: position, token id and its probability."""

    batch: Batch
    tokens: tuple[tuple[int, int, float], ...]


def can_unmask(batch: Batch) -> bool:
    """Whether a batch is of masked diffusion, whose gaps may be filled one after the other."""
    return batch.time is not None


@torch.no_grad()
def unmask(model: LanguageModel, batch: Batch, rule: str, steps: int, rng: Generator) -> Iterator[Filled]:
    """Fill the hidden positions of a batch of one row in about so many steps, block after block where it has blocks.

    Every gap of a block draws a token from what the model predicts there, special tokens excluded; a step keeps its
    share of them, by the rule.
    """
    [target], specials = batch.targets, [*batch.tokens.specials.ids]
    gaps = target.loss_mask[0].nonzero()[:, 0]
    block = torch.zeros_like(gaps) if batch.block is None else batch.block[0, batch.inputs.origin[0, gaps]]
    parts = [gaps[block == number] for number in block.unique().tolist()]
    for part in parts:
        left, rounds = part, min(len(part), -(-steps // len(parts)))
        for later in range(rounds - 1, -1, -1):
            asked = torch.zeros_like(target.loss_mask).index_fill_(1, left, True)
            *_, answer = model(replace(batch, targets=(replace(target, loss_mask=asked, known=None),)))
            chances = answer.scores.index_fill(1, torch.tensor(specials), float("-inf")).softmax(-1)
            drawn = torch.multinomial(chances, 1, generator=rng)
            sure = chances.gather(1, drawn)[:, 0]
            keys = {"confidence": -sure, "random": torch.rand(len(left), generator=rng), "left to right": left}[rule]
            taken = keys.argsort(stable=True)[: len(left) - len(left) * later // (later + 1)]
            batch = _written(batch, left[taken], drawn[taken, 0])
            tokens = zip(left[taken].tolist(), drawn[taken, 0].tolist(), sure[taken].tolist(), strict=True)
            left = left[~torch.isin(left, left[taken])]
            yield Filled(batch, tuple(sorted(tokens)))


def _written(batch: Batch, positions: Tensor, ids: Tensor) -> Batch:
    """The batch with tokens at some positions of its input; its actions say whether they are those of the text.

    Where the text stands behind the changed one, the tokens are written there too, for the blocks that come later.
    """
    origin = batch.inputs.origin[0, positions]
    same = batch.tokens.ids[0, origin] == ids
    actions, read = batch.actions.clone(), batch.inputs.ids.clone()
    actions[0, origin] = torch.where(same, int(Action.SAME_BY_LUCK), int(Action.REPLACED))
    for place, token in zip(origin.tolist(), ids.tolist(), strict=True):
        read[0, batch.inputs.origin[0] == place] = token
    return replace(batch, inputs=replace(batch.inputs, ids=read), actions=actions)
