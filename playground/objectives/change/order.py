"""Change the order of words or sentences, or where the text begins.

These stages move the positions of the input as it stands, so they may follow each other and any stage that masks,
folds or deletes. fairseq permutes sentences first and hides tokens afterwards, so its runs may join words of sentences
that were no neighbours; here runs are chosen in the text, and their marks move with the sentence that they begin in.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from playground.batch import Action, Batch
from playground.errors import Refusal
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.ops.ragged import home, reorder
from playground.objectives.stage import Change, Wishes


@dataclass(frozen=True)
class NewOrder:
    """The places of the text `[b, t]` in the order in which they are read from now on."""

    source: Tensor


@dataclass(frozen=True)
class Start:
    """The place of the text `[b]` that is read first."""

    place: Tensor


@dataclass(frozen=True)
class ChangeWordOrder(Change):
    """Shuffle the words: all of them, or each by less than `window` places (survey, Table 2; XLM's word shuffle).

    The survey calls this sentence shuffling; BART's sentence shuffling moves whole sentences.
    """

    shuffle_distance: int = knob(
        0, 0, 10, unit="places", why="0 shuffles freely; k moves a word by less than k places, so 1 leaves it."
    )
    keys: ClassVar[tuple[str, ...]] = ("order",)

    def plan(self, example: Batch, rng: Generator) -> NewOrder:
        tokens = example.tokens
        dice = sampling.noise(tuple(tokens.ids.shape), rng)
        by_word = dice.gather(1, _from_zero(tokens.word_ids))
        key = (
            by_word
            if self.shuffle_distance == 0
            else _number_now(example, tokens.word_ids) + by_word * self.shuffle_distance
        )
        return NewOrder(_sorted(example, example.maskable, key))

    def build(self, example: Batch, plan: NewOrder) -> Batch:
        return moved(example, plan)

    def revise(self, example: Batch, plan: NewOrder, wanted: Wishes) -> NewOrder:
        return NewOrder(plan_overrides.order(example, wanted["order"]).argsort(dim=1)) if "order" in wanted else plan

    def tell(self, example: Batch, plan: NewOrder, row: int) -> dict[str, Any]:
        return {"order": plan_overrides.words_in_order(example, plan.source.argsort(dim=1), row)}


@dataclass(frozen=True)
class ChangeSentenceOrder(Change):
    """Shuffle whole sentences; the words inside each stay in order (BART, arXiv:1910.13461, sec. 2.2).

    With a `shuffle_ratio` below 1 so many sentences, rounded up, change places with each other and the others stay
    (fairseq). By hand the order is called `sentences`; `order` is understood too where no later stage orders words.
    """

    shuffle_ratio: float = knob(1.0, 0.0, 1.0, unit="share of sentences", why="0 leaves the sentences as they are.")
    keys: ClassVar[tuple[str, ...]] = ("order", "sentences")

    def plan(self, example: Batch, rng: Generator) -> NewOrder:
        tokens = example.tokens
        step = sampling.noise(tuple(tokens.ids.shape), rng)
        if self.shuffle_ratio < 1:
            step = self._some(example, step, rng)
        return NewOrder(_sorted(example, tokens.valid, step.gather(1, _from_zero(tokens.sentence_ids))))

    def _some(self, example: Batch, dice: Tensor, rng: Generator) -> Tensor:
        """By sentence the place `[b, t]` among all sentences that it takes; those that move do so in order of dice."""
        tokens = example.tokens
        last = torch.where(tokens.valid, _from_zero(tokens.sentence_ids), -1)
        there = torch.arange(dice.shape[1], device=dice.device) <= pad(last, (0, 1), value=-1).amax(1, keepdim=True)
        moves = sampling.exactly(sampling.ceiling(self.shuffle_ratio, there.sum(1)), there, rng)
        return _in_order(_permute(moves, dice))

    def build(self, example: Batch, plan: NewOrder) -> Batch:
        return moved(example, plan)

    def revise(self, example: Batch, plan: NewOrder, wanted: Wishes) -> NewOrder:
        asked = wanted.get("sentences", wanted.get("order"))
        if asked is None:
            return plan
        if wanted.get("order", asked) != asked:
            raise Refusal(f"The plan says sentences {asked} and order {wanted['order']}; say one of them.")
        count = int(example.tokens.sentence_ids[0][example.tokens.valid[0]].max()) + 1
        if sorted(asked) != list(range(1, count + 1)):
            given = ",".join(map(str, asked))
            raise Refusal(f"The order {given} is not an order of {count} sentences; name each of 1 to {count} once.")
        step = torch.tensor(asked, device=plan.source.device).argsort()
        return NewOrder(_sorted(example, example.tokens.valid, step[example.tokens.sentence_ids.clamp(0, count - 1)]))

    def tell(self, example: Batch, plan: NewOrder, row: int) -> dict[str, Any]:
        in_order = example.tokens.sentence_ids[row].gather(0, plan.source[row])[example.tokens.valid[row]]
        return {"sentences": list(dict.fromkeys((in_order + 1).tolist()))}


@dataclass(frozen=True)
class RotateDocument(Change):
    """Turn the text so that it begins at any token, each equally likely (BART, arXiv:1910.13461, sec. 2.2).

    What stood before that token comes last. `match_released_code` draws from one number too many, as fairseq does, so
    that the text stays as it is twice as often as it begins at any other token.
    """

    rotate_prob: float = knob(1.0, 0.0, 1.0, unit="probability", why="How often a text is turned at all.")
    match_released_code: bool = knob(False, why="Leave the text as it is twice as often, as the released code does.")
    keys: ClassVar[tuple[str, ...]] = ("start",)

    def plan(self, example: Batch, rng: Generator) -> Start:
        inputs = example.inputs
        number = inputs.valid.sum(1)
        drawn = (sampling.noise((len(number),), rng) * (number + int(self.match_released_code))).long() % number.clamp(
            min=1
        )
        if not inputs.ids.shape[1]:
            return Start(drawn)
        place = home(inputs).gather(1, drawn[:, None])[:, 0]
        if self.rotate_prob < 1:
            place = place.where(
                sampling.noise((len(number),), rng) < self.rotate_prob, _in_order(example.prediction_order)[:, 0]
            )
        return Start(place)

    def build(self, example: Batch, plan: Start) -> Batch:
        return moved(example, self.begun_at(example, plan))

    def begun_at(self, example: Batch, plan: Start) -> NewOrder:
        """The order of the whole text when it begins at a place of it."""
        real, now = example.tokens.valid, _in_order(example.prediction_order)
        slot = torch.arange(real.shape[1], device=real.device).expand(real.shape)
        if not real.shape[1]:
            return NewOrder(now)
        ahead = example.prediction_order.gather(1, plan.place[:, None])
        turned = (slot + ahead) % example.tokens.lengths[:, None].clamp(min=1)
        return NewOrder(now.gather(1, turned.where(real, slot)))

    def revise(self, example: Batch, plan: Start, wanted: Wishes) -> Start:
        if "start" not in wanted:
            return plan
        places = plan_overrides.places(example, [wanted["start"]], "The start").long()
        return Start(places.argmax(dim=1))

    def tell(self, example: Batch, plan: Start, row: int) -> dict[str, Any]:
        if not int(example.tokens.lengths[row]):
            return {}
        return {"start": int(example.tokens.word_ids[row, plan.place[row]]) + 1}


def moved(example: Batch, plan: NewOrder) -> Batch:
    """The input read in the new order; words that are shown and not where the text has them count as moved."""
    inputs, real = example.inputs, example.tokens.valid
    rank = _in_order(plan.source)
    order = rank.gather(1, home(inputs)).masked_fill(~inputs.valid, rank.shape[1]).argsort(dim=1, stable=True)
    away = (rank != torch.arange(rank.shape[1], device=rank.device)) & real & (example.actions == Action.KEPT)
    chosen = example.selected | (~example.selected.any(1, keepdim=True) & real)
    return replace(
        example,
        inputs=reorder(example, order, inputs.valid, inputs.padded),
        actions=example.actions.masked_fill(away, Action.MOVED),
        selected=chosen,
        prediction_order=rank,
    )


def _in_order(rank: Tensor) -> Tensor:
    """The places `[b, t]` in the order of their rank, and back: the inverse of a permutation."""
    places = torch.arange(rank.shape[1], device=rank.device).expand(rank.shape)
    return torch.empty_like(rank).scatter_(1, rank, places)


def _from_zero(index: Tensor) -> Tensor:
    """Word or sentence numbers counted from the row's first, so that they can address a table of the row's width."""
    return (index - index[:, :1]).clamp(0, index.shape[1] - 1)


def _number_now(example: Batch, word: Tensor) -> Tensor:
    """How many words stand before each word `[b, t]` in the order of now."""
    there = word.gather(1, _in_order(example.prediction_order))
    new = there[:, 1:] != there[:, :-1]
    number = torch.cat([torch.zeros_like(word[:, :1]), new.long()], dim=1).cumsum(1)
    return number.gather(1, example.prediction_order)


def _sorted(example: Batch, movable: Tensor, key: Tensor) -> Tensor:
    """The places of the text when the movable ones are sorted by key; the others stay where they are now."""
    now = _in_order(example.prediction_order)
    return now.gather(1, _permute(movable.gather(1, now), key.gather(1, now)))


def _permute(movable: Tensor, key: Tensor) -> Tensor:
    """Fill the movable places with the movable tokens in the order of their key; the others stay."""
    places = torch.arange(key.shape[1], device=key.device).expand(key.shape)
    source = key.double().masked_fill(~movable, torch.inf).argsort(dim=1, stable=True)
    target = (~movable).argsort(dim=1, stable=True)
    return places.scatter(1, target, source).where(movable, places)
