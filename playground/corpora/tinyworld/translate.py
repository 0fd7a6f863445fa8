"""A corpus of sentences, each followed by its translation into a language of our own, with gold alignment."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.corpora.corpus import Corpus
from playground.corpora.tinyworld.cipher import INTO, dictionary
from playground.corpora.tinyworld.labels import LABELS
from playground.corpora.tinyworld.vocabulary import own_words
from playground.knob import knob
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.vocabulary import FIRST_WORD, SEPARATOR


@dataclass(frozen=True)
class Language:
    """A second language: which words it shares with the first, and the order of its words.

    The first puts the verb in the middle and adjectives before their noun. Shared words are the anchors of XLM
    (arXiv:1901.07291, sec. 3.1).
    """

    shared: float = knob(
        0.1, 0.0, 1.0, unit="share of the words", why="Words that both languages have; stops and names come first."
    )
    verb_last: bool = knob(True, why="The second language puts its verbs last, as the first does not.")
    adjective_after: bool = knob(False, why="The second language puts adjectives behind their noun.")
    language: str = knob("second", choices=tuple(INTO), why="Whose words they are: two languages are invented.")


def in_other_words(corpus: Corpus, other: Language, second: bool = True) -> Corpus:
    """A TinyWorld corpus with a vocabulary for both languages, its documents in the second one or in the first."""
    tokenizer, words = both_vocabularies(corpus, other.shared, other.language)
    named = {**corpus.label_names, "language": ("first", other.language)}
    if not second:
        return replace(corpus, tokenizer=tokenizer, label_names=named)
    kept = corpus.ids != SEPARATOR
    place = kept.nonzero()[:, 0]
    labels = {name: row[kept] for name, row in corpus.labels.items()}
    sentence = corpus.sentence_ids[kept].unique_consecutive(return_inverse=True)[1]
    order = reorder(sentence, labels, other.verb_last, other.adjective_after)
    there = torch.arange(len(corpus))
    there[place[order]] = place
    moved = {name: _put(row, place, row[place[order]]) for name, row in corpus.labels.items()}
    moved |= {name: _renumber(moved[name]) for name in ("phrase", "mention")}
    head = moved["head"].long()
    moved["head"] = there[head].where(head >= 0, -1).int()
    return replace(
        corpus,
        tokenizer=tokenizer,
        ids=_put(corpus.ids, place, words[corpus.ids[place[order]]]),
        labels={**moved, "language": torch.ones_like(corpus.labels["language"])},
        label_names=named,
    )


def _put(row: Tensor, places: Tensor, values: Tensor) -> Tensor:
    """The row with other values at some places."""
    return row.scatter(0, places, values)


def translate(corpus: Corpus, other: Language | None = None) -> Corpus:
    """Every sentence of a TinyWorld corpus as a document of its own: the sentence, its translation, [SEP]."""
    other = other or Language()
    shared, verb_last, adjective_after, language = other.shared, other.verb_last, other.adjective_after, other.language
    kept = corpus.ids != SEPARATOR
    ids, labels = corpus.ids[kept], {name: row[kept] for name, row in corpus.labels.items()}
    sentence = corpus.sentence_ids[kept].unique_consecutive(return_inverse=True)[1]
    layout = _lay_out(sentence, reorder(sentence, labels, verb_last, adjective_after))
    tokenizer, second = both_vocabularies(corpus, shared, language)
    text = layout.put(ids, second[ids], SEPARATOR)
    twice = {name: layout.put(row, row, -1) for name, row in labels.items()}
    numbers = {name: _renumber(twice[name]) for name in ("phrase", "mention")}
    numbers["head"] = layout.heads(_closed_up(labels["head"], kept))
    side = layout.put(torch.zeros_like(labels["language"]), torch.ones_like(labels["language"]), 1)
    return replace(
        corpus,
        tokenizer=tokenizer,
        ids=text,
        word_ids=torch.arange(len(text), dtype=torch.int32),
        sentence_ids=layout.document * 2 + side.int(),
        document_ids=layout.document,
        held_out_from=int(layout.one[kept[: corpus.held_out_from].sum()]),
        labels={**twice, **numbers, "language": side, "aligned": layout.aligned()},
        label_names={**corpus.label_names, "language": ("first", language)},
        entropy_bound=corpus.entropy_bound and corpus.entropy_bound * len(corpus) / len(text),
    )


def reorder(sentence: Tensor, labels: dict[str, Tensor], verb_last: bool, adjective_after: bool) -> Tensor:
    """The tokens of the first language in the order of the second, sentence by sentence."""
    order = torch.arange(len(sentence))
    if adjective_after:
        order = order[_noun_first(labels)]
    if verb_last:
        verb = labels["phrase_type"] == LABELS["phrase_type"].index("VP")
        following = torch.cat([sentence[1:] != sentence[:-1], torch.tensor([True])])
        slot = sentence * 3 + verb.long() + 2 * following.long()
        order = order[slot[order].argsort(stable=True)]
    return order


def _noun_first(labels: dict[str, Tensor]) -> Tensor:
    """The order in which each phrase with a noun has its adjectives, and what belongs to them, behind it."""
    pos, phrase = labels["pos"], labels["phrase"].long()
    noun, adjective, *joined = (LABELS["pos"].index(name) for name in ("NOUN", "ADJ", "CONJ", "ADV"))
    nouns = torch.zeros(int(phrase.max()) + 2, dtype=torch.bool)
    nouns[phrase[pos == noun]] = True
    nouns[-1] = False
    moved = nouns[phrase] & torch.isin(pos, pos.new_tensor([adjective, *joined]))
    slot = torch.where(moved, 2, (nouns[phrase] & (pos == noun)).long())
    starts = torch.ones(len(phrase), dtype=torch.bool)
    starts[1:] = (phrase[1:] != phrase[:-1]) | (phrase[1:] < 0)
    return (starts.cumsum(0) * 3 + slot).argsort(stable=True)


@dataclass(frozen=True)
class Layout:
    """Where every token of a sentence and of its translation goes; a mark ends each pair."""

    one: Tensor
    two: Tensor
    order: Tensor
    within: Tensor
    document: Tensor

    def put(self, first: Tensor, second: Tensor, end: int) -> Tensor:
        """Values of the tokens of both languages, both given in the order of the first, and of the marks."""
        row = torch.full((len(self.document),), end, dtype=first.dtype)
        row[self.one] = first
        row[self.two] = second[self.order]
        return row

    def heads(self, head: Tensor) -> Tensor:
        """The place of each token's head, given as its number among the tokens of the first language (-1: none)."""
        there = torch.empty_like(self.two)
        there[self.order] = self.two
        one, two = (place[head].where(head >= 0, -1) for place in (self.one, there))
        return self.put(one, two, -1).int()

    def aligned(self) -> Tensor:
        """The place of each token's twin in the other sentence."""
        there = torch.empty_like(self.within)
        there[self.order] = self.within
        return self.put(there, self.within, -1).short()


