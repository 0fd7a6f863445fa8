"""Change the order of words or sentences, or where the text begins.

These stages move the positions of the input as it stands, so they may follow each other and any stage that masks,
collapses or deletes. fairseq permutes sentences first and hides tokens afterwards, so its spans may join words of
sentences that were no neighbours; here spans are chosen in the text, and markers move with the sentence that they begin
in.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from playground.batch import Action, Batch, arange, arange_rows, gather_origin, language_ids_at, stream
from playground.errors import UserError
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.ops.ragged import anchors, reorder, shift
from playground.objectives.ops.sampling import inverse
from playground.objectives.stage import Change, PlanOverrides


def moved(batch: Batch, plan: Tensor) -> Batch:
    """The input in a new order; visible words that are not where the text has them count as moved."""
    inputs, real = batch.inputs, batch.tokens.valid
    rank = inverse(plan)
    order = rank.gather(1, anchors(inputs)).masked_fill(~inputs.valid, rank.shape[1]).argsort(dim=1, stable=True)
    away = (rank != arange_rows(rank)) & real & (batch.actions == Action.KEPT)
    return replace(
        batch,
        inputs=reorder(batch, order, inputs.valid, inputs.padded),
        actions=batch.actions.masked_fill(away, Action.MOVED),
        selected=batch.selected | (~batch.selected.any(1, keepdim=True) & real),
        prediction_order=rank,
    )


@dataclass(frozen=True)
class ChangeWordOrder(Change):
    """Shuffle the words: all of them, or each by less than `shuffle_distance` (survey, Table 2; XLM's word shuffle).

    The survey calls this sentence shuffling; BART's sentence shuffling moves whole sentences.
    """

    shuffle_distance: int = knob(
        0, 0, 10, unit="positions", why="0 shuffles freely; k moves a word by fewer than k positions, so 1 leaves it."
    )
    keys = ("order",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The text positions `[b, t]` in their new order."""
        word = batch.tokens.word_ids
        key = sampling.noise(tuple(word.shape), rng).gather(1, _from_zero(word))
        if self.shuffle_distance:
            key = _current_number(batch, word) + key * self.shuffle_distance
        return _sorted(batch, batch.maskable, key)

    build = staticmethod(moved)

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        return plan_overrides.order(batch, overrides["order"]).argsort(dim=1)

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"order": plan_overrides.words_in_order(batch, plan.argsort(dim=1), row)}


