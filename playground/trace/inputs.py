"""A typed text, or two, as the tokens that an objective needs, or a refusal that names what is missing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor

from playground.batch import Batch, Tokens
from playground.corpora.derived_labels import DERIVED, in_several
from playground.corpora.tinyworld.vocabulary import answer
from playground.corpora.unspaced import describe_unspaced
from playground.errors import MissingText
from playground.objectives.arrange import ArrangeFields, LabelledPair
from playground.objectives.objective import Objective
from playground.rng import generator
from playground.tokenizing import TextInput, Tokenizer, of_words, read_input
from playground.tokenizing.text_input import LONGEST, MOST_CHARACTERS, LeftOut
from playground.tokenizing.words import clean, split_words

EXTRA_WORDS = ("thrilled", "study", "glad", "walk", "here", "never")
"""Words that a text of one sentence lacks and a random or proposed replacement needs."""

STRANGERS = (
    "The river runs slowly past the old mill .",
    "Nobody had warned the baker about the flour .",
    "Three boats came home before the storm .",
    "A small lamp was burning in the window .",
)
"""Sentences of other documents, for objectives that predict whether two texts belong together."""

FOREIGN_STRANGER = "Le chat dort sur la chaise ."
"""A sentence of another language, for objectives that need an unrelated translation."""

NEEDS = {
    "sentences": "at least two sentences; this text has one. Add a full stop and a second one.",
    "pair": "two texts; this text has one sentence. Give a second text as the pair, or add a sentence.",
    "translation": "a translation of the text. Give the second text as the pair.",
    "answer": "an answer to the text. Give it as the pair, in words or as a number.",
    "distance": "three sentences: two neighbours and one further on. Add full stops and sentences.",
}
"""What an objective can need, as the end of a sentence."""


def strangers(seed: int) -> str:
    """A sentence unrelated to the typed text."""
    return STRANGERS[int(torch.randint(len(STRANGERS), (), generator=generator(seed, "stranger")))]


def read(
    objective: Objective,
    text: str,
    pair: str,
    other: str,
    tokenizer: Tokenizer | None,
    more: Sequence[str] = (),
    longest: int = LONGEST,
) -> TextInput:
    """The text as at most `longest` tokens with the neighbours that the objective needs; None knows every word."""
    paired = reads_two(objective)
    other = FOREIGN_STRANGER if "translation" in objective.needs else other
    pair = answer(pair) if "answer" in objective.needs else pair
    texts = (text, pair, other) if paired else (text,)
    known = [word for part in texts for word in split_words(clean(part[:MOST_CHARACTERS]))]
    words = tokenizer or of_words((*known, *(word.lower() for word in known), *EXTRA_WORDS, *more))
    given = read_input(text, words, MOST_CHARACTERS if paired else longest)
    if derived := DERIVED.keys() & {need.removeprefix("label:") for chain in objective.chains for need in chain.needs}:
        given = _with_derived(text, words, given, sorted(derived), MOST_CHARACTERS if paired else longest)
    given = replace(given, notice=" ".join(filter(None, [given.notice, describe_unspaced(Counter(known))])))
    if "sentences" in objective.needs and _sentences(given.tokens) < 2:
        raise _lacks(objective, "sentences")
    labels = {*given.tokens.labels, *said_by_hand(objective), *(stage.label for stage in _fields(objective))}
    for need in objective.needs:
        if need.startswith("label:") and need.removeprefix("label:") not in labels:
            raise MissingText(
                f"{objective.name} needs the label {need.removeprefix('label:')!r} of every word, which a typed text "
                "does not have. Train it on a corpus that knows it, such as world.",
                need,
            )
    return _paired(objective, given, text, pair, other, longest // 2) if paired else given


def _with_derived(text: str, words: Tokenizer, given: TextInput, names: Sequence[str], longest: int) -> TextInput:
    """The text with labels that follow from it; where capital letters are asked for, it is read in small ones."""
    spelt, tokens = split_words(clean(text[:MOST_CHARACTERS])), given.tokens
    written = [spelt[number] for number in tokens.word_ids[0].tolist()]
    lower = [word.lower() for word in written]
    found = {
        "capitalized": torch.tensor([word[:1].isupper() for word in written]),
        "recurring": in_several(torch.tensor([lower.index(word) for word in lower]), tokens.sentence_ids[0]),
    }
    small = read_input(text.lower(), words, longest) if "capitalized" in names else given
    if small.tokens.ids.shape == tokens.ids.shape:
        given = small
    labels = {name: found[name][None].long() for name in names}
    return replace(given, tokens=replace(given.tokens, labels={**tokens.labels, **labels}))


def reads_two(objective: Objective) -> bool:
    """Whether it reads a second text beside the first."""
    return bool({"pair", "translation", "distance"} & set(objective.needs))


def said_by_hand(objective: Objective) -> set[str]:
    """The labels of a pair that a person may set in a plan."""
    return {s.label for s in objective.every_stage if isinstance(s, LabelledPair)}


def unjudged(objective: Objective, batch: Batch) -> str:
    """A notice that a typed pair has no label, so that nothing is scored; else empty."""
    judges = [s for s in objective.every_stage if isinstance(s, LabelledPair)]
    if not judges or any(bool(target.loss_mask.any()) for target in batch.targets):
        return ""
    *first, last = judges[0].outcomes
    return f"This pair has no label, so nothing is predicted; set pair in the plan to {', '.join(first)} or {last}."


def _paired(objective: Objective, given: TextInput, text: str, pair: str, other: str, half: int) -> TextInput:
    """The text with its neighbours, each of at most `half` tokens."""
    tokens = _beside_each_other(objective, given, text, pair, other)
    names = {"next": "second text", "translation": "second text", "apart": "third sentence"}
    seconds = [(names[name], int(t.lengths[0])) for name, t in tokens.neighbours.items() if name in names]
    lengths = [("text", int(tokens.lengths[0])), *seconds]
    left_out = tuple(LeftOut(name, half, length) for name, length in lengths if length > half)
    if "distance" in objective.needs:  # which reads three sentences
        read, whole = sum(length for _, length in lengths), int(_all_of(f"{text} {pair}", given.tokenizer).lengths[0])
        left_out += (LeftOut("text", read, whole),) * (read < whole)
    short = {name: _start(each, half) for name, each in tokens.neighbours.items()}
    return replace(
        given,
        tokens=replace(_start(tokens, half), neighbours=short),
        notice=" ".join([*filter(None, [given.notice]), *map(str, left_out)]),
        left_out=(*given.left_out, *left_out),
    )


def _beside_each_other(objective: Objective, given: TextInput, text: str, pair: str, other: str) -> Tokens:
    second, stranger = (_all_of(part, given.tokenizer) if part.strip() else None for part in (pair, other))
    if "translation" in objective.needs:
        if second is None:
            raise _lacks(objective, "translation")
        first, second, other_text = (
            _with_label(t, "language", language)
            for t, language in ((given.tokens, 0), (second, 1), (stranger or second, 1))
        )
        return replace(first, neighbours={"translation": second, "other": other_text})
    if "distance" in objective.needs:
        first, near, far = _sentences_of(objective, "distance", _all_of(f"{text} {pair}", given.tokenizer), (1, 2, 3))
        return replace(first, neighbours={"next": near, "apart": far, "other": stranger or far})
    if second is None and "answer" in objective.needs:
        raise _lacks(objective, "answer")
    first = given.tokens
    if second is None:
        first, second = _sentences_of(objective, "pair", first, (1, _sentences(first)))
    for stage in _fields(objective):
        title, article = (stage.fields.index(name) for name in ("title", "article"))
        first, second = (_with_label(part, stage.label, k) for part, k in ((first, title), (second, article)))
    return replace(first, neighbours={"next": second, "other": stranger or second})


def _fields(objective: Objective) -> list[ArrangeFields]:
    """The stage for which a typed text is the title of an article and the second text the article."""
    return [s for s in objective.every_stage if isinstance(s, ArrangeFields)]


def _with_label(tokens: Tokens, name: str, value: int) -> Tokens:
    """The text with one value of a label at every word."""
    return replace(tokens, labels={**tokens.labels, name: torch.full_like(tokens.ids, value)})


def _sentences_of(objective: Objective, need: str, tokens: Tokens, ends: Sequence[int]) -> list[Tokens]:
    """A text in parts that end with some sentences, counted from 1."""
    if _sentences(tokens) < len(ends):
        raise _lacks(objective, need)
    positions = [0, *(int((tokens.sentence_ids[0] < end).sum()) for end in ends)]
    return [_cut(tokens, a, b) for a, b in pairwise(positions)]


def _all_of(text: str, tokenizer: Tokenizer) -> Tokens:
    return read_input(text, tokenizer, MOST_CHARACTERS).tokens


def _sentences(tokens: Tokens) -> int:
    return int(tokens.sentence_ids.max()) + 1


def _lacks(objective: Objective, need: str) -> MissingText:
    return MissingText(f"{objective.name} needs {NEEDS[need]}", need)


def _start(tokens: Tokens, most: int) -> Tokens:
    return _cut(tokens, 0, min(most, int(tokens.lengths[0])))


def _cut(tokens: Tokens, first: int, last: int) -> Tokens:
    """A part of the only row, its words and sentences numbered from 0."""

    def part(row: Tensor) -> Tensor:
        return row[:, first:last]

    return replace(
        tokens,
        ids=part(tokens.ids),
        lengths=torch.tensor([last - first]),
        word_ids=part(tokens.word_ids) - tokens.word_ids[:, first : first + 1],
        sentence_ids=part(tokens.sentence_ids) - tokens.sentence_ids[:, first : first + 1],
        labels={name: part(row) for name, row in tokens.labels.items()},
    )
