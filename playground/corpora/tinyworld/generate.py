"""Write a corpus with the grammar of TinyWorld, with the truth about every token."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import accumulate
from math import exp, log
from pathlib import Path
from random import Random
from types import CodeType

import torch
from torch import Tensor

from playground.corpora.cache import remembered
from playground.corpora.corpus import Corpus, find_boundary
from playground.corpora.tinyworld.grammar import Form, Grammar, Rule
from playground.corpora.tinyworld.inflection import takes_an
from playground.corpora.tinyworld.labels import LABELS, MARKS, mentions, of_forms, unbracket, width
from playground.corpora.tinyworld.lexicon import TOPICS
from playground.corpora.tinyworld.preset import Turned
from playground.corpora.tinyworld.trees import trees
from playground.corpora.tinyworld.vocabulary import vocabulary
from playground.corpora.tinyworld.world import find_preset, grammar
from playground.rng import derive
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.vocabulary import SEPARATOR

AS_IT_IS = Turned()


def open_preset(preset: str, seed: int, tokens: int) -> Corpus:
    """The same as `generate`, but read from the disk where it was generated before."""
    return remembered(f"{preset}-{seed}-{tokens}-{version()}", partial(generate, preset, seed, tokens))


@cache
def version() -> str:
    """A name for the grammar as it stands in these files; what is generated otherwise is a new corpus."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update("".join(_instructions(compile(file.read_bytes(), file.name, "exec", optimize=2))).encode())
    return digest.hexdigest()


def _instructions(code: CodeType) -> Iterator[str]:
    """What compiled code does, without its comments, docstrings and line numbers."""
    inner = [value for value in code.co_consts if isinstance(value, CodeType)]
    values = [sorted(map(repr, v)) if isinstance(v, frozenset) else v for v in code.co_consts if v not in inner]
    yield repr((code.co_name, code.co_code, code.co_names, values))
    for each in inner:
        yield from _instructions(each)


def generate(preset: str, seed: int, tokens: int, turned: Turned = AS_IT_IS) -> Corpus:
    """Documents until there are `tokens` tokens, with labels and the grammar's own surprise in nats per token.

    The bound sums -log p of every choice, also of those that leave no trace in the text, so the true entropy of
    whole documents is at most this high.
    """
    rules = grammar(preset, turned.steepness)
    written, kinds, nats = _documents(preset, Random(derive(seed, "tinyworld", preset)), tokens, turned)
    forms, said = unbracket(rules.forms, torch.tensor(written))
    ends = forms == len(rules.forms)
    document = (ends.cumsum(0) - ends.long()).int()
    sentence = _sentences(rules.forms, forms, ends)
    tokenizer = vocabulary(preset)
    ids = _ids(tokenizer, rules.forms, forms)
    return Corpus(
        name=preset,
        description=find_preset(preset).idea,
        tokenizer=tokenizer,
        ids=ids,
        word_ids=torch.arange(len(ids), dtype=torch.int32),
        sentence_ids=sentence,
        document_ids=document,
        held_out_from=find_boundary(ids, sentence),
        labels={
            **of_forms(rules.forms, forms),
            **said,
            **trees(rules.forms, forms, said, sentence),
            "mention": mentions(rules.forms, forms),
            **_document_labels(rules, kinds, document, ends),
            "language": torch.zeros(len(ids), dtype=torch.int8),
        },
        label_names={**LABELS, **{name: values for name, values in MARKS.items() if name in said}},
        entropy_bound=nats / len(ids),
    )


def _documents(preset: str, random: Random, tokens: int, turned: Turned) -> tuple[list[int], list[int], float]:
    """The numbers of the forms of all documents, brackets included, the kind of each document, the nats of all."""
    rules = grammar(preset, turned.steepness)
    start, end = _start(rules, turned), len(rules.forms)
    closing = [number for number, form in enumerate(rules.forms) if form.word[-1] in "]}"]
    written: list[int] = []
    kinds: list[int] = []
    nats = 0.0
    for way in (_dealt if find_preset(preset).dealt else _drawn)(start, random):
        kind = start.parts[way][0]
        document: list[int] = []
        nats += start.costs[way] + rules.write(kind, random.random, document)
        tokens -= len(document) + 1 - 2 * sum(map(document.count, closing))
        written += document
        written.append(end)
        kinds.append(kind)
        if tokens <= 0:
            break
    return written, kinds, nats


