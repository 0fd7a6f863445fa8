"""Dependency trees: which word hangs on which, by Universal Dependencies (universaldependencies.org/u/dep).

The grammar knows the phrases, their kinds and the parts of speech, and its sentences are so regular that the trees
follow from them. Sentences of the same shape have the same tree, so each shape is parsed once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from playground.corpora.tinyworld.grammar import Form

RELATIONS = tuple(
    "root nsubj nsubj:pass obj obl obl:agent nmod det nummod amod advmod aux:pass cop case mark xcomp advcl conj cc "
    "flat discourse reparandum dep punct aux".split()
)
"""How a word can hang on another."""

JOINING = {"and": "conj", "but": "conj", "so": "conj", "because": "advcl"}
"""How the clause after each of these words hangs on the clause before."""

PHRASES = ("NP", "VP", "PP", "AP")
ROLES = ("agent", "action", "patient", "place", "goal", "source", "time")

ASKING = ("where", "how", "what")
"""Words that ask for what "is" says, and so are the heads of their clauses."""

MODAL = ("will", "can")
"""Words that serve a verb without making it passive."""

_TELLING = frozenset(("of", "to", *ASKING, *MODAL, *JOINING))


class Word(NamedTuple):
    """A word of a shape: itself if it matters, its part of speech, its phrase or -1, the phrase's kind and role."""

    text: str
    pos: str
    phrase: int
    kind: str
    role: str


@dataclass
class _Tree:
    """The arcs found so far: head and relation of each word; the root has the head -1."""

    words: Sequence[Word]
    head: dict[int, int] = field(default_factory=dict)
    relation: dict[int, str] = field(default_factory=dict)

    def hang(self, word: int, head: int, relation: str) -> None:
        self.head[word], self.relation[word] = head, relation


@dataclass(frozen=True)
class _Unit:
    """A phrase, or a word outside all phrases, with the word at its head."""

    kind: str
    role: str
    places: tuple[int, ...]
    top: int


def parse(words: Sequence[Word]) -> tuple[list[int], list[str]]:
    """The head of every word of a sentence, by its place (-1: none), and its relation to it."""
    tree = _Tree(words)
    first, *others = _clauses(tree, list(_units(tree)))
    root = _clause(tree, first)
    tree.hang(root, -1, "root")
    for joint, *units in others:
        how = JOINING[words[joint.top].text]
        head = _clause(tree, units)
        tree.hang(head, root, how)
        tree.hang(joint.top, head, "mark" if how == "advcl" else "cc")
    for place, word in enumerate(words):
        if place not in tree.head:
            tree.hang(place, root, _LOOSE.get(word.pos, "advmod"))
    return [tree.head[k] for k in range(len(words))], [tree.relation[k] for k in range(len(words))]


_LOOSE = {"PUNCT": "punct", "INTJ": "discourse", "SYM": "dep", "DET": "reparandum", "NOUN": "reparandum"}
"""How a word outside all phrases hangs on the root; words that are said and taken back are such."""


def _units(tree: _Tree) -> Iterator[_Unit]:
    """Phrases and single words, with the arcs inside them."""
    places = range(len(tree.words))
    for key, group in groupby(places, lambda k: (tree.words[k].phrase, k if tree.words[k].phrase < 0 else 0)):
        run = tuple(group)
        word = tree.words[run[0]]
        kind = word.kind if key[0] >= 0 else word.pos
        yield _Unit(kind, word.role, run, (_verbs if kind == "VP" else _nouns)(tree, run))


def _verbs(tree: _Tree, run: tuple[int, ...]) -> int:
    """The verb at the head of its phrase; "was" before another word serves it."""
    said = [k for k in run if tree.words[k].pos in ("VERB", "ADJ")]
    top = said[0] if said else run[0]
    for k in run:
        word = tree.words[k]
        if k == top:
            continue
        if word.pos == "AUX":
            tree.hang(k, top, "aux" if word.text in MODAL else "aux:pass" if tree.words[top].pos == "VERB" else "cop")
        elif word.pos == "VERB":
            tree.hang(k, top, "xcomp")
        elif word.text == "to":
            tree.hang(k, k + 1, "mark")
        else:
            tree.hang(k, top, "advmod")
    return top


