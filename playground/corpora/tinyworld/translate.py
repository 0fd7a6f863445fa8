"""TinyWorld in invented languages: whole documents, or each sentence followed by its aligned translation.

A word is translated letter by letter, with a vowel added where needed so that every syllable is open.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

import torch
from torch import Tensor

from playground.corpora.corpus import HELD_OUT, Corpus, reordered
from playground.corpora.tinyworld.everyday import NUMBERS
from playground.corpora.tinyworld.labels import LABELS
from playground.corpora.tinyworld.lexicon import CLOSED, ENTITIES
from playground.corpora.tinyworld.vocabulary import preset_words
from playground.knob import knob
from playground.rng import derive
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.tokenizer_json import with_words
from playground.tokenizing.vocabulary import FIRST_WORD, SEPARATOR

FROM = "aeiou" + "bcdfghjklmnpqrstvwxyz"
INTO = {"second": "oaeiä" + "kmbzptdgvlrcsnjfhwqxy", "third": "eöüoa" + "vgtlnrkzmdjsbfpchqwyx"}
"""The letters that replace these in each of the languages."""

FILLER = {"second": "u", "third": "i"}
"""The vowel after a consonant that has none; it replaces no letter, so the cipher can be inverted."""

STOPS = {".": "。", ",": "、"}


@dataclass(frozen=True)
class Language:
    """An invented language: which words it shares with the first, and the order of its words.

    The first language has the verb in the middle and adjectives before their noun. Shared words are the anchors of XLM
    (arXiv:1901.07291, sec. 3.1).
    """

    shared: float = knob(
        0.1, 0.0, 1.0, unit="share of the words", why="Words that both languages have; stops and names come first."
    )
    verb_last: bool = knob(True, why="The second language puts its verbs last, as the first does not.")
    adjective_after: bool = knob(False, why="The second language puts adjectives after their noun.")
    language: str = knob("second", choices=tuple(INTO), why="Whose words they are: two languages are invented.")


def new_sentences_last(corpus: Corpus) -> Corpus:
    """The documents reordered so that a fixed tenth of all texts is held out, whatever the seed."""
    ends = (corpus.ids == SEPARATOR).nonzero()[:, 0] + 1
    texts = corpus.ids.short().numpy().tobytes()
    held_out = torch.tensor([_held_out(texts[2 * a : 2 * b]) for a, b in pairwise([0, *ends.tolist()])])
    late = held_out[corpus.document_ids.long()]
    return replace(reordered(corpus, late.int().argsort(stable=True)), held_out_from=int((~late).sum()))


def _held_out(text: bytes) -> bool:
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") < HELD_OUT * 2**32


def in_other_words(corpus: Corpus, other: Language, second: bool = True) -> Corpus:
    """A TinyWorld corpus with a vocabulary for both languages, its documents in the second one or in the first."""
    tokenizer, words = _both_vocabularies(corpus, other)
    label_names = {**corpus.label_names, "language": ("first", other.language)}
    corpus = replace(corpus, tokenizer=tokenizer, label_names=label_names)
    if not second:
        return corpus
    position = (corpus.ids != SEPARATOR).nonzero()[:, 0]
    labels = {name: row[position] for name, row in corpus.labels.items()}
    order = torch.arange(len(corpus))
    order[position] = position[_word_order(corpus.sentence_ids[position], labels, other)]
    moved = reordered(corpus, order)
    numbers = {name: _renumber(moved.labels[name]) for name in ("phrase", "mention")}
    language = torch.ones_like(corpus.labels["language"])
    return replace(moved, ids=words[moved.ids], labels={**moved.labels, **numbers, "language": language})


def translate(corpus: Corpus, other: Language | None = None) -> Corpus:
    """Every sentence of a TinyWorld corpus as a document of its own: the sentence, its translation, [SEP]."""
    other = other or Language()
    kept = corpus.ids != SEPARATOR
    ids, labels = corpus.ids[kept], {name: row[kept] for name, row in corpus.labels.items()}
    sentence = corpus.sentence_ids[kept].unique_consecutive(return_inverse=True)[1]
    length = torch.bincount(sentence)
    start = (length.cumsum(0) - length)[sentence]
    within = torch.arange(len(sentence)) - start
    within_other = _word_order(sentence, labels, other).argsort() - start
    first = 2 * start + sentence + within
    second = 2 * start + sentence + length[sentence] + within_other
    document = torch.arange(len(length)).repeat_interleave(2 * length + 1).int()

    def put(values: Tensor, others: Tensor, end: int) -> Tensor:
        """A row with the values of the tokens of both languages, and of [SEP]."""
        row = torch.full((len(document),), end, dtype=values.dtype)
        row[first], row[second] = values, others
        return row

    tokenizer, words = _both_vocabularies(corpus, other)
    text = put(ids, words[ids], SEPARATOR)
    twice = {name: put(row, row, -1) for name, row in labels.items()}
    twice |= {name: _renumber(twice[name]) for name in ("phrase", "mention")}
    head, no_head = (kept.cumsum(0) - 1)[labels["head"].long()], labels["head"] < 0
    twice["head"] = put(first[head].masked_fill(no_head, -1), second[head].masked_fill(no_head, -1), -1).int()
    language = put(torch.zeros_like(labels["language"]), torch.ones_like(labels["language"]), 1)
    return replace(
        corpus,
        tokenizer=tokenizer,
        ids=text,
        word_ids=torch.arange(len(text), dtype=torch.int32),
        sentence_ids=document * 2 + language.int(),
        document_ids=document,
        held_out_from=int(first[kept[: corpus.held_out_from].sum()]),
        labels={**twice, "language": language, "aligned": put(within_other, within, -1).short()},
        label_names={**corpus.label_names, "language": ("first", other.language)},
        entropy_bound=corpus.entropy_bound and corpus.entropy_bound * len(corpus) / len(text),
    )


def _word_order(sentence: Tensor, labels: dict[str, Tensor], other: Language) -> Tensor:
    """The tokens of the first language in the word order of the other one, sentence by sentence."""
    order = torch.arange(len(sentence))
    if other.adjective_after:
        order = order[_noun_first(labels)]
    if other.verb_last:
        verb = labels["phrase_type"] == LABELS["phrase_type"].index("VP")
        last = torch.cat([sentence[1:] != sentence[:-1], torch.tensor([True])])
        slot = sentence * 3 + verb.long() + 2 * last.long()
        order = order[slot[order].argsort(stable=True)]
    return order


def _noun_first(labels: dict[str, Tensor]) -> Tensor:
    """The order in which each phrase with a noun has its adjectives, and what belongs to them, behind the noun."""
    pos, phrase = labels["pos"], labels["phrase"].long()
    noun, *moving = (LABELS["pos"].index(name) for name in ("NOUN", "ADJ", "CONJ", "ADV"))
    has_noun = torch.zeros(int(phrase.max()) + 2, dtype=torch.bool)
    has_noun[phrase[pos == noun]] = True
    has_noun[-1] = False
    moved = has_noun[phrase] & torch.isin(pos, pos.new_tensor(moving))
    slot = torch.where(moved, 2, (has_noun[phrase] & (pos == noun)).long())
    starts = (phrase.diff(prepend=phrase[:1] - 1) != 0) | (phrase < 0)
    return (starts.cumsum(0) * 3 + slot).argsort(stable=True)


def _renumber(numbers: Tensor) -> Tensor:
    """Runs of equal numbers counted anew; -1 stays -1."""
    starts = (numbers.diff(prepend=numbers[:1] - 1) != 0) & (numbers >= 0)
    return (starts.int().cumsum(0, dtype=torch.int32) - 1).masked_fill(numbers < 0, -1)


def _both_vocabularies(corpus: Corpus, other: Language) -> tuple[Tokenizer, Tensor]:
    """One vocabulary for both languages, and for each id of the first language that of its translation.

    Which words both languages share is decided by the vocabulary that all generated corpora share; translations are
    added for the words that the corpus can contain.
    """
    first, own = corpus.tokenizer, set(preset_words(corpus.name))
    words = first.words[FIRST_WORD:]
    translation = dictionary(words, other.shared, other.language)
    added = (translation[word] for word in words if word in own)
    both = with_words(first, added)
    second = both.encode_words(translation[word] for word in words)
    return both, torch.tensor([*range(FIRST_WORD), *second])


def encipher(word: str, language: str = "second") -> str:
    """A word in another language: in the second, "film" becomes "zevulu"."""
    if word in STOPS:
        return STOPS[word]
    table, filler = str.maketrans(FROM, INTO[language]), FILLER[language]
    return "".join(
        letter.translate(table) + (filler if letter not in "aeiou" and after not in "aeiou" else "")
        for letter, after in pairwise([*word, "."])
    )


def dictionary(words: Sequence[str], shared: float, language: str = "second") -> dict[str, str]:
    """The translation of each word; a fraction `shared` of the words stays the same.

    These are stops, names and numbers first, then the others in a fixed random order.
    """
    early = [*STOPS, *(part for name in ENTITIES for part in name.split()), *CLOSED["NUM"].split(), *NUMBERS.split()]
    position = {word: k for k, word in reversed([*enumerate(early)])}
    rest = sorted(words)
    Random(derive(0, "cipher")).shuffle(rest)
    same = set(sorted(rest, key=lambda word: position.get(word, len(early)))[: round(shared * len(words))])
    return {word: word if word in same else encipher("a" if word == "an" else word, language) for word in words}