def _start(rules: Grammar, turned: Turned) -> Rule:
    """The kinds of documents with their chances as the knobs say."""
    start = rules.rules[rules.names["Document"]]
    if not turned.shares and turned.topics >= len(TOPICS):
        return start
    named = {number: name.partition("-") for name, number in rules.names.items()}
    others = {topic.name for topic in TOPICS[turned.topics :]}
    kinds = [named[parts[0]] for parts in start.parts]
    weights = [
        0.0 if of in others else exp(-cost) * turned.shares.get(kind, 1.0)
        for (kind, _, of), cost in zip(kinds, start.costs, strict=True)
    ]
    kept = [way for way, weight in enumerate(weights) if weight > 0]
    chances = [weights[way] / sum(weights) for way in kept]
    limits = tuple(accumulate(chances))[:-1]
    return Rule(limits, tuple(-log(chance) for chance in chances), tuple(start.parts[way] for way in kept))


def _drawn(start: Rule, random: Random) -> Iterator[int]:
    """Kinds of documents by their chances."""
    while True:
        yield bisect_right(start.limits, random.random())


def _dealt(start: Rule, random: Random) -> Iterator[int]:
    """Kinds of documents in rounds: each as often as its weight says, in no order."""
    weights = [round(exp(max(start.costs) - cost)) for cost in start.costs]
    deck = [way for way, weight in enumerate(weights) for _ in range(weight)]
    while True:
        random.shuffle(deck)
        yield from deck


def spell(forms: Sequence[Form], numbers: Sequence[int]) -> list[str]:
    """Forms as words, without the brackets, with "an" where the next word needs it."""
    words = [forms[number].word for number in numbers if forms[number].pos]
    followers = [*words[1:], ""]
    return [_article(word, follower) for word, follower in zip(words, followers, strict=True)]


def _article(word: str, follower: str) -> str:
    return "an" if word == "a" and follower and takes_an(follower) else word


def _ids(tokenizer: Tokenizer, forms: Sequence[Form], written: Tensor) -> Tensor:
    """The same as `spell`, for a whole corpus at once."""
    number = torch.tensor([*tokenizer.encode_words(form.word for form in forms), SEPARATOR])
    wants_an = torch.tensor([*(takes_an(form.word) for form in forms), False])
    a, an = tokenizer.encode_words(("a", "an"))
    ids = number[written]
    before_a_vowel = torch.cat([wants_an[written[1:]], torch.tensor([False])])
    return ids.where((ids != a) | ~before_a_vowel, an)


def _sentences(forms: Sequence[Form], written: Tensor, ends: Tensor) -> Tensor:
    """The running number of each token's sentence; [SEP] belongs to the sentence before it."""
    stop = torch.tensor([*(form.word in (".", "?") for form in forms), False])[written]
    after = torch.cat([torch.tensor([0]), stop.long().cumsum(0)[:-1]])
    return (after - ends.long()).int()


def _document_labels(rules: Grammar, kinds: list[int], document: Tensor, ends: Tensor) -> dict[str, Tensor]:
    """Polarity and topic, which every token of a document shares, apart from its [SEP]."""
    named = {number: name.partition("-")[2] for name, number in rules.names.items()}
    chosen = [named[kind] for kind in kinds]
    labels = {}
    for name in ("polarity", "topic"):
        place = {value: k for k, value in enumerate(LABELS[name])}
        each = torch.tensor([place.get(value, -1) for value in chosen], dtype=width(LABELS[name]))
        labels[name] = each[document].masked_fill(ends, -1)
    return labels