def _lay_out(sentence: Tensor, order: Tensor) -> Layout:
    """Each sentence, given by its number for every token, behind it its translation and a mark."""
    count = torch.bincount(sentence)
    first, numbers = count.cumsum(0) - count, torch.arange(len(count))
    within = torch.arange(len(sentence)) - first[sentence]
    one = (2 * first + numbers)[sentence] + within
    return Layout(one, one + count[sentence], order, within, numbers.repeat_interleave(2 * count + 1).int())


def _closed_up(places: Tensor, kept: Tensor) -> Tensor:
    """Places of tokens as numbers among those that are kept."""
    return (kept.cumsum(0) - 1)[places.long()].where(places >= 0, -1)


def _renumber(numbers: Tensor) -> Tensor:
    """Runs of equal numbers counted through, -1 stays -1."""
    starts = torch.ones(len(numbers), dtype=torch.bool)
    starts[1:] = numbers[1:] != numbers[:-1]
    starts &= numbers >= 0
    return (starts.int().cumsum(0, dtype=torch.int32) - 1).masked_fill(numbers < 0, -1)


def both_vocabularies(corpus: Corpus, shared: float, language: str) -> tuple[Tokenizer, Tensor]:
    """One vocabulary for both languages, and for each id of the first language that of its translation.

    Which words are the same in both is a matter of the first vocabulary, which all generated corpora share; words are
    added for what the corpus can say.
    """
    first, own = corpus.tokenizer, own_words(corpus.name)
    words = first.words[FIRST_WORD:]
    pairs = dictionary(words, shared, language)
    spoken = [pairs[word] for word in words if word in own]
    both = replace(first, words=tuple(dict.fromkeys((*first.words, *spoken))))
    second = both.encode_words(pairs[word] for word in words)
    return both, torch.tensor([*range(FIRST_WORD), *second])
