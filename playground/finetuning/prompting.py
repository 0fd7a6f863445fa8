"""Prompting: the task is written as a text with a gap, and the pre-trained model says which label's word stands there.

Nothing is trained, so there is nothing to store and nothing to forget (arXiv:1910.10683 writes tasks as texts for
training; GPT-2 and GPT-3, arXiv:2005.14165, sec. 2, only ask).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from playground.analysis.gap import log_chances, with_gap
from playground.example import Specials, Tokens
from playground.finetuning.answers import Classes
from playground.knob import knob
from playground.models import LanguageModel
from playground.refusal import Refusal
from playground.tokenizing import Tokenizer
from playground.tokenizing.padding import batch

if TYPE_CHECKING:  # both know what is asked
    from playground.finetuning.labelled import Labelled
    from playground.finetuning.task import Task

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
    corrected: bool = knob(True, why="What the model says before it has read the text is taken off.")


@dataclass(frozen=True)
class Asking:
    """A task as a gap: the ids that follow a text, then the gap, then what ends it; the id of each class's word."""

    after: tuple[int, ...]
    words: tuple[int, ...]
    end: tuple[int, ...]


def asking(task: "Task", tokenizer: Tokenizer) -> Asking | None:
    """The question of a task in the words of a vocabulary; None where it has no word for every class."""
    if not isinstance(task.answer, Classes) or task.answer.about != "text":
        return None
    words = [tokenizer.encode_words([name]) for name in task.answer.names]
    known = all(len(ids) == 1 and ids[0] != tokenizer.specials.unknown for ids in words)
    if not known or len({ids[0] for ids in words}) < len(words):
        return None
    return Asking(tuple(tokenizer.encode_words(task.prompt)), tuple(ids[0] for ids in words), _end(tokenizer))


def _end(tokenizer: Tokenizer) -> tuple[int, ...]:
    return tuple(tokenizer.encode_words(["."]))


def check(model: LanguageModel, task: "Task", tokenizer: Tokenizer) -> None:
    """Refuse what cannot be asked as a gap."""
    if model.shape.kind == "static":
        raise Refusal("Prompting needs a model that reads sentences; static vectors do not. Take another base.")
    if asking(task, tokenizer) is None:
        raise Refusal(
            f"Prompting needs one word of the model's vocabulary for every class, and the task {task.name!r} does not "
            "have that; take another task, such as sentiment or topic, or another strategy."
        )


def prompted(model: LanguageModel, prompt: Prompt, train: "Labelled", test: "Labelled") -> Tensor:
    """Scores `[r, c]` of the classes for every text: what the model holds of each class's word in the gap."""
    asked = test.asking
    if asked is None:
        raise Refusal("These texts cannot be asked as a gap; load them from a task that has a word for every class.")
    shown = [_example(train, k, asked) for k in _in_turn(train, prompt.shots)]
    specials = test.tokens.specials
    room = min(ROOM, model.shape.longest if model.shape.positions == "learned" else ROOM) - 2
    rows = [_row(shown, text, asked, specials, room) for text in _texts(test)]
    words = torch.tensor(asked.words, device=test.labels.device)
    scores = [_ask(model, rows[k : k + BLOCK], asked, test.tokens)[:, words] for k in range(0, len(rows), BLOCK)]
    nothing = _ask(model, [_row(shown, [], asked, specials, room)], asked, test.tokens)[:, words]
    return torch.cat(scores) - nothing * prompt.corrected


def _row(shown: Sequence[list[int]], text: list[int], asked: Asking, specials: Specials, room: int) -> list[int]:
    """One prompt: as many examples as there is room for, the text, the question, the gap, the end."""
    own = [*text[: room - len(asked.after) - 1 - len(asked.end)], *asked.after, specials.mask, *asked.end]
    before: list[int] = []
    for example in shown:
        if len(before) + len(example) + len(own) <= room:
            before += example
    return [*before, *own]


def _example(texts: "Labelled", number: int, asked: Asking) -> list[int]:
    """A labelled text with its answer where the gap would be."""
    word = asked.words[int(texts.labels[number])]
    return [*_text(texts, number), *asked.after, word, *asked.end]


def _in_turn(texts: "Labelled", shots: int) -> list[int]:
    """The first examples of every class, one class after another."""
    places: dict[int, list[int]] = {}
    for number, label in enumerate(texts.labels.tolist()):
        places.setdefault(label, []).append(number)
    turns = [(turn, label, n) for label, numbers in places.items() for turn, n in enumerate(numbers)]
    return [number for _, _, number in sorted(turns)[:shots]]


def _texts(texts: "Labelled") -> list[list[int]]:
    return [_text(texts, number) for number in range(len(texts.labels))]


def _text(texts: "Labelled", number: int) -> list[int]:
    """The words of a text, without the signs of its packing."""
    specials = texts.tokens.specials
    signs = {specials.pad, specials.start, specials.end, specials.cls, specials.sep}
    return [id for id in texts.tokens.ids[number].tolist() if id not in signs]


def _ask(model: LanguageModel, rows: Sequence[list[int]], asked: Asking, like: Tokens) -> Tensor:
    """What a model holds of every word for the gap of each row, `[b, v]`."""
    tokens = batch(rows, like.specials, like.vocabulary).to(like.ids.device)
    return log_chances(model, with_gap(model.shape, tokens, tokens.lengths - 1 - len(asked.end)))
