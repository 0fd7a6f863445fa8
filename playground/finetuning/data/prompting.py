"""Prompting: the task is written as a text with a gap or an end to continue, and the pre-trained model is asked.

Nothing is trained, so there is nothing to store and nothing to forget (arXiv:1910.10683 writes tasks as texts for
training; GPT-2 and GPT-3, arXiv:2005.14165, sec. 2, only ask).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from playground.analysis.cloze import log_chances, with_gap
from playground.answers import Answer
from playground.batch import Specials, Tokens, begin
from playground.errors import UserError
from playground.finetuning.data.input_format import LONGEST_ROW
from playground.knob import knob
from playground.models import LanguageModel
from playground.objectives.arrange import ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.see import SeeLeft
from playground.tokenizing.padding import pad_rows

if TYPE_CHECKING:  # which is asked by these functions
    from playground.finetuning.data.dataset import Dataset

BLOCK = 64
"""Prompts that are read at once."""

Pair = tuple[list[int], list[int]]
"""A text and its continuation, as ids."""


@dataclass(frozen=True)
class Prompt:
    """How an untrained model is asked: so many labelled texts with their answers stand before the text in question.

    `calibrate` subtracts the scores of each class's word where no text stands at all (arXiv:2102.09690, sec. 5).
    """

    shots: int = knob(0, 0, 16, unit="examples", why="0 is zero-shot; more examples show what the answer looks like.")
    calibrate: bool = knob(True, why="Subtracts the scores that the model gives before it has read the text.")


@dataclass(frozen=True)
class Prompts:
    """The labelled `examples` as ids, and for each text in question what is asked: the text, and what stands behind it.

    Where there is no room for a whole text, its `cut` is left out.
    """

    examples: Sequence[list[int]]
    queries: Iterable[Sequence[Pair]]
    cut: Literal["beginning", "end"] = "beginning"


@dataclass(frozen=True)
class Verbalizer:
    """A task as a gap: the ids that follow a text, then the gap, then what ends it; the id of each class's word."""

    after: tuple[int, ...]
    words: tuple[int, ...]
    end: tuple[int, ...]

    def tail(self, mask: int) -> list[int]:
        """What stands behind a text in question: the question, the gap, the end."""
        return [*self.after, mask, *self.end]


def describe_left_out(model: LanguageModel, prompt: Prompt, prompts: Prompts) -> Iterator[str]:
    """Sentences on the examples and the parts of texts that do not stand in the prompts."""
    examples, room, standing, cut, texts = prompts.examples, _room(model), set[int](), 0, 0
    for queries in prompts.queries:
        lengths = {len(text) + len(tail) for text, tail in queries}
        standing |= {len(_fitting(examples, room - min(length, room))) for length in lengths}
        cut += max(lengths) > room
        texts += 1
    few = [f"there are only {len(examples)} labelled texts"] if len(examples) < prompt.shots else []
    full = [f"the model has room for {room} tokens"] if min(standing) < len(examples) else []
    if few or full:
        number = " to ".join(map(str, sorted({min(standing), max(standing)})))
        yield f"A prompt holds {number} of {prompt.shots} examples: {' and '.join(few + full)}."
    if cut:
        whole = f"{cut:,} of the {texts:,} texts in question do not fit into a prompt of {room} tokens"
        yield f"{whole}; their {prompts.cut}s are left out."


def gap_prompts(prompt: Prompt, train: "Dataset", test: "Dataset") -> Prompts:
    """Every text with its gap."""
    gap = test.verbalizer
    if gap is None:
        raise UserError("These texts cannot be asked as a gap; load them from a task that has a word for every class.")
    examples = [_example(train, k, gap) for k in _first_of_each_class(train, prompt.shots)]
    tail = gap.tail(test.tokens.specials.mask)
    return Prompts(examples, [[(_text(test, number), tail)] for number in range(len(test.labels))], "end")


def gap_scores(model: LanguageModel, prompt: Prompt, train: "Dataset", test: "Dataset") -> Tensor:
    """Scores `[r, c]` of the classes for every text: the log-probability of each class's word in the gap."""
    prompts, verbalizer = gap_prompts(prompt, train, test), test.verbalizer
    assert verbalizer is not None
    tokens, room = test.tokens, _room(model)
    rows = [_with_gap(prompts.examples, *query, room) for query in chain.from_iterable(prompts.queries)]
    words = torch.tensor(verbalizer.words, device=test.labels.device)

    def scores(rows: Sequence[list[int]]) -> Tensor:
        prompts = pad_rows(rows, tokens.specials, tokens.vocabulary).to(tokens.ids.device)
        gaps = prompts.lengths - 1 - len(verbalizer.end)
        return log_chances(model, with_gap(model.shape, prompts, gaps))[:, words]

    nothing = _with_gap(prompts.examples, [], verbalizer.tail(tokens.specials.mask), room)
    known = torch.cat([scores(rows[k : k + BLOCK]) for k in range(0, len(rows), BLOCK)])
    return known - scores([nothing]) * prompt.calibrate


