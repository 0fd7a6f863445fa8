"""Prompting: the task is written as a text with a gap, and the pre-trained model says which label's word stands there.

Nothing is trained, so there is nothing to store and nothing to forget (arXiv:1910.10683 writes tasks as texts for
training; GPT-2 and GPT-3, arXiv:2005.14165, sec. 2, only ask).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from playground.analysis.cloze import log_chances, with_gap
from playground.batch import Specials, Tokens, begin
from playground.errors import Refusal
from playground.finetuning.data.task_types import Choice, Classes, Span, Writing
from playground.knob import knob
from playground.models import LanguageModel
from playground.models.losses import Answer
from playground.objectives.arrange import ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.see import SeeLeft
from playground.tokenizing import Tokenizer
from playground.tokenizing.padding import batch

if TYPE_CHECKING:  # both know what is asked
    from playground.finetuning.data.dataset import Dataset
    from playground.finetuning.data.task import Task

BLOCK = 64
"""Prompts that are read at once."""

ROOM = 256
"""Tokens of a prompt at most; examples that do not fit are left out."""


@dataclass(frozen=True)
class Prompt:
    """So many labelled texts with their answers stand before the text that is asked about.

    `corrected` takes off what the model holds of each word where no text stands at all (arXiv:2102.09690, sec. 5).
    """

    shots: int = knob(0, 0, 16, unit="examples", why="0 asks without an example; more show what is wanted.")
    calibrate: bool = knob(True, why="What the model says before it has read the text is taken off.")


@dataclass(frozen=True)
class Verbalizer:
    """A task as a gap: the ids that follow a text, then the gap, then what ends it; the id of each class's word."""

    after: tuple[int, ...]
    words: tuple[int, ...]
    end: tuple[int, ...]


def asking(task: "Task", tokenizer: Tokenizer) -> Verbalizer | None:
    """The question of a task in the words of a vocabulary; None where it has no word for every class."""
    if not isinstance(task.answer, Classes) or task.answer.about != "text":
        return None
    words = [tokenizer.encode_words([name]) for name in task.answer.names]
    known = all(len(ids) == 1 and ids[0] != tokenizer.specials.unknown for ids in words)
    if not known or len({ids[0] for ids in words}) < len(words):
        return None
    return Verbalizer(tuple(tokenizer.encode_words(task.prompt)), tuple(ids[0] for ids in words), _end(tokenizer))


def _end(tokenizer: Tokenizer) -> tuple[int, ...]:
    return tuple(tokenizer.encode_words(["."]))


def check(model: LanguageModel, task: "Task", tokenizer: Tokenizer) -> None:
    """Refuse what cannot be asked as a gap."""
    if model.shape.kind == "static":
        raise Refusal("Prompting needs a model that reads sentences; static vectors do not. Take another base.")
    if isinstance(task.answer, Writing | Choice | Span):
        if not model.shape.continues:
            raise Refusal(
                f"Only a model that reads left to right can go on behind a text untrained, so {task.name!r} cannot be "
                "asked of this one; take GPT, or another strategy."
            )
        return
    if asking(task, tokenizer) is None:
        raise Refusal(
            f"Prompting needs one word of the model's vocabulary for every class, and the task {task.name!r} does not "
            "have that; take another task, such as sentiment or topic, or another strategy."
        )


def prompted(model: LanguageModel, prompt: Prompt, train: "Dataset", test: "Dataset") -> Tensor:
    """Scores `[r, c]` of the classes for every text: what the model holds of each class's word in the gap.

    Where a text is to be written they are those of every coming word, `[k, v]`, the right ones before it given; where
    one of several is to be chosen, how likely each is behind the text; where words of a text are to be marked, 1 at
    the first and the last of those that are likeliest behind text and question.
    """
    if isinstance(test.answer, Writing | Choice):
        ask = _written if isinstance(test.answer, Writing) else _chosen
        return ask(model, prompt, train, test)
    if isinstance(test.answer, Span):
        return _marked(model, prompt, train, test, test.answer.longest)
    asked = test.asking
    if asked is None:
        raise Refusal("These texts cannot be asked as a gap; load them from a task that has a word for every class.")
    shown = [_example(train, k, asked) for k in _in_turn(train, prompt.shots)]
    specials = test.tokens.specials
    room = _room(model)
    rows = [_row(shown, text, asked, specials, room) for text in _texts(test)]
    words = torch.tensor(asked.words, device=test.labels.device)
    scores = [_ask(model, rows[k : k + BLOCK], asked, test.tokens)[:, words] for k in range(0, len(rows), BLOCK)]
    nothing = _ask(model, [_row(shown, [], asked, specials, room)], asked, test.tokens)[:, words]
    return torch.cat(scores) - nothing * prompt.calibrate


