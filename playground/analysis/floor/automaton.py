"""The grammar of a generated corpus as a probabilistic automaton, made from the very tables that generate.

The grammar has no recursion, so the stack of what is still to be written has finitely many values: these are the
states. An arc writes one word. Between documents stands [SEP], after which the next document begins.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import exp
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from playground import catalog
from playground.analysis.floor.phenomena import END, phenomenon
from playground.corpora import Corpus
from playground.corpora.tinyworld.grammar import Form, Grammar
from playground.corpora.tinyworld.inflection import takes_an
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.vocabulary import vocabulary
from playground.corpora.tinyworld.world import find_preset, grammar
from playground.errors import UserError
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.vocabulary import SEPARATOR

Start = Literal["document", "sentence", "window"]
"""Where a text begins: with a document, with any of its sentences, or at any word (a row of training)."""

STARTS: Mapping[Start, str] = {
    "document": "a document",
    "sentence": "a sentence anywhere in a document",
    "window": "any word of a document",
}

STOPS = (".", "?")
"""Words that end a sentence."""

MOST_STATES = 250_000
"""States of the largest automaton that is built; that of `world` has 180,000 and takes some seconds."""

ARTICLES = ("a", "an")


class State(NamedTuple):
    """What is still to be written, top last; remembered choices; an article that waits for the word after it."""

    stack: tuple[int, ...]
    remembered: tuple[tuple[int, tuple[int, ...]], ...] = ()
    article: str = ""


class Arcs(NamedTuple):
    """Arcs to one state: their words (None: the end of the document) and chances."""

    after: State
    items: Sequence[int | None]
    chances: Sequence[float]


class FirstWord(NamedTuple):
    """First words of a symbol with their chances, and what it writes after them; None where it writes nothing."""

    rest: tuple[int, ...] | None
    items: tuple[int | None, ...]
    chances: tuple[float, ...]


@dataclass(frozen=True)
class Automaton:
    """Arcs `[a]` sorted by word; `phenomenon` says what each word is an instance of (a number of `phenomena`).

    `edges` `[v + 1]` are the first arcs of each word, `starts` the chance of each state `[s]` where a text begins.
    Where a text begins with a sentence, its first word is no [SEP].
    """

    preset: str
    tokenizer: Tokenizer
    phenomena: tuple[str, ...]
    source: Tensor
    word: Tensor
    target: Tensor
    chance: Tensor
    phenomenon: Tensor
    edges: Tensor
    starts: Mapping[Start, Tensor]

    @property
    def states(self) -> int:
        return len(self.starts["document"])

    def arcs_of(self, word: int) -> slice:
        """The arcs that write a word; none for a number that is no word of the grammar."""
        if not 0 <= word < len(self.edges) - 1:
            return slice(0, 0)
        return slice(int(self.edges[word]), int(self.edges[word + 1]))

    @cached_property
    def _by_source(self) -> tuple[Tensor, Tensor]:
        """The arcs in the order of their sources, and how many arcs begin at the states before each."""
        counts = torch.bincount(self.source, minlength=self.states)
        return self.source.argsort(), torch.cat([counts.new_zeros(1), counts.cumsum(0)])

    def arcs_from(self, states: Tensor) -> Tensor:
        """The arcs that begin at the states with a chance above 0."""
        order, edges = self._by_source
        alive = states.nonzero()[:, 0]
        counts = edges[alive + 1] - edges[alive]
        shift = edges[alive] - (counts.cumsum(0) - counts)
        return order[torch.arange(int(counts.sum())) + shift.repeat_interleave(counts)]

    @cached_property
    def moves(self) -> tuple[Tensor, Tensor, Tensor]:
        """Source, target and chance of every pair of neighbouring states, whatever the word: far fewer than arcs."""
        pairs, position = (self.source * self.states + self.target).unique(return_inverse=True)
        chance = torch.zeros(len(pairs), dtype=torch.float64).index_add_(0, position, self.chance)
        return pairs // self.states, pairs % self.states, chance

    @cached_property
    def verbs(self) -> Mapping[str, Tensor]:
        """Which words `[v]` are the singular and which the plural of a verb that agrees with its subject."""
        forms = [form for form in grammar(self.preset).forms if form.attractors]
        return {number: self._marked(f.word for f in forms if f.number == number) for number in ("sg", "pl")}

    def _marked(self, words: Iterator[str]) -> Tensor:
        marked = torch.zeros(len(self.tokenizer), dtype=torch.bool)
        marked[self.tokenizer.encode_words(words)] = True
        return marked


def automaton_of(corpus: Corpus) -> Automaton:
    """The automaton that wrote a corpus; raises `UserError` where no grammar did, or its tokens are not words."""
    if corpus.name not in catalog.find("playground.corpora.tinyworld.presets", Preset):
        raise UserError(f"{corpus.name} was not written by a grammar, so the best possible prediction is not known.")
    if corpus.tokenizer.words != vocabulary(corpus.name).words:
        raise UserError(f"{corpus.name} is cut into other tokens than the words of its grammar; use whole words.")
    return automaton(corpus.name)


@lru_cache(maxsize=4)
def automaton(preset: str) -> Automaton:
    """The automaton of a preset's documents."""
    writer, tokenizer = _Writer(grammar(find_preset(preset).name)), vocabulary(preset)
    article: dict[str, int] = dict(zip(ARTICLES, tokenizer.encode_words(ARTICLES), strict=True))
    ids = {None: SEPARATOR, **{k: tokenizer.encode_words([form.word])[0] for k, (form, _) in enumerate(writer.items)}}
    phenomena = {name: k for k, name in enumerate(dict.fromkeys([END, *(name for _, name in writer.items)]))}
    kinds = {None: phenomena[END], **{k: phenomena[name] for k, (_, name) in enumerate(writer.items)}}
    numbers, states = {writer.start: 0}, [writer.start]
    columns, chances = [array("q") for _ in range(4)], array("d")
    for number, state in enumerate(states):  # grows while it is read
        for after, items, share in writer.arcs(state):
            if after not in numbers:
                numbers[after] = len(states)
                states.append(after)
            words = [article[after.article]] if after.article else map(ids.__getitem__, items)
            pair = [number] * len(items), [numbers[after]] * len(items)
            for column, values in zip(columns, (words, *pair, map(kinds.__getitem__, items)), strict=True):
                column.extend(values)
            chances.extend(share)
        if len(states) > MOST_STATES:
            raise UserError(f"The grammar of {preset} has more than {MOST_STATES:,} states; choose another corpus.")
    word, source, target, kind, chance = _merged(columns, chances, len(states), len(phenomena))
    edges = torch.searchsorted(word, torch.arange(len(tokenizer) + 1))
    stops = torch.isin(word, torch.tensor(tokenizer.encode_words(STOPS)))
    starts = _starts(source, target, chance, word == SEPARATOR, stops, len(states))
    return Automaton(preset, tokenizer, tuple(phenomena), source, word, target, chance, kind, edges, starts)