@dataclass(frozen=True)
class ChangeSentenceOrder(Change):
    """Shuffle whole sentences; the words inside each stay in order (BART, arXiv:1910.13461, sec. 2.2).

    With a `shuffle_ratio` below 1 so many sentences, rounded up, change places with each other and the others stay
    (fairseq). A plan by hand calls the order `sentences`, or `order` where no later stage orders words.
    """

    shuffle_ratio: float = knob(1.0, 0.0, 1.0, unit="share of sentences", why="0 leaves the sentences as they are.")
    keys = ("order", "sentences")

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The text positions `[b, t]` in their new order."""
        tokens = batch.tokens
        step = sampling.noise(tuple(tokens.ids.shape), rng)
        if self.shuffle_ratio < 1:
            step = self._some(batch, step, rng)
        return _sorted(batch, tokens.valid, step.gather(1, _from_zero(tokens.sentence_ids)))

    def _some(self, batch: Batch, noise: Tensor, rng: Generator) -> Tensor:
        """By sentence, its new number among all sentences `[b, t]`; those that move do so in the order of the noise."""
        tokens = batch.tokens
        last = torch.where(tokens.valid, _from_zero(tokens.sentence_ids), -1)
        there = arange(noise.shape[1], noise.device) <= pad(last, (0, 1), value=-1).amax(1, keepdim=True)
        moves = sampling.exactly(sampling.ceiling(self.shuffle_ratio, there.sum(1)), there, rng)
        return inverse(_permute(moves, noise))

    build = staticmethod(moved)

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        asked = overrides.get("sentences", overrides.get("order"))
        if overrides.get("order", asked) != asked:
            raise UserError(f"The plan has sentences {asked} and order {overrides['order']}; give one of them.")
        count = int(batch.tokens.sentence_ids[0][batch.tokens.valid[0]].max()) + 1
        plan_overrides.check_order(asked, count, "sentences")
        step = torch.tensor(asked, device=plan.device).argsort()
        return _sorted(batch, batch.tokens.valid, step[batch.tokens.sentence_ids.clamp(0, count - 1)])

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        in_order = batch.tokens.sentence_ids[row].gather(0, plan[row])[batch.tokens.valid[row]]
        return {"sentences": list(dict.fromkeys((in_order + 1).tolist()))}


@dataclass(frozen=True)
class ShiftInOrder(Change):
    """[START] and the words in the order of prediction but the last, each with its position and that of the next word.

    Positions are those of the text, from 1; that of [START] is 0. That of the word to predict is the second position
    (sigma-GPT, arXiv:2404.09562, sec. 2).
    """

    def build(self, batch: Batch) -> Batch:
        tokens, order = batch.tokens, inverse(batch.prediction_order)
        before = shift(order, -1)
        origin = before.where(tokens.valid, -1)
        ids = gather_origin(tokens.ids, origin, tokens.specials.start).where(tokens.valid, tokens.specials.pad)
        language = language_ids_at(tokens, origin)
        inputs = stream(ids, origin, tokens.valid, padded=tokens.padded, language=language)
        away = (batch.prediction_order != arange_rows(order)) & tokens.valid
        return replace(
            batch,
            inputs=replace(inputs, position_ids=before + 1, second_position_ids=order + 1),
            actions=batch.actions.masked_fill(away, Action.MOVED),
        )


@dataclass(frozen=True)
class RotateDocument(Change):
    """Rotate the text so that it begins at any token, each equally likely (BART, arXiv:1910.13461, sec. 2.2).

    What stood before that token comes last. `match_released_code` draws from one number too many, as fairseq does, so
    that the text stays as it is twice as often as it begins at any other token.
    """

    rotate_prob: float = knob(1.0, 0.0, 1.0, unit="probability", why="How often a text is rotated at all.")
    match_released_code: bool = knob(False, why="Leave the text unrotated twice as often, as the released code does.")
    keys = ("start",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The text position `[b]` that comes first."""
        inputs, count = batch.inputs, batch.inputs.valid.sum(1)
        noise = sampling.noise((len(count),), rng)
        drawn = (noise * (count + int(self.match_released_code))).long() % count.clamp(min=1)
        if not inputs.ids.shape[1]:
            return drawn
        position = anchors(inputs).gather(1, drawn[:, None])[:, 0]
        if self.rotate_prob < 1:
            rotates = sampling.noise((len(count),), rng) < self.rotate_prob
            position = position.where(rotates, inverse(batch.prediction_order)[:, 0])
        return position

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        real, now = batch.tokens.valid, inverse(batch.prediction_order)
        if not real.shape[1]:
            return moved(batch, now)
        slot = arange_rows(real)
        first = batch.prediction_order.gather(1, plan[:, None])
        rotated = (slot + first) % batch.tokens.lengths[:, None].clamp(min=1)
        return moved(batch, now.gather(1, rotated.where(real, slot)))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        return plan_overrides.positions(batch, [overrides["start"]], "The start").long().argmax(dim=1)

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        if not int(batch.tokens.lengths[row]):
            return {}
        return {"start": int(batch.tokens.word_ids[row, plan[row]]) + 1}


def _from_zero(index: Tensor) -> Tensor:
    """Word or sentence numbers counted from the row's first, so that they can address a table of the row's width."""
    return (index - index[:, :1]).clamp(0, index.shape[1] - 1)


def _current_number(batch: Batch, word: Tensor) -> Tensor:
    """How many words stand before each word `[b, t]` in the current order."""
    there = word.gather(1, inverse(batch.prediction_order))
    new = there[:, 1:] != there[:, :-1]
    number = torch.cat([torch.zeros_like(word[:, :1]), new.long()], dim=1).cumsum(1)
    return number.gather(1, batch.prediction_order)


def _sorted(batch: Batch, movable: Tensor, key: Tensor) -> Tensor:
    """The text positions when the movable ones are sorted by key; the others stay where they are now."""
    now = inverse(batch.prediction_order)
    return now.gather(1, _permute(movable.gather(1, now), key.gather(1, now)))


def _permute(movable: Tensor, key: Tensor) -> Tensor:
    """Fill the movable positions with the movable tokens in the order of their key; the others stay."""
    source = key.double().masked_fill(~movable, torch.inf).argsort(dim=1, stable=True)
    target = (~movable).argsort(dim=1, stable=True)
    return arange_rows(key).scatter(1, target, source).where(movable, arange_rows(key))