def _nouns(tree: _Tree, run: tuple[int, ...]) -> int:
    """The noun, the first word of a name, the pronoun or the adjective at the head of a phrase."""
    top = _best(tree, run)
    first: dict[str, int] = {}
    for k in run:
        word = tree.words[k]
        after = first.get(word.pos)
        if k == top:
            pass
        elif word.pos == "ADJ" and after is not None:
            tree.hang(k, after, "conj")
        elif word.pos == "CONJ":
            tree.hang(k, k + 1, "cc")
        elif word.pos == "ADV":
            tree.hang(k, k + 1, "advmod")
        elif word.pos == "PROPN":
            tree.hang(k, top, "flat")
        else:
            tree.hang(k, top, _INSIDE[word.pos])
        first.setdefault(word.pos, k)
    return top


_INSIDE = {"DET": "det", "NUM": "nummod", "ADJ": "amod", "ADP": "case", "PART": "advmod", "PRON": "det"}


def _best(tree: _Tree, run: tuple[int, ...]) -> int:
    """The last noun, else the first word of the kind that comes first in this list."""
    nouns = [k for k in run if tree.words[k].pos == "NOUN"]
    found = (k for pos in ("PROPN", "PRON", "ADJ") for k in run if tree.words[k].pos == pos)
    return nouns[-1] if nouns else next(found, run[0])


def _clauses(tree: _Tree, units: list[_Unit]) -> list[list[_Unit]]:
    """The units of every clause; a word joins two clauses only where both have a verb."""
    clauses: list[list[_Unit]] = [[]]
    for k, unit in enumerate(units):
        joins = len(unit.places) == 1 and unit.kind in ("CONJ", "ADV") and tree.words[unit.top].text in JOINING
        if joins and all(any(u.kind == "VP" for u in some) for some in (clauses[-1], units[k:])):
            clauses.append([])
        clauses[-1].append(unit)
    return clauses


def _clause(tree: _Tree, units: list[_Unit]) -> int:
    """The arcs between the units of a clause; its head is a verb, what "is" says, or the noun of a title.

    A second verb, "happy to join with you", hangs on that head and has what comes after it.
    """
    verb = next((k for k, unit in enumerate(units) if unit.kind == "VP"), len(units))
    top = _head(tree, units, verb)
    passive = verb < len(units) and any(tree.relation.get(k) == "aux:pass" for k in units[verb].places)
    if verb < len(units) and units[verb].top != top:
        tree.hang(units[verb].top, top, "cop")
    again = next((k for k, unit in enumerate(units) if unit.kind == "VP" and k > verb), len(units))
    for k, unit in enumerate(units[:again]):
        if unit.top != top and unit.top not in tree.head and unit.kind in ("NP", "PP", "AP"):
            tree.hang(unit.top, *_place(tree, units, k, verb, top, passive))
    if again < len(units):
        tree.hang(_clause(tree, units[again:]), top, "advcl")
    return top


def _head(tree: _Tree, units: list[_Unit], verb: int) -> int:
    """The head of a clause: the verb, if it is more than "is"; else what follows it or, before it, asks."""
    phrases = [unit for unit in units if unit.kind in ("NP", "PP", "AP")]
    if verb == len(units):
        return phrases[0].top if phrases else units[0].top
    if tree.words[units[verb].top].pos != "AUX":
        return units[verb].top
    asked = [unit.top for unit in units[:verb] if tree.words[unit.top].text in ASKING]
    return (asked or [unit.top for unit in units[verb + 1 :] if unit in phrases] or [units[verb].top])[0]


def _place(tree: _Tree, units: list[_Unit], k: int, verb: int, top: int, passive: bool) -> tuple[int, str]:
    """On what a phrase hangs, and how."""
    unit, before = units[k], units[k - 1] if k else None
    if before and before.kind in ("CONJ", "ADP", "PUNCT") and unit.kind != "PP":
        joined = _joined(tree, units, k)
        if joined is not None:
            return joined, "conj"
    if unit.kind == "NP" and unit.role != "time" and not (before and before.kind == "ADP"):
        if k < verb:
            return top, "nsubj:pass" if passive else "nsubj"
        return (top, "nsubj") if tree.words[top].text in ASKING else (_last_verb(tree, units[verb], top), "obj")
    if unit.kind == "PP" and before and _owned(tree, units, k, verb):
        return next(u.top for u in reversed(units[:k]) if u.kind == "NP"), "nmod"
    return top, "obl:agent" if passive and unit.role == "agent" else "obl"


