"""Change tokens where they stand: into a mask, into a random word, or not at all."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Action, Batch, Stream, gather_origin, token_strings
from playground.errors import UserError
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.choose.subsampling import word_weights
from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import marked_spans
from playground.objectives.stage import Change, PlanOverrides

FATES, WORDS = 3, 4
"""Salts of the fixed draws: the action for each token, and which random word."""

WORDS_FOR_ACTIONS = {"mask": Action.MASKED, "random": Action.RANDOMISED, "keep": Action.SCORED_AS_IS}


@dataclass(frozen=True)
class Corruption:
    """The flat chosen positions of all rows `[m]`, what is done to each, and its random word."""

    positions: Tensor
    action: Tensor
    words: Tensor

    def row(self, number: int, width: int) -> tuple[Tensor, Tensor]:
        """The actions and words of the tokens of one row, `[t]` each; 0 where nothing is done."""
        mine = self.positions // max(1, width) == number
        zeros = self.positions.new_zeros(width)
        at = self.positions[mine] - number * width
        return zeros.index_copy(0, at, self.action[mine]), zeros.index_copy(0, at, self.words[mine])


@dataclass(frozen=True)
class ChangeTokens(Change):
    """Mask most chosen tokens, replace some at random, leave the rest as they are (BERT, arXiv:1810.04805, sec. 3.1).

    All three kinds are scored, so the model cannot trust any word it sees. One draw decides for each token (BERT), for
    all pieces of a word (fairseq) or for a span of chosen tokens (SpanBERT, arXiv:1907.10529, sec. 3.1). Where the
    choice is one of a text's fixed ones, so is what becomes of it.
    """

    mask_replace_prob: float = knob(0.8, 0.0, 1.0, unit="share of the chosen", why="Replaced by [MASK].")
    random_replace_prob: float = knob(
        0.1, 0.0, 1.0, unit="share of the chosen", why="A random word; the others stay unchanged."
    )
    random_words_from: str = knob(
        "words",
        choices=("words", "vocabulary", "unigram"),
        why="Random words: any, specials too (BERT's code), or as often as the corpus has them (SpanBERT).",
    )
    replace_unit: str = knob(
        "token", choices=("token", "word", "span"), why="What is masked, replaced or kept together."
    )
    keys = ("actions", "replace")
    follows = ("chosen", "spans")

    def __post_init__(self) -> None:
        if self.mask_replace_prob + self.random_replace_prob > 1 + 1e-9:
            raise UserError(
                f"mask_replace_prob {self.mask_replace_prob} and random_replace_prob {self.random_replace_prob} "
                "add up to more than 1; lower one of them."
            )

    def plan(self, batch: Batch, rng: Generator) -> Corruption:
        positions = batch.selected_positions
        if self.replace_unit == "token" and not batch.dupe_factor:
            return self._each_alone(batch, positions, rng)
        noise = self._noise(batch, positions, rng)
        return Corruption(positions, self._action(noise), self._words(batch, positions, rng))

    def _action(self, noise: Tensor) -> Tensor:
        """The action that a uniform number stands for."""
        return (
            Action.MASKED
            + (noise >= self.mask_replace_prob).long()
            + (noise >= self.mask_replace_prob + self.random_replace_prob)
        )

    def _each_alone(self, batch: Batch, positions: Tensor, rng: Generator) -> Corruption:
        """One draw for each token: its first bits give the action, the others the word; none where all are masked."""
        if self.mask_replace_prob >= 1:
            first, _ = pool_of(batch, self.random_words_from)
            return Corruption(positions, torch.full_like(positions, Action.MASKED), torch.full_like(positions, first))
        noise = torch.rand(len(positions), generator=rng, device=rng.device, dtype=torch.double)
        words = words_by((noise * 2**24).frac_(), batch, self.random_words_from)
        return Corruption(positions, self._action(noise), words)

    def _noise(self, batch: Batch, positions: Tensor, rng: Generator) -> Tensor:
        """A number for each chosen position, shared by each span of chosen tokens, or by the pieces of each word."""
        noise = sampling.text_noise(batch.tokens, batch.dupe_factor, FATES, rng)
        if self.replace_unit != "token":
            number = batch.tokens.word_ids if self.replace_unit == "word" else None
            noise = noise.gather(1, marked_spans(batch, batch.selected, number).first)
        return noise.take(positions)

    def _words(self, batch: Batch, positions: Tensor, rng: Generator) -> Tensor:
        """The random words; integers are drawn at once where no fixed draw must come again."""
        if batch.dupe_factor:
            noise = sampling.text_noise(batch.tokens, batch.dupe_factor, WORDS, rng).take(positions)
            return words_by(noise, batch, self.random_words_from)
        if self.random_words_from == "unigram":
            return words_by(sampling.noise((len(positions),), rng), batch, self.random_words_from)
        size, id_of = pool_of(batch, self.random_words_from)
        return id_of(torch.randint(size, (len(positions),), generator=rng, device=rng.device))

    def build(self, batch: Batch, plan: Corruption) -> Batch:
        tokens = batch.tokens
        new = plan.words.where(plan.action == Action.RANDOMISED, tokens.ids.take(plan.positions))
        new = new.masked_fill(plan.action == Action.MASKED, tokens.specials.mask)
        inputs = rewritten(batch.inputs, put(tokens.ids, plan.positions, new), batch.selected)
        return replace(batch, actions=put(batch.actions, plan.positions, plan.action), inputs=inputs)

    def override_plan(self, batch: Batch, plan: Corruption, overrides: PlanOverrides) -> Corruption:
        default = Action.RANDOMISED if "replace" in overrides else Action.MASKED
        action = torch.full_like(batch.actions, default)
        if "actions" in overrides:
            chosen = plan_overrides.words_of(batch, batch.selected, 0)
            names = one_each(overrides["actions"], chosen, "actions")
            action = paint(batch, action, {p: _action(n) for p, n in names.items()})
        words = put(batch.tokens.ids, plan.positions, plan.words)
        if "replace" in overrides:
            random = plan_overrides.words_of(batch, (action == Action.RANDOMISED) & batch.selected, 0)
            names = one_each(overrides["replace"], random, "replace")
            words = paint(batch, words, {p: word_id(batch, n, self.random_words_from) for p, n in names.items()})
        return Corruption(plan.positions, action.take(plan.positions), words.take(plan.positions))

    def describe_plan(self, batch: Batch, plan: Corruption, row: int) -> dict[str, Any]:
        names = {int(v): k for k, v in WORDS_FOR_ACTIONS.items()}
        first = first_pieces(batch, batch.selected, row)
        action, words = plan.row(row, batch.selected.shape[1])
        new = token_strings(words, first & (action == Action.RANDOMISED), batch.tokens.vocabulary)
        return {"actions": [names[int(a)] for a in action[first]]} | ({"replace": new} if new else {})


def put(values: Tensor, positions: Tensor, new: Tensor) -> Tensor:
    """Values `[b, t]` with new ones at some flat positions `[m]`."""
    copy = values.clone(memory_format=torch.contiguous_format)
    copy.view(-1).scatter_(0, positions, new)
    return copy


def words_by(noise: Tensor, batch: Batch, pool: str = "words") -> Tensor:
    """A word for each uniform number: any word, any entry of the vocabulary, or words by how often they occur."""
    if pool == "unigram":
        limits = word_weights(batch.tokens).cumsum(0)
        return torch.searchsorted(limits, noise.double() * limits[-1], right=True)
    size, id_of = pool_of(batch, pool)
    return id_of((noise.double() * size).long())


def pool_of(batch: Batch, pool: str) -> tuple[int, Callable[[Tensor], Tensor]]:
    """How many entries a pool of random words has, the words or the whole vocabulary, and their ids by number."""
    specials = batch.tokens.specials
    if pool == "vocabulary":
        return specials.size, lambda number: number
    return max(len(specials.words), 1), specials.nth_word


def rewritten(inputs: Stream, words: Tensor, where: Tensor) -> Stream:
    """The stream with the words `[b, t]` written at the positions that come from the marked ones."""
    here = gather_origin(where, inputs.origin, False)
    return replace(inputs, ids=gather_origin(words, inputs.origin).where(here, inputs.ids))


def word_id(batch: Batch, word: str, pool: str = "words") -> int:
    """The id of a word of a plan by hand; the text's vocabulary must have it, as a word unless any entry may be it."""
    ids = [k for k, entry in enumerate(batch.tokens.vocabulary) if entry == word]
    known = batch.tokens.specials.is_word(torch.tensor(ids, dtype=torch.long)).tolist()
    found = [k for k, is_word in zip(ids, known, strict=True) if is_word or pool == "vocabulary"]
    if not found:
        raise UserError(f"The word {word!r} is not in the vocabulary of this text; use one that is.")
    return found[0]