def written_prompts(prompt: Prompt, train: "Dataset", test: "Dataset") -> Prompts:
    """Every text with what is to be written; [SEP] ends the answer."""
    examples = [_source_and_target(train, number) for number in range(min(prompt.shots, len(train.labels)))]
    queries = ([_source_and_target(test, number)] for number in range(len(test.labels)))
    return _continued(examples, queries, test.tokens.specials)


@torch.no_grad()
def written_scores(model: LanguageModel, prompt: Prompt, train: "Dataset", test: "Dataset") -> Tensor:
    """Log-probabilities `[k, v]` of every word to be written, the right ones before it given.

    The model continues behind the text (GPT-2: translation behind "=", a summary behind "TL;DR:", sec. 3.6 and 3.7).
    Examples stand before it as they would in a corpus, each ended by [SEP]; [SEP] is also what ends the answer.
    """
    specials, prompts = test.tokens.specials, written_prompts(prompt, train, test)
    answers = _continuations(model, prompts.examples, [*chain.from_iterable(prompts.queries)], test.tokens)
    scores = torch.cat([answer.scores for answer in answers]).log_softmax(-1)
    ends = torch.tensor([specials.end, specials.sep], device=scores.device)
    scores[:, ends] = scores[:, ends.flip(0)]
    return scores


def choice_prompts(prompt: Prompt, train: "Dataset", test: "Dataset") -> Prompts:
    """Every text with each of its choices."""
    right = [int(label) + number * train.rows_each for number, label in enumerate(train.labels[: prompt.shots])]
    numbers = range(0, len(test.tokens.ids), test.rows_each)
    queries = ([_text_and_choice(test, first + choice) for choice in range(test.rows_each)] for first in numbers)
    return _continued([_text_and_choice(train, row) for row in right], queries, test.tokens.specials)


@torch.no_grad()
def choice_scores(model: LanguageModel, prompt: Prompt, train: "Dataset", test: "Dataset") -> Tensor:
    """Log-probability `[r, c]` of each choice behind its text, the mean over its words (arXiv:2005.14165, sec. 2.4)."""
    prompts, means = choice_prompts(prompt, train, test), []
    for answer in _continuations(model, prompts.examples, [*chain.from_iterable(prompts.queries)], test.tokens):
        each = answer.scores.log_softmax(-1).gather(1, answer.labels[:, None])[:, 0]
        sums, counts = (each.new_zeros(int(answer.rows.max()) + 1) for _ in range(2))
        means.append(sums.index_add(0, answer.rows, each) / counts.index_add(0, answer.rows, torch.ones_like(each)))
    return torch.cat(means).unflatten(0, (-1, test.rows_each))


def span_prompts(prompt: Prompt, train: "Dataset", test: "Dataset", longest: int) -> Prompts:
    """Every text and question with the words from each position on, as far as a span may reach."""
    assert test.positions is not None
    examples = [_with_answer(train, number) for number in range(min(prompt.shots, len(train.labels)))]

    def queries(number: int, first: int, last: int) -> list[Pair]:
        text, ids = _passage_and_question(test, number), test.tokens.ids[number].tolist()
        return [(text, ids[start : min(start + longest, last + 1)]) for start in range(first, last + 1)]

    every = (queries(number, first, last) for number, (first, last) in enumerate(test.positions.tolist()))
    return _continued(examples, every, test.tokens.specials)


@torch.no_grad()
def span_scores(model: LanguageModel, prompt: Prompt, train: "Dataset", test: "Dataset", longest: int) -> Tensor:
    """Scores `[r, t, 2]`, 1 at both ends of the span that the model likeliest continues with (GPT-2, sec. 3.8).

    The question stands behind the text. A span counts with all its words and the full stop behind it, so that long
    and short ones can be compared.
    """
    assert test.positions is not None
    prompts = span_prompts(prompt, train, test, longest)
    scores = torch.zeros(*test.tokens.ids.shape, 2, device=test.labels.device)
    for number, queries in enumerate(prompts.queries):
        answers = _continuations(model, prompts.examples, queries, test.tokens)
        found, first = [_prefixes(a, longest, test.tokens) for a in answers], int(test.positions[number, 0])
        start, length = divmod(int(torch.cat(found).argmax()), longest)
        scores[number, first + start, 0] = scores[number, first + start + length, 1] = 1.0
    return scores


def _full_stop(tokens: Tokens) -> int:
    """The id of a full stop that ends an answer."""
    found = next((name for name in (".", "##.", "Ġ.", "▁.") if name in tokens.vocabulary), None)
    if found is None:
        raise UserError("The vocabulary has no full stop, with which an answer ends; choose a model that knows one.")
    return tokens.vocabulary.index(found)