Parts = tuple[list[int], list[int]]
"""A text and what goes on behind it, as ids."""


@torch.no_grad()
def _written(model: LanguageModel, prompt: Prompt, train: "Dataset", test: "Dataset") -> Tensor:
    """The model goes on behind the text (GPT-2: translation behind "=", a summary behind "TL;DR:", sec. 3.6 and 3.7).

    Examples stand before it as they would in a corpus, each ended by [SEP]; [SEP] is also what ends the answer.
    """
    specials = test.tokens.specials
    shown = [_parts(train, number) for number in range(prompt.shots)]
    asked = [_parts(test, number) for number in range(len(test.labels))]
    said = torch.cat([answer.scores for answer in _going_on(model, shown, asked, test.tokens)]).log_softmax(-1)
    ends = torch.tensor([specials.end, specials.sep], device=said.device)
    said[:, ends] = said[:, ends.flip(0)]
    return said


@torch.no_grad()
def _chosen(model: LanguageModel, prompt: Prompt, train: "Dataset", test: "Dataset") -> Tensor:
    """How likely each choice is behind its text, `[r, c]`, the mean over its words (arXiv:2005.14165, sec. 2.4)."""
    right = [int(label) + number * train.ways for number, label in enumerate(train.labels[: prompt.shots])]
    shown = [_text_and_choice(train, row) for row in right]
    asked = [_text_and_choice(test, row) for row in range(len(test.tokens.ids))]
    means = []
    for answer in _going_on(model, shown, asked, test.tokens):
        each = answer.scores.log_softmax(-1).gather(1, answer.targets[:, None])[:, 0]
        sums, counts = (each.new_zeros(int(answer.rows.max()) + 1) for _ in range(2))
        means.append(sums.index_add(0, answer.rows, each) / counts.index_add(0, answer.rows, torch.ones_like(each)))
    return torch.cat(means).unflatten(0, (-1, test.ways))


@torch.no_grad()
def _marked(model: LanguageModel, prompt: Prompt, train: "Dataset", test: "Dataset", longest: int) -> Tensor:
    """The words of a text with which the model would go on behind text and question (GPT-2, sec. 3.8).

    A span counts with all its words and the stop behind it, so that long and short ones can be compared.
    """
    shown = [_answered(train, number) for number in range(min(prompt.shots, len(train.labels)))]
    scores = torch.zeros(*test.tokens.ids.shape, 2, device=test.labels.device)
    for number in range(len(test.labels)):
        first, last = _passage(test, number)
        text = _before_answer(test, number)
        ids = test.tokens.ids[number].tolist()
        asked = [(text, ids[at : min(at + longest, last + 1)]) for at in range(first, last + 1)]
        likely = torch.cat([_prefixes(a, longest, test.tokens) for a in _going_on(model, shown, asked, test.tokens)])
        at, length = divmod(int(likely.argmax()), longest)
        scores[number, first + at, 0] = scores[number, first + at + length, 1] = 1.0
    return scores


def _prefixes(answer: Answer, longest: int, like: Tokens) -> Tensor:
    """How likely the first 1, 2, ... words of every row are, each with a stop behind them, `[r, longest]`."""
    said, stop = answer.scores.log_softmax(-1), like.vocabulary.index(".")
    each, ends = said.gather(1, answer.targets[:, None])[:, 0], said[:, stop]
    likely = said.new_full((int(answer.rows.max()) + 1, longest), float("-inf"))
    for row in range(len(likely)):
        here = answer.rows == row
        whole = each[here][:-1].cumsum(0) + ends[here][1:]
        likely[row, : len(whole)] = whole
    return likely


def _passage(texts: "Dataset", number: int) -> tuple[int, int]:
    """First and last place of the text in which the answer stands."""
    assert texts.places is not None
    first, last = texts.places[number].tolist()
    return first, last


def _before_answer(texts: "Dataset", number: int) -> list[int]:
    """The text and the question behind it, as ids."""
    first, last = _passage(texts, number)
    specials = texts.tokens.specials
    signs = {specials.pad, specials.start, specials.end, specials.cls, specials.sep}
    ids = texts.tokens.ids[number].tolist()
    return [*ids[first : last + 1], *(id for id in ids[:first] if id not in signs)]


def _answered(texts: "Dataset", number: int) -> Parts:
    """The same with its answer and a stop: an example as it would stand in a corpus."""
    start, end = texts.labels[number].tolist()
    stop = texts.tokens.vocabulary.index(".")
    return _before_answer(texts, number), [*texts.tokens.ids[number, start : end + 1].tolist(), stop]