def _merged(columns: Sequence[array], chances: array, states: int, kinds: int) -> tuple[Tensor, ...]:
    """Word, source, target, phenomenon and chance of the arcs, sorted by word and source; equal arcs are one."""
    word, source, target, kind = (torch.frombuffer(column, dtype=torch.int64) for column in columns)
    every, position = (((word * states + source) * states + target) * kinds + kind).unique(return_inverse=True)
    chance = torch.zeros(len(every), dtype=torch.float64)
    chance.index_add_(0, position, torch.frombuffer(chances, dtype=torch.float64))
    rest, kind = every // kinds, every % kinds
    return rest // states // states, rest // states % states, rest % states, kind, chance


def _starts(
    source: Tensor, target: Tensor, chance: Tensor, ends: Tensor, stops: Tensor, states: int
) -> dict[Start, Tensor]:
    """The chance of every state where a text begins, from how often a document visits each state."""
    first = torch.zeros(states, dtype=torch.float64)
    first[0] = 1.0
    inside = ~ends
    visits, now = first.clone(), first
    while bool(now.any()):
        flow = now[source[inside]] * chance[inside]
        now = torch.zeros_like(first).index_add_(0, target[inside], flow)
        visits += now
    after = first.index_add(0, target[stops], visits[source[stops]] * chance[stops])
    ending = torch.zeros_like(first).index_add_(0, source[ends], chance[ends])
    return {"document": first, "sentence": after / (after * (1 - ending)).sum(), "window": visits / visits.sum()}