def _last_verb(tree: _Tree, verb: _Unit, top: int) -> int:
    """What an object belongs to: "plan" in "want to plan a visit"."""
    return verb.places[-1] if tree.words[verb.places[-1]].pos == "VERB" else top


def _joined(tree: _Tree, units: list[_Unit], k: int) -> int | None:
    """The phrase of the same kind that a phrase after "and", a preposition alone or a comma stands beside."""
    before = units[k - 1]
    earlier = [u.top for u in units[: k - 1] if u.kind == units[k].kind]
    if before.kind == "ADP":
        tree.hang(before.top, units[k].top, "case")
        return None
    if not earlier or (before.kind == "PUNCT" and units[k].kind != "AP"):
        return None
    tree.hang(before.top, units[k].top, "cc" if before.kind == "CONJ" else "punct")
    return earlier[-1]


def _owned(tree: _Tree, units: list[_Unit], k: int, verb: int) -> bool:
    """Whether a phrase with a preposition says which thing is meant: "of", or between a thing and its verb."""
    if tree.words[units[k].places[0]].text == "of":
        return True
    noun_before = any(u.kind == "NP" for u in units[:k])
    return noun_before and (k < verb)


def constituents(heads: Sequence[int]) -> list[tuple[int, int]]:
    """First and last word of every group of words that hangs together: a word and all below it, the largest first.

    `heads` are places in the sentence, -1 for the root; groups of one word are left out.
    """
    below: list[set[int]] = [{k} for k in range(len(heads))]
    for k in range(len(heads)):
        above = k
        while heads[above] >= 0:
            above = heads[above]
            below[above].add(k)
    spans = {(min(group), max(group)) for group in below if len(group) > 1}
    return sorted(spans, key=lambda span: (span[0] - span[1], span))


def trees(forms: Sequence[Form], written: Tensor, labels: Mapping[str, Tensor], sentence: Tensor) -> dict[str, Tensor]:
    """The labels `head` (the place of another token, -1 for none) and `relation`, from the phrases and their roles."""
    words = (written < len(forms)).nonzero()[:, 0]
    kinds = list(dict.fromkeys(map(_kind, forms)))
    spoken = torch.tensor([kinds.index(_kind(form)) for form in forms])[written[words]]
    phrase = labels["phrase"][words]
    goes_on = torch.cat([torch.tensor([False]), (phrase[1:] == phrase[:-1]) & (phrase[1:] >= 0)])
    kind, role = labels["phrase_type"][words].long(), labels["role"][words].long()
    codes = ((spoken * 8 + kind + 1) * 16 + role + 1) * 2 + goes_on
    within, count = sentence[words].unique_consecutive(return_inverse=True, return_counts=True)[1:]
    first = count.cumsum(0) - count
    shapes: dict[bytes, int] = {}
    text, ends = codes.short().numpy().tobytes(), (2 * count.cumsum(0)).tolist()
    shape = [shapes.setdefault(text[a:b], len(shapes)) for a, b in pairwise([0, *ends])]
    parsed = [parse(list(_words(memoryview(seen).cast("h"), kinds))) for seen in shapes]
    length = torch.tensor([len(heads) for heads, _ in parsed])
    place = (length.cumsum(0) - length)[torch.tensor(shape)][within] + torch.arange(len(words)) - first[within]
    heads = torch.tensor([head for heads, _ in parsed for head in heads], dtype=torch.int32)[place]
    found = torch.tensor([RELATIONS.index(one) for _, said in parsed for one in said], dtype=torch.int8)[place]
    head, relation = torch.full_like(written, -1, dtype=torch.int32), torch.full_like(written, -1, dtype=torch.int8)
    head[words] = heads.where(heads < 0, heads + words[first][within].int())
    relation[words] = found
    return {"head": head, "relation": relation}


def _kind(form: Form) -> tuple[str, str]:
    """What of a form matters for a tree: its part of speech, and a few small words themselves."""
    return form.word if form.word in _TELLING else "", form.pos


def _words(codes: Sequence[int], kinds: Sequence[tuple[str, str]]) -> Iterator[Word]:
    """The words of a shape."""
    phrase = -1
    for code in codes:
        spoken, kind, role = code // 256, code // 32 % 8 - 1, code // 2 % 16 - 1
        phrase += 1 - code % 2
        where = (phrase, PHRASES[kind], ROLES[role] if role >= 0 else "") if kind >= 0 else (-1, "", "")
        yield Word(*kinds[spoken], *where)
