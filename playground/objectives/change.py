"""Change: what happens to the chosen parts on their way into the model's input."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.example import Action, Example, Stream, at_origin, stream
from playground.knob import knob
from playground.objectives import draw, wishes
from playground.objectives.choose import inside
from playground.objectives.stage import Wishes
from playground.objectives.weave import weave
from playground.refusal import Refusal

WORDS_FOR_ACTIONS = {"mask": Action.MASKED, "random": Action.RANDOMISED, "keep": Action.GRADED_AS_IS}


@dataclass(frozen=True)
class Corruption:
    """What is done to each chosen token `[b, t]` and the word that random ones become `[b, t]`."""

    action: Tensor
    words: Tensor


@dataclass(frozen=True)
class NewOrder:
    """The place of the text `[b, t]` that each place is filled from."""

    source: Tensor


@dataclass(frozen=True)
class ChangeTokens:
    """Mask most chosen tokens, replace some at random, leave the rest as they are (BERT, arXiv:1810.04805, sec. 3.1).

    All three kinds are graded, so the model cannot trust any word it sees.
    """

    mask: float = knob(0.8, 0.0, 1.0, unit="share of the chosen", why="Hidden behind [MASK].")
    random: float = knob(0.1, 0.0, 1.0, unit="share of the chosen", why="A random word; the rest stays as it is.")
    keys: ClassVar[tuple[str, ...]] = ("actions", "replace")

    def __post_init__(self) -> None:
        if self.mask + self.random > 1 + 1e-9:
            raise Refusal(f"mask {self.mask} and random {self.random} add up to more than 1; lower one of them.")

    def plan(self, example: Example, rng: Generator) -> Corruption:
        dice = draw.noise(tuple(example.tokens.ids.shape), rng)
        action = torch.full_like(example.tokens.ids, Action.GRADED_AS_IS)
        action = action.masked_fill(dice < self.mask + self.random, Action.RANDOMISED)
        action = action.masked_fill(dice < self.mask, Action.MASKED)
        return Corruption(action, random_words(example, rng))

    def build(self, example: Example, plan: Corruption) -> Example:
        action = plan.action.where(example.chosen, example.action)
        corrupted = plan.words.where(action == Action.RANDOMISED, example.tokens.ids)
        corrupted = corrupted.masked_fill(action == Action.MASKED, example.tokens.specials.mask)
        return replace(example, action=action, inputs=rewritten(example.inputs, corrupted, example.chosen))

    def revise(self, example: Example, plan: Corruption, wanted: Wishes) -> Corruption:
        if not {"chosen", "spans", "actions", "replace"} & set(wanted):
            return plan
        positions = _ordered_positions(example)
        action = torch.full_like(plan.action, Action.MASKED)
        if "actions" in wanted:
            names = _one_each(wanted["actions"], wishes.words_of(example, example.chosen, 0), "actions")
            action = _paint(example, action, {p: _action(n) for p, n in names.items()})
        words = plan.words
        if "replace" in wanted:
            names = _one_each(wanted["replace"], _replaced(example, action, wanted), "replace")
            words = _paint(example, words, {p: word_id(example, n) for p, n in names.items()})
            action = action if "actions" in wanted else _paint(example, action, dict.fromkeys(positions, 2))
        return Corruption(action, words)

    def tell(self, example: Example, plan: Corruption, row: int) -> dict[str, Any]:
        names = {int(v): k for k, v in WORDS_FOR_ACTIONS.items()}
        first = first_pieces(example, example.chosen, row)
        told: dict[str, Any] = {"actions": [names[int(a)] for a in plan.action[row][first]]}
        new = plan.words[row][first & (plan.action[row] == Action.RANDOMISED)].tolist()
        return told | ({"replace": [example.tokens.vocabulary[i] for i in new]} if new else {})


@dataclass(frozen=True)
class ChangeToMarkers:
    """Fold every span into one marker: the same [MASK] (BART) or a numbered sentinel each (T5, sec. 3.1.4)."""

    marker: str = knob("mask", choices=("mask", "sentinel"), why="Numbered markers say which gap an answer fills.")

    def build(self, example: Example) -> Example:
        spans, tokens = example.spans, example.tokens
        marked = spans.start.where(spans.length > 0, -1)
        woven = weave(example, tokens.real & ~example.chosen, markers(example, self.marker), marked)
        first = inside(replace(spans, length=spans.length.clamp(max=1)), tokens.ids.shape[1])
        action = torch.where(first, int(Action.MASKED), int(Action.DELETED)).where(example.chosen, example.action)
        return replace(example, action=action, inputs=stream(woven.ids, woven.origin, woven.real))


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


def random_words(example: Example, rng: Generator) -> Tensor:
    """A word for every place `[b, t]`, uniform over the words of the vocabulary, specials excluded."""
    specials = example.tokens.specials
    low, high = specials.first_word, max(specials.size, specials.first_word + 1)
    return torch.randint(low, high, tuple(example.tokens.ids.shape), generator=rng, device=rng.device)


def rewritten(inputs: Stream, words: Tensor, where: Tensor) -> Stream:
    """The stream with the words `[b, t]` written at the positions that come from the marked places."""
    here = at_origin(where, inputs.origin, False)
    return replace(inputs, ids=at_origin(words, inputs.origin).where(here, inputs.ids))


def markers(example: Example, kind: str) -> Tensor:
    """One marker id for every span, `[b, m]`: [MASK], or sentinels numbered from left to right."""
    specials, spans = example.tokens.specials, example.spans
    if kind == "mask":
        return torch.full_like(spans.start, specials.mask)
    number = (spans.there.long().cumsum(1) - 1).clamp(0, len(specials.sentinels) - 1)
    return torch.tensor(specials.sentinels, device=spans.start.device)[number]


def moved(example: Example, plan: NewOrder) -> Example:
    """The text read in the new order; tokens that did not stay where they were count as moved."""
    tokens, source = example.tokens, plan.source
    away = source != torch.arange(source.shape[1], device=source.device)
    inputs = stream(tokens.ids.gather(1, source), source.where(tokens.real, -1), tokens.real, padded=tokens.padded)
    action = example.action.masked_fill(away & tokens.real, Action.MOVED)
    return replace(example, inputs=inputs, action=action, chosen=tokens.real, rank=source.argsort(dim=1))


def word_id(example: Example, word: str) -> int:
    """The id of a word that a person typed; the text's vocabulary must know it."""
    vocabulary = example.tokens.vocabulary
    if word not in vocabulary[example.tokens.specials.first_word :]:
        raise Refusal(f"The word {word!r} is not in the vocabulary of this text; use one that is.")
    return vocabulary.index(word, example.tokens.specials.first_word)