class _Writer:
    """The steps of the generator, all choices at once; items are words together with what they are instances of."""

    def __init__(self, rules: Grammar):
        self.rules = rules
        names = {number: name for name, number in rules.names.items()}
        self.items: list[tuple[Form, str]] = []
        self.numbers: dict[tuple[int, str], int] = {}
        self.parts = {
            number: [tuple(self._tagged(names[number], parts)) for parts in rules.rules[number].parts]
            for number in rules.names.values()
        }
        self.uses = self._closure({n: {n} for n, name in names.items() if name[0] == "$"})
        remembers = self._closure({n: {n} for n in names if rules.rules[n].remember})
        self.plain = {n for n in names if not self.uses[n] and not remembers[n]}
        self.articles = {k for k, (form, _) in enumerate(self.items) if form.word in ARTICLES}
        self.vowels = {k for k, (form, _) in enumerate(self.items) if takes_an(form.word.lower())}
        self.known: dict[int, list[FirstWord]] = {}
        self.start = State((rules.names["Document"],))

    def _tagged(self, rule: str, parts: tuple[int, ...]) -> Iterator[int]:
        """Parts of a rule without brackets, each word with its phenomenon."""
        for part in parts:
            if part < 0:
                yield part
            elif (form := self.rules.forms[part]).pos:
                key = (part, phenomenon(rule, form))
                if key not in self.numbers:
                    self.numbers[key] = len(self.items)
                    self.items.append((form, key[1]))
                yield self.numbers[key]

    def _closure(self, own: Mapping[int, set[int]]) -> dict[int, frozenset[int]]:
        """What each rule and all rules below it have of their own."""
        found = {number: frozenset(own.get(number, ())) for number in self.parts}
        while True:
            wider = {
                number: found[number].union(*(found[part] for way in ways for part in way if part < 0))
                for number, ways in self.parts.items()
            }
            if wider == found:
                return found
            found = wider

    def arcs(self, state: State) -> Iterator[Arcs]:
        """The arcs of a state; an article is split into "a" and "an" by the chance of what comes after it."""
        if state.article:
            yield from self._fitting(state._replace(article=""), state.article)
            return
        for after, items, chances in self._plain(state):
            if items[0] not in self.articles:
                yield Arcs(after, items, chances)
                continue
            an = sum(sum(found.chances) for found in self._fitting(after, "an", scaled=False))
            for article, share in (("a", 1 - an), ("an", an)):
                if share > 1e-12:
                    yield Arcs(after._replace(article=article), items, [chance * share for chance in chances])

    def _fitting(self, state: State, article: str, scaled: bool = True) -> list[Arcs]:
        """The arcs that agree with the article before them, with chances that sum to 1 if `scaled`."""
        found = []
        for after, items, chances in self._plain(state):
            kept = [k for k, item in enumerate(items) if (item in self.vowels) == (article == "an")]
            if kept:
                found.append(Arcs(after, [items[k] for k in kept], [chances[k] for k in kept]))
        total = sum(sum(arcs.chances) for arcs in found) if scaled else 1.0
        return [Arcs(after, items, [chance / total for chance in chances]) for after, items, chances in found]

    def _plain(self, state: State) -> Iterator[Arcs]:
        """Every first word of a state, its chance, and what is left to be written after it."""
        ways = [(state.stack, dict(state.remembered), 1.0)]
        while ways:
            stack, remembered, chance = ways.pop()
            if not stack:
                yield Arcs(self.start, (None,), (chance,))
            elif stack[-1] >= 0:
                yield Arcs(self._state(stack[:-1], remembered), stack[-1:], (chance,))
            elif stack[-1] not in self.plain:
                ways += [(rest, bound, chance * p) for rest, bound, p in self._unfold(stack, remembered)]
            else:
                for rest, items, chances in self._heads(stack[-1]):
                    if rest is None:
                        ways.append((stack[:-1], remembered, chance * chances[0]))
                    else:
                        yield Arcs(self._state(stack[:-1] + rest, remembered), items, [chance * p for p in chances])

    def _heads(self, symbol: int) -> list[FirstWord]:
        """The first words of a symbol that neither remembers nor repeats, those with the same rest together."""
        if symbol not in self.known:
            sums: dict[tuple[tuple[int, ...] | None, bool], dict[int | None, float]] = {}
            for parts, cost in zip(self.parts[symbol], self.rules.rules[symbol].costs, strict=True):
                for rest, item, chance in self._first(parts, exp(-cost)):
                    words = sums.setdefault((rest, item in self.articles), {})
                    words[item] = words.get(item, 0.0) + chance
            self.known[symbol] = [FirstWord(rest, (*words,), (*words.values(),)) for (rest, _), words in sums.items()]
        return self.known[symbol]

    def _first(self, stack: tuple[int, ...], chance: float) -> Iterator[tuple]:
        """Rest, first word and chance of everything that a stack of plain symbols can begin with."""
        if not stack:
            yield None, None, chance
        elif stack[-1] >= 0:
            yield stack[:-1], stack[-1], chance
        else:
            for rest, items, chances in self._heads(stack[-1]):
                for item, p in zip(items, chances, strict=True):
                    if rest is None:
                        yield from self._first(stack[:-1], chance * p)
                    else:
                        yield stack[:-1] + rest, item, chance * p

    def _unfold(self, stack: tuple[int, ...], remembered: dict[int, tuple[int, ...]]) -> Iterator[tuple]:
        """The stacks that come from all ways of the topmost rule, with what they remember and their chances."""
        symbol, rest = stack[-1], stack[:-1]
        rule = self.rules.rules[symbol]
        if symbol in remembered:
            yield rest + remembered[symbol], remembered, 1.0
        elif rule.remember:
            for chosen, chance in self._written(self.parts[symbol][0], remembered):
                yield rest, {**remembered, rule.remember: chosen}, chance
        else:
            for parts, cost in zip(self.parts[symbol], rule.costs, strict=True):
                yield rest + parts, remembered, exp(-cost)

    def _written(self, start: tuple[int, ...], remembered: dict[int, tuple[int, ...]]) -> Iterator[tuple]:
        """Everything that a stack can write, as a stack of words, with its chance."""
        ways: list[tuple[tuple[int, ...], tuple[int, ...], float]] = [(start, (), 1.0)]
        while ways:
            stack, words, chance = ways.pop()
            if not stack:
                yield words[::-1], chance
            elif stack[-1] >= 0:
                ways.append((stack[:-1], (*words, stack[-1]), chance))
            else:
                ways += [(rest, words, chance * p) for rest, _, p in self._unfold(stack, remembered)]

    def _state(self, stack: tuple[int, ...], remembered: dict[int, tuple[int, ...]]) -> State:
        """A state without the remembered choices that nothing on its stack can repeat."""
        if not remembered:
            return State(stack)
        used = frozenset[int]().union(*(self.uses[part] for part in stack if part < 0))
        return State(stack, tuple(sorted((name, words) for name, words in remembered.items() if name in used)))