def first_pieces(batch: Batch, chosen: Tensor, row: int) -> Tensor:
    """The first chosen token of each word of a row, `[t]`: a plan in words has one value for a whole word."""
    here = chosen[row].nonzero().flatten()
    word = batch.tokens.word_ids[row][here]
    first = torch.cat([word.new_ones(min(1, len(word)), dtype=torch.bool), word[1:] != word[:-1]])
    return torch.zeros_like(chosen[row]).scatter(0, here[first], True)


def _action(name: str) -> int:
    if name not in WORDS_FOR_ACTIONS:
        raise UserError(f"The action {name!r} is not known; choose one of {', '.join(WORDS_FOR_ACTIONS)}.")
    return int(WORDS_FOR_ACTIONS[name])


def one_each(values: list[str], positions: list[int], what: str, of: str = "chosen words") -> dict[int, str]:
    """One value for each word position, or a refusal with both numbers."""
    if len(values) != len(positions):
        raise UserError(f"The plan {what} names {len(values)} for {len(positions)} {of}; give one for each.")
    return dict(zip(positions, values, strict=True))


def paint(batch: Batch, values: Tensor, by_word: dict[int, int]) -> Tensor:
    """Values `[b, t]` with some whole words overwritten."""
    for word, value in by_word.items():
        values = values.masked_fill(plan_overrides.positions(batch, [word]), value)
    return values