def _going_on(model: LanguageModel, shown: Sequence[Parts], asked: Sequence[Parts], like: Tokens) -> Iterator[Answer]:
    """What the model holds of every word that goes on behind each text, and of the end, examples standing before."""
    end, room = like.specials.sep, _room(model)
    before = [[*text, *right, end] for text, right in shown]
    for first in range(0, len(asked), BLOCK):
        behind = [_behind(before, text, right, end, room) for text, right in asked[first : first + BLOCK]]
        rows, starts = zip(*behind, strict=True)
        whole = begin(batch(rows, like.specials, like.vocabulary).to(like.ids.device))
        example = AskNext().build(SeeLeft().build(ShiftRight().build(whole)))
        [question] = example.questions
        graded = question.loss_mask & (question.origin >= torch.tensor(starts, device=like.ids.device)[:, None])
        yield model(replace(example, questions=(replace(question, loss_mask=graded),)))[-1]


def _text_and_choice(texts: "Dataset", row: int) -> Parts:
    """The context and the candidate of a row, without the signs of its packing."""
    specials = texts.tokens.specials
    signs = (specials.pad, specials.start, specials.end, specials.cls)
    ids = [id for id in texts.tokens.ids[row].tolist() if id not in signs]
    cut = len(ids) - 1 - ids[::-1].index(specials.sep)
    return ids[:cut], ids[cut + 1 :]


def _parts(texts: "Dataset", number: int) -> Parts:
    """A text and what is to be written behind it, without the signs of its packing and the end."""
    labels = texts.labels[number]
    first = int((labels >= 0).float().argmax())
    signs = (texts.tokens.specials.start, texts.tokens.specials.cls)
    text = [id for id in texts.tokens.ids[number, :first].tolist() if id not in signs]
    return text, labels[labels >= 0][:-1].tolist()


def _behind(
    shown: Sequence[list[int]], text: list[int], right: list[int], end: int, room: int
) -> tuple[list[int], int]:
    """A prompt with the right answer and its end behind it, and where the answer begins; it is cut in front."""
    own = [*text, *right, end][-room:]
    before: list[int] = []
    for example in shown:
        before += example if len(before) + len(example) + len(own) <= room else []
    return [*before, *own], len(before) + len(own) - len(right) - 1


def _room(model: LanguageModel) -> int:
    """So many tokens of a prompt can be read, without the signs around it."""
    return min(ROOM, model.shape.max_position_embeddings if model.shape.positions == "learned" else ROOM) - 2


def _row(shown: Sequence[list[int]], text: list[int], asked: Verbalizer, specials: Specials, room: int) -> list[int]:
    """One prompt: as many examples as there is room for, the text, the question, the gap, the end."""
    own = [*text[: room - len(asked.after) - 1 - len(asked.end)], *asked.after, specials.mask, *asked.end]
    before: list[int] = []
    for example in shown:
        if len(before) + len(example) + len(own) <= room:
            before += example
    return [*before, *own]


def _example(texts: "Dataset", number: int, asked: Verbalizer) -> list[int]:
    """A labelled text with its answer where the gap would be."""
    word = asked.words[int(texts.labels[number])]
    return [*_text(texts, number), *asked.after, word, *asked.end]


def _in_turn(texts: "Dataset", shots: int) -> list[int]:
    """The first examples of every class, one class after another."""
    places: dict[int, list[int]] = {}
    for number, label in enumerate(texts.labels.tolist()):
        places.setdefault(label, []).append(number)
    turns = [(turn, label, n) for label, numbers in places.items() for turn, n in enumerate(numbers)]
    return [number for _, _, number in sorted(turns)[:shots]]


def _texts(texts: "Dataset") -> list[list[int]]:
    return [_text(texts, number) for number in range(len(texts.labels))]


def _text(texts: "Dataset", number: int) -> list[int]:
    """The words of a text, without the signs of its packing."""
    specials = texts.tokens.specials
    signs = {specials.pad, specials.start, specials.end, specials.cls, specials.sep}
    return [id for id in texts.tokens.ids[number * texts.ways].tolist() if id not in signs]


def _ask(model: LanguageModel, rows: Sequence[list[int]], asked: Verbalizer, like: Tokens) -> Tensor:
    """What a model holds of every word for the gap of each row, `[b, v]`."""
    tokens = batch(rows, like.specials, like.vocabulary).to(like.ids.device)
    return log_chances(model, with_gap(model.shape, tokens, tokens.lengths - 1 - len(asked.end)))