def first_pieces(example: Example, chosen: Tensor, row: int) -> Tensor:
    """The first chosen token of each word of a row, `[t]`: a plan in words says one thing about a whole word."""
    here = chosen[row].nonzero().flatten()
    word = example.tokens.word[row][here]
    first = torch.cat([word.new_ones(min(1, len(word)), dtype=torch.bool), word[1:] != word[:-1]])
    return torch.zeros_like(chosen[row]).scatter(0, here[first], True)


def _word_place(index: Tensor) -> Tensor:
    """Word or sentence numbers counted from the row's first, so that they can address a table of the row's width."""
    return (index - index[:, :1]).clamp(0, index.shape[1] - 1)


def _permute(movable: Tensor, key: Tensor) -> Tensor:
    """Fill the movable places with the movable tokens in the order of their key; the others stay."""
    places = torch.arange(key.shape[1], device=key.device).expand(key.shape)
    source = key.double().masked_fill(~movable, torch.inf).argsort(dim=1, stable=True)
    target = (~movable).long().argsort(dim=1, stable=True)
    return places.scatter(1, target, source).where(movable, places)


def _ordered_positions(example: Example) -> list[int]:
    return wishes.words_of(example, example.chosen, 0)


def _action(name: str) -> int:
    if name not in WORDS_FOR_ACTIONS:
        raise Refusal(f"The action {name!r} is not known; choose one of {', '.join(WORDS_FOR_ACTIONS)}.")
    return int(WORDS_FOR_ACTIONS[name])


def _replaced(example: Example, action: Tensor, wanted: Wishes) -> list[int]:
    if "actions" not in wanted:
        return _ordered_positions(example)
    return wishes.words_of(example, (action == Action.RANDOMISED) & example.chosen, 0)


def _one_each(values: list[str], positions: list[int], what: str) -> dict[int, str]:
    if len(values) != len(positions):
        raise Refusal(f"The plan {what} names {len(values)} for {len(positions)} chosen words; give one for each.")
    return dict(zip(positions, values, strict=True))


def _paint(example: Example, values: Tensor, by_word: dict[int, int]) -> Tensor:
    for word, value in by_word.items():
        values = values.masked_fill(wishes.places(example, [word]), value)
    return values
