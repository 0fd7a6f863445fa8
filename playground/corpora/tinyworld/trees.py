"""Dependency trees by Universal Dependencies (universaldependencies.org/u/dep).

The grammar gives the phrases, their types and the parts of speech, and its sentences are so regular that the trees
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

JOINING = {"and": "conj", "but": "conj", "so": "conj", "because": "advcl"}
"""Words that join two clauses, and the relation of the second clause to the first."""

PHRASES = ("NP", "VP", "PP", "AP")
ROLES = ("agent", "action", "patient", "place", "goal", "source", "time")

ASKING = ("where", "how", "what")
"""Question words, which are the heads of their clauses where the verb is a copula."""

MODAL = ("will", "can")
"""Auxiliaries that do not make a passive."""

_DECISIVE = frozenset(("of", "to", *ASKING, *MODAL, *JOINING))
"""Words that decide on a tree by themselves; of all others only the part of speech matters."""

_INSIDE = {
    "DET": "det",
    "NUM": "nummod",
    "ADJ": "amod",
    "ADP": "case",
    "PART": "advmod",
    "PRON": "det",
    "PROPN": "flat",
}
"""Relations of words to the head of their nominal phrase."""

_LOOSE = {"PUNCT": "punct", "INTJ": "discourse", "SYM": "dep", "DET": "reparandum", "NOUN": "reparandum"}
"""Relations of words outside all phrases to the root; nouns among them are slips that are taken back."""


class ParsedWord(NamedTuple):
    """A word of a shape: its text if it is decisive, part of speech, number of its phrase or -1, its type and role."""

    text: str
    pos: str
    phrase: int
    kind: str
    role: str


@dataclass
class _Tree:
    """The arcs found so far: head and relation of each word; the root has the head -1."""

    words: Sequence[ParsedWord]
    head: dict[int, int] = field(default_factory=dict)
    relation: dict[int, str] = field(default_factory=dict)

    def attach(self, word: int, head: int, relation: str) -> None:
        self.head[word], self.relation[word] = head, relation


@dataclass(frozen=True)
class _Unit:
    """A phrase, or a word outside all phrases, with its words and the head among them."""

    kind: str
    role: str
    words: tuple[int, ...]
    head: int


def parse(words: Sequence[ParsedWord]) -> tuple[list[int], list[str]]:
    """The head of every word of a sentence, as an index (-1: none), and its relation to it."""
    tree = _Tree(words)
    first, *others = _clauses(tree, list(_units(tree)))
    root = _clause(tree, first)
    tree.attach(root, -1, "root")
    for joint, *units in others:
        relation = JOINING[words[joint.head].text]
        head = _clause(tree, units)
        tree.attach(head, root, relation)
        tree.attach(joint.head, head, "mark" if relation == "advcl" else "cc")
    for k, word in enumerate(words):
        if k not in tree.head:
            tree.attach(k, root, _LOOSE.get(word.pos, "advmod"))
    return [tree.head[k] for k in range(len(words))], [tree.relation[k] for k in range(len(words))]


def _units(tree: _Tree) -> Iterator[_Unit]:
    """Phrases and single words, with the arcs inside them."""
    words = tree.words
    for key, group in groupby(range(len(words)), lambda k: (words[k].phrase, k if words[k].phrase < 0 else 0)):
        run = tuple(group)
        word = words[run[0]]
        kind = word.kind if key[0] >= 0 else word.pos
        yield _Unit(kind, word.role, run, (_verb_phrase if kind == "VP" else _nominal_phrase)(tree, run))


def _verb_phrase(tree: _Tree, run: tuple[int, ...]) -> int:
    """Attach the words of a verb phrase to its head, the first verb or adjective, and return that."""
    head = next((k for k in run if tree.words[k].pos in ("VERB", "ADJ")), run[0])
    for k in run:
        word = tree.words[k]
        if k == head:
            continue
        if word.pos == "AUX":
            passive = "aux:pass" if tree.words[head].pos == "VERB" else "cop"
            tree.attach(k, head, "aux" if word.text in MODAL else passive)
        elif word.text == "to":
            tree.attach(k, k + 1, "mark")
        else:
            tree.attach(k, head, "xcomp" if word.pos == "VERB" else "advmod")
    return head


def _nominal_phrase(tree: _Tree, run: tuple[int, ...]) -> int:
    """Attach the words of a phrase to its head and return that: a noun, the first word of a name, or what is there."""
    of = {pos: [k for k in run if tree.words[k].pos == pos] for pos in ("NOUN", "PROPN", "PRON", "ADJ")}
    head = [*of["NOUN"][-1:], *of["PROPN"], *of["PRON"], *of["ADJ"], run[0]][0]
    for k in run:
        pos = tree.words[k].pos
        if k == head:
            continue
        if k in of["ADJ"][1:]:
            tree.attach(k, of["ADJ"][0], "conj")
        elif pos in ("CONJ", "ADV"):
            tree.attach(k, k + 1, "cc" if pos == "CONJ" else "advmod")
        else:
            tree.attach(k, head, _INSIDE[pos])
    return head


def _clauses(tree: _Tree, units: list[_Unit]) -> list[list[_Unit]]:
    """The units of every clause; a word joins two clauses only where both have a verb."""
    clauses: list[list[_Unit]] = [[]]
    for k, unit in enumerate(units):
        joins = len(unit.words) == 1 and unit.kind in ("CONJ", "ADV") and tree.words[unit.head].text in JOINING
        if joins and all(any(u.kind == "VP" for u in some) for some in (clauses[-1], units[k:])):
            clauses.append([])
        clauses[-1].append(unit)
    return clauses


def _clause(tree: _Tree, units: list[_Unit]) -> int:
    """Attach the units of a clause to its head and return that: a verb, the predicate of a copula, or a title's noun.

    A second verb, "happy to join with you", is attached to that head and has what comes after it.
    """
    verbs = [k for k, unit in enumerate(units) if unit.kind == "VP"]
    verb, second = [*verbs, len(units), len(units)][:2]
    head = _clause_head(tree, units, verb)
    passive = bool(verbs) and any(tree.relation.get(k) == "aux:pass" for k in units[verb].words)
    if verbs and units[verb].head != head:
        tree.attach(units[verb].head, head, "cop")
    for k, unit in enumerate(units[:second]):
        if unit.head != head and unit.head not in tree.head and unit.kind in ("NP", "PP", "AP"):
            tree.attach(unit.head, *_phrase_arc(tree, units, k, verb, head, passive))
    if second < len(units):
        tree.attach(_clause(tree, units[second:]), head, "advcl")
    return head


def _clause_head(tree: _Tree, units: list[_Unit], verb: int) -> int:
    """The verb, unless it is a copula; else the question word before it or the phrase after it."""
    phrases = [unit for unit in units if unit.kind in ("NP", "PP", "AP")]
    if verb == len(units):
        return phrases[0].head if phrases else units[0].head
    if tree.words[units[verb].head].pos != "AUX":
        return units[verb].head
    asking = [unit.head for unit in units[:verb] if tree.words[unit.head].text in ASKING]
    return [*asking, *(unit.head for unit in units[verb + 1 :] if unit in phrases), units[verb].head][0]


def _phrase_arc(tree: _Tree, units: list[_Unit], k: int, verb: int, head: int, passive: bool) -> tuple[int, str]:
    """The head of a phrase of a clause and its relation to it."""
    unit, before = units[k], units[k - 1] if k else None
    if before and before.kind in ("CONJ", "ADP", "PUNCT") and unit.kind != "PP":
        conjunct = _conjunct(tree, units, k)
        if conjunct is not None:
            return conjunct, "conj"
    if unit.kind == "NP" and unit.role != "time" and not (before and before.kind == "ADP"):
        if k < verb:
            return head, "nsubj:pass" if passive else "nsubj"
        if tree.words[head].text in ASKING:
            return head, "nsubj"
        last = units[verb].words[-1]  # "plan" in "want to plan a visit"
        return last if tree.words[last].pos == "VERB" else head, "obj"
    nouns = [u.head for u in units[:k] if u.kind == "NP"]
    if unit.kind == "PP" and before and (tree.words[unit.words[0]].text == "of" or (nouns and k < verb)):
        return nouns[-1], "nmod"
    return head, "obl:agent" if passive and unit.role == "agent" else "obl"


def _conjunct(tree: _Tree, units: list[_Unit], k: int) -> int | None:
    """The earlier phrase of the same type that a phrase after "and" or a comma is joined to."""
    before = units[k - 1]
    earlier = [u.head for u in units[: k - 1] if u.kind == units[k].kind]
    if before.kind == "ADP":
        tree.attach(before.head, units[k].head, "case")
        return None
    if not earlier or (before.kind == "PUNCT" and units[k].kind != "AP"):
        return None
    tree.attach(before.head, units[k].head, "cc" if before.kind == "CONJ" else "punct")
    return earlier[-1]


def trees(forms: Sequence[Form], numbers: Tensor, labels: Mapping[str, Tensor], sentence: Tensor) -> dict[str, Tensor]:
    """The labels `head` (the position of another token, -1 for none) and `relation`, from the phrases and their roles.

    A shape is a sentence in which every word is coded by its kind, the type and role of its phrase, and whether the
    phrase continues.
    """
    words = (numbers < len(forms)).nonzero()[:, 0]
    kinds = list(dict.fromkeys(map(_kind, forms)))
    kind = torch.tensor([kinds.index(_kind(form)) for form in forms])[numbers[words]]
    phrase = labels["phrase"][words]
    continues = torch.cat([torch.tensor([False]), (phrase[1:] == phrase[:-1]) & (phrase[1:] >= 0)])
    phrase_type, role = labels["phrase_type"][words].long(), labels["role"][words].long()
    codes = ((kind * 8 + phrase_type + 1) * 16 + role + 1) * 2 + continues
    within, count = sentence[words].unique_consecutive(return_inverse=True, return_counts=True)[1:]
    first = count.cumsum(0) - count
    shapes: dict[bytes, int] = {}
    text, ends = codes.short().numpy().tobytes(), (2 * count.cumsum(0)).tolist()
    shape = [shapes.setdefault(text[a:b], len(shapes)) for a, b in pairwise([0, *ends])]
    parsed = [parse(list(_words(memoryview(seen).cast("h"), kinds))) for seen in shapes]
    length = torch.tensor([len(heads) for heads, _ in parsed])
    position = (length.cumsum(0) - length)[torch.tensor(shape)][within] + torch.arange(len(words)) - first[within]
    heads = torch.tensor([head for heads, _ in parsed for head in heads], dtype=torch.int32)[position]
    relations = torch.tensor([RELATIONS.index(one) for _, row in parsed for one in row], dtype=torch.int8)[position]
    head, relation = torch.full_like(numbers, -1, dtype=torch.int32), torch.full_like(numbers, -1, dtype=torch.int8)
    head[words] = heads.where(heads < 0, heads + words[first][within].int())
    relation[words] = relations
    return {"head": head, "relation": relation}


def _kind(form: Form) -> tuple[str, str]:
    """What of a form matters for a tree: its word if it is decisive, and its part of speech."""
    return form.word if form.word in _DECISIVE else "", form.pos


def _words(codes: Sequence[int], kinds: Sequence[tuple[str, str]]) -> Iterator[ParsedWord]:
    phrase = -1
    for code in codes:
        kind, phrase_type, role = code // 256, code // 32 % 8 - 1, code // 2 % 16 - 1
        phrase += 1 - code % 2
        where = (phrase, PHRASES[phrase_type], ROLES[role] if role >= 0 else "") if phrase_type >= 0 else (-1, "", "")
        yield ParsedWord(*kinds[kind], *where)