def _prefixes(answer: Answer, longest: int, like: Tokens) -> Tensor:
    """Log-probability `[r, longest]` of the first 1, 2, ... words of every row, each with a full stop behind them."""
    scores, stop = answer.scores.log_softmax(-1), _full_stop(like)
    each, ends = scores.gather(1, answer.labels[:, None])[:, 0], scores[:, stop]
    likely = scores.new_full((int(answer.rows.max()) + 1, longest), float("-inf"))
    for number, row in enumerate(likely):
        here = answer.rows == number
        whole = each[here][:-1].cumsum(0) + ends[here][1:]
        row[: len(whole)] = whole
    return likely


def _continued(examples: Iterable[Pair], queries: Iterable[Sequence[Pair]], specials: Specials) -> Prompts:
    """Texts that are continued, with [SEP] at the end of each."""
    ended = ([(text, [*right, specials.sep]) for text, right in several] for several in queries)
    return Prompts([[*text, *right, specials.sep] for text, right in examples], ended)


def _continuations(
    model: LanguageModel, examples: Sequence[list[int]], queries: Sequence[Pair], like: Tokens
) -> Iterator[Answer]:
    """The model's answers about every token of each continuation and about its end, examples before the text."""
    room = _room(model)
    for first in range(0, len(queries), BLOCK):
        rows, starts = [], []
        for text, right in queries[first : first + BLOCK]:
            own = [*text, *right][-room:]
            rows.append([*chain.from_iterable(_fitting(examples, room - len(own))), *own])
            starts.append(len(rows[-1]) - len(right))
        whole = begin(pad_rows(rows, like.specials, like.vocabulary).to(like.ids.device))
        batch = AskNext().build(SeeLeft(model.shape.layer_window).build(ShiftRight().build(whole)))
        [target] = batch.targets
        scored = target.loss_mask & (target.origin >= torch.tensor(starts, device=like.ids.device)[:, None])
        yield model(replace(batch, targets=(replace(target, loss_mask=scored),)))[-1]


def _fitting(examples: Sequence[list[int]], room: int) -> list[list[int]]:
    """The examples for which there is room; an example that is too long is left out, and a later one may fit."""
    fitting: list[list[int]] = []
    for batch in examples:
        if len(batch) <= room:
            fitting.append(batch)
            room -= len(batch)
    return fitting


def _room(model: LanguageModel) -> int:
    """How many tokens of a prompt can be read, without the special tokens."""
    learned = model.shape.positions == "learned"
    return min(LONGEST_ROW, model.shape.max_position_embeddings if learned else LONGEST_ROW) - 2


def _with_gap(examples: Sequence[list[int]], text: list[int], tail: list[int], room: int) -> list[int]:
    """One prompt: as many examples as there is room for, the text, the question, the gap, the end."""
    own = [*text[: room - len(tail)], *tail]
    return [*chain.from_iterable(_fitting(examples, room - len(own))), *own]


def _example(texts: "Dataset", number: int, gap: Verbalizer) -> list[int]:
    return [*_text(texts, number), *gap.after, gap.words[int(texts.labels[number])], *gap.end]


def _first_of_each_class(texts: "Dataset", shots: int) -> list[int]:
    """The first examples of every class, the classes in turn."""
    seen, turns = Counter[int](), []
    for number, label in enumerate(texts.labels.tolist()):
        turns.append((seen[label], label, number))
        seen[label] += 1
    return [number for *_, number in sorted(turns)[:shots]]


def _plain(
    ids: Tensor, specials: Specials, without: Sequence[str] = ("pad", "start", "end", "cls", "sep")
) -> list[int]:
    removed = {getattr(specials, name) for name in without}
    return [id for id in ids.tolist() if id not in removed]


def _text(texts: "Dataset", number: int) -> list[int]:
    return _plain(texts.tokens.ids[number * texts.rows_each], texts.tokens.specials)


def _text_and_choice(texts: "Dataset", row: int) -> Pair:
    specials = texts.tokens.specials
    ids = _plain(texts.tokens.ids[row], specials, ("pad", "start", "end", "cls"))
    cut = len(ids) - 1 - ids[::-1].index(specials.sep)
    return ids[:cut], ids[cut + 1 :]


def _source_and_target(texts: "Dataset", number: int) -> Pair:
    """A text and what is to be written behind it, without the end."""
    labels = texts.labels[number]
    source = texts.tokens.ids[number, : int((labels >= 0).float().argmax())]
    return _plain(source, texts.tokens.specials, ("start", "cls")), labels[labels >= 0][:-1].tolist()


def _passage_and_question(texts: "Dataset", number: int) -> list[int]:
    assert texts.positions is not None
    first, last = texts.positions[number].tolist()
    ids = texts.tokens.ids[number]
    return [*ids[first : last + 1].tolist(), *_plain(ids[:first], texts.tokens.specials)]


def _with_answer(texts: "Dataset", number: int) -> Pair:
    """Text and question with the answer and a full stop, as an example would stand in a corpus."""
    start, end = texts.labels[number].tolist()
    answer = texts.tokens.ids[number, start : end + 1].tolist()
    return _passage_and_question(texts, number), [*answer, _full_stop(texts.tokens)]
