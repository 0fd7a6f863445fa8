"""The exact chance of every word at a position of a text, given any other words of it (forward-backward algorithm)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from playground.analysis.floor.automaton import STARTS, Automaton, Start
from playground.errors import UserError
from playground.tokenizing.vocabulary import SEPARATOR

Seen = tuple[bool, ...]


@dataclass(frozen=True)
class ParseChart:
    """A text as ids and where it begins; sums over all ways to write it are kept for the parts that were asked for.

    What follows the text is unknown, and so are the words in the `gaps`, which must not be among those that are seen.
    Raises `UserError` where the grammar cannot write the text.
    """

    automaton: Automaton
    ids: tuple[int, ...]
    start: Start = "sentence"
    gaps: frozenset[int] = frozenset()
    _forward: dict[Seen, Tensor] = field(default_factory=dict, repr=False, compare=False)
    _backward: dict[Seen, Tensor] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a text that the grammar cannot write, naming the word at which it fails."""
        for position in range(len(self.ids)):
            if not bool(self._before(tuple(k not in self.gaps for k in range(position + 1))).any()):
                raise UserError(self._refusal(position))

    def chances(self, position: int, seen: Sequence[bool]) -> Tensor:
        """The chance of every word `[v]` at a position, given the words that are `seen` `[t]` (its own never is)."""
        rules = self.automaton
        before, after = self._before(tuple(seen[:position])), self._after(tuple(seen[position + 1 :]))
        arcs = rules.arcs_from(before)
        weights = before[rules.source[arcs]] * self._chance(position, arcs) * after[rules.target[arcs]]
        words = torch.zeros(len(rules.tokenizer), dtype=torch.float64).index_add_(0, rules.word[arcs], weights)
        return words / words.sum()

    def next_words(self) -> Tensor:
        """The chance of every word at each position, given the words to the left, `[t, v]`."""
        return self._all([[k < position for k in range(len(self.ids))] for position in range(len(self.ids))])

    def two_sided(self) -> Tensor:
        """The chance of every word at each position, given all other words, `[t, v]`."""
        return self._all([[True] * len(self.ids)] * len(self.ids))

    def _all(self, seen: Sequence[Sequence[bool]]) -> Tensor:
        return torch.stack([self.chances(position, row) for position, row in enumerate(seen)])

    def phenomena(self) -> Tensor:
        """The share of each phenomenon in the word at each position given the whole text, `[t, phenomena]`."""
        rules, rows = self.automaton, []
        for position, word in enumerate(self.ids):
            arcs = rules.arcs_of(word)
            before = self._before((True,) * position)[rules.source[arcs]]
            after = self._after((True,) * (len(self.ids) - position - 1))[rules.target[arcs]]
            shares = torch.zeros(len(rules.phenomena), dtype=torch.float64)
            shares.index_add_(0, rules.phenomenon[arcs], before * self._chance(position, arcs) * after)
            rows.append(shares / shares.sum())
        return torch.stack(rows)

    def _before(self, seen: Seen) -> Tensor:
        """The chance of every state `[s]` after the first `len(seen)` words, up to a factor."""
        if not seen:
            return self.automaton.starts[self.start]
        if seen not in self._forward:
            self._forward[seen] = _scaled(self._step(self._before(seen[:-1]), len(seen) - 1, seen[-1]))
        return self._forward[seen]

    def _after(self, seen: Seen) -> Tensor:
        """The chance `[s]` of the last `len(seen)` words from every state, up to a factor."""
        if not any(seen):
            return torch.ones(self.automaton.states, dtype=torch.float64)
        if seen not in self._backward:
            self._backward[seen] = _scaled(self._step_back(self._after(seen[1:]), len(self.ids) - len(seen), seen[0]))
        return self._backward[seen]

    def _step(self, states: Tensor, position: int, seen: bool) -> Tensor:
        source, target, chance = self._moves(position, seen)
        return torch.zeros_like(states).index_add_(0, target, states[source] * chance)

    def _step_back(self, states: Tensor, position: int, seen: bool) -> Tensor:
        source, target, chance = self._moves(position, seen)
        return torch.zeros_like(states).index_add_(0, source, states[target] * chance)

    def _moves(self, position: int, seen: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Source, target and chance of what can be written at a position: its own word, or any where it is hidden."""
        rules = self.automaton
        if not seen and not self._begins_sentence(position):
            return rules.moves
        arcs = rules.arcs_of(self.ids[position]) if seen else slice(None)
        return rules.source[arcs], rules.target[arcs], self._chance(position, arcs)

    def _chance(self, position: int, arcs: slice | Tensor) -> Tensor:
        rules = self.automaton
        if self._begins_sentence(position):
            return rules.chance[arcs] * (rules.word[arcs] != SEPARATOR)
        return rules.chance[arcs]

    def _begins_sentence(self, position: int) -> bool:
        return position == 0 and self.start == "sentence"

    def _refusal(self, position: int) -> str:
        words = self.automaton.tokenizer.decode(self.ids)
        said = f"after {' '.join(words[:position])!r}" if position else f"at the beginning of {STARTS[self.start]}"
        return (
            f"The grammar of {self.automaton.preset} cannot write {words[position]!r} {said}, "
            "so the best possible prediction is not known; choose one of its own sentences."
        )


def chart_of(automaton: Automaton, words: Sequence[str], start: Start = "sentence") -> ParseChart:
    """The chart of a text that is given as words."""
    return ParseChart(automaton, tuple(automaton.tokenizer.encode_words(words)), start)


def _scaled(states: Tensor) -> Tensor:
    """The same chances with sum 1, so that long texts do not underflow."""
    return states / states.sum().clamp(min=torch.finfo(torch.float64).tiny)
