"""Change the order of words or sentences."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.example import Action, Example, spoken, stream
from playground.knob import knob
from playground.objectives import draw, wishes
from playground.objectives.stage import Wishes
from playground.refusal import Refusal


@dataclass(frozen=True)
class NewOrder:
    """The place of the text `[b, t]` that each place is filled from."""

    source: Tensor


@dataclass(frozen=True)
class ChangeWordOrder:
    """Shuffle the words: all of them, or each by less than `window` places (survey, Table 2; XLM's word shuffle).

    The survey calls this sentence shuffling; BART's sentence shuffling moves whole sentences.
    """

    window: int = knob(0, 0, 10, unit="places", why="0 shuffles freely; k moves a word by less than k places.")
    keys: ClassVar[tuple[str, ...]] = ("order",)

    def plan(self, example: Example, rng: Generator) -> NewOrder:
        tokens = example.tokens
        dice = draw.noise(tuple(tokens.ids.shape), rng)
        by_word = dice.gather(1, _word_place(tokens.word))
        key = by_word if self.window == 0 else _word_place(tokens.word) + by_word * self.window
        return NewOrder(_permute(example.maskable, key))

    def build(self, example: Example, plan: NewOrder) -> Example:
        return moved(example, plan)

    def revise(self, example: Example, plan: NewOrder, wanted: Wishes) -> NewOrder:
        return NewOrder(wishes.order(example, wanted["order"]).argsort(dim=1)) if "order" in wanted else plan

    def tell(self, example: Example, plan: NewOrder, row: int) -> dict[str, Any]:
        return {"order": wishes.words_in_order(example, plan.source.argsort(dim=1), row)}


@dataclass(frozen=True)
class ChangeSentenceOrder:
    """Shuffle whole sentences; the words inside each stay in order (BART, arXiv:1910.13461, sec. 2.2)."""

    keys: ClassVar[tuple[str, ...]] = ("order",)

    def plan(self, example: Example, rng: Generator) -> NewOrder:
        tokens = example.tokens
        dice = draw.noise(tuple(tokens.ids.shape), rng)
        return NewOrder(_permute(tokens.real, dice.gather(1, _word_place(tokens.sentence))))

    def build(self, example: Example, plan: NewOrder) -> Example:
        return moved(example, plan)

    def revise(self, example: Example, plan: NewOrder, wanted: Wishes) -> NewOrder:
        if "order" not in wanted:
            return plan
        count = int(example.tokens.sentence[0][example.tokens.real[0]].max()) + 1
        if sorted(wanted["order"]) != list(range(1, count + 1)):
            given = ",".join(map(str, wanted["order"]))
            raise Refusal(f"The order {given} is not an order of {count} sentences; name each of 1 to {count} once.")
        step = torch.tensor(wanted["order"], device=plan.source.device).argsort()
        return NewOrder(_permute(example.tokens.real, step[example.tokens.sentence.clamp(0, count - 1)]))

    def tell(self, example: Example, plan: NewOrder, row: int) -> dict[str, Any]:
        in_order = example.tokens.sentence[row].gather(0, plan.source[row])[example.tokens.real[row]]
        return {"order": list(dict.fromkeys((in_order + 1).tolist()))}


def moved(example: Example, plan: NewOrder) -> Example:
    """The text read in the new order; tokens that did not stay where they were count as moved."""
    tokens, source = example.tokens, plan.source
    away = source != torch.arange(source.shape[1], device=source.device)
    origin = source.where(tokens.real, -1)
    language = spoken(tokens, origin)
    inputs = stream(tokens.ids.gather(1, source), origin, tokens.real, padded=tokens.padded, language=language)
    action = example.action.masked_fill(away & tokens.real, Action.MOVED)
    return replace(example, inputs=inputs, action=action, chosen=tokens.real, rank=source.argsort(dim=1))


def _word_place(index: Tensor) -> Tensor:
    """Word or sentence numbers counted from the row's first, so that they can address a table of the row's width."""
    return (index - index[:, :1]).clamp(0, index.shape[1] - 1)


def _permute(movable: Tensor, key: Tensor) -> Tensor:
    """Fill the movable places with the movable tokens in the order of their key; the others stay."""
    places = torch.arange(key.shape[1], device=key.device).expand(key.shape)
    source = key.double().masked_fill(~movable, torch.inf).argsort(dim=1, stable=True)
    target = (~movable).long().argsort(dim=1, stable=True)
    return places.scatter(1, target, source).where(movable, places)
