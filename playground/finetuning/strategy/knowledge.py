"""Facts written into a text: what is known of a person hangs on the name as branches that the rest does not see."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch

from playground.corpora.tinyworld.facts import known_facts
from playground.errors import Refusal
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.knob import knob
from playground.tokenizing import Tokenizer
from playground.tokenizing.padding import batch, padded
from playground.training.train_state import TrainState

SAID = {"Language": ("speaks",), "Birthplace": ("was", "born", "in"), "Job": ("is", "a"), "Like": ("likes",)}
"""How each kind of fact about a person begins, in the order in which facts are given."""

Piece = tuple[int, int, int, int]
"""Of one token of a text with branches: its id, the place it came from, its branch (0: the text), its position."""


@dataclass(frozen=True)
class Facts:
    """What TinyWorld knows of each person in a text, as triples on the name (K-BERT, arXiv:1909.07606, sec. 3.2)."""

    max_facts: int = knob(
        2, 1, 4, unit="facts", why="How many facts hang on a name: language, birthplace, job, liking."
    )
    name: ClassVar[str] = "facts"
    first: ClassVar[bool] = True
    rehearses: ClassVar[bool] = False

    def check(self, learner: TrainState, task: Task, tokenizer: Tokenizer) -> None:
        """Refuse what does not read a whole text with positions."""
        if learner.model.shape.kind == "static":
            raise Refusal("Facts hang on words by who sees whom; static vectors see nobody. Take another base.")
        if task.answer.about != "text":
            raise Refusal(
                f"Facts move words apart, so they are for whole texts; {task.name!r} asks about single words."
            )

    def prepare(self, base: Base, texts: Dataset) -> Dataset:
        """The texts with branches; a text that names nobody stays as it is."""
        if base.tokenizer is None:
            raise Refusal("Facts need the tokenizer of the base; give Base(..., tokenizer=...).")
        known = branches(base.tokenizer, self.max_facts)
        tokens, old = texts.tokens, texts.tokens.ids.cpu()
        rows = [list(woven(row[:n], known)) for row, n in zip(old.tolist(), tokens.lengths.tolist(), strict=True)]
        made = batch([[piece[0] for piece in row] for row in rows], tokens.specials, tokens.vocabulary)
        source = padded([[piece[1] for piece in row] for row in rows], 0)
        kept = {name: value.cpu().gather(1, source) for name, value in tokens.labels.items()}
        hung = {
            "branch": padded([[piece[2] for piece in row] for row in rows], 0),
            "anchor": padded([_anchors(row) for row in rows], -1),
            "position": padded([[piece[3] for piece in row] for row in rows], 0),
        }
        device = tokens.ids.device
        sides = None if texts.sides is None else _sides(texts.sides.cpu(), source, hung["branch"]).to(device)
        return replace(texts, tokens=replace(made, labels=kept | hung).to(device), sides=sides)


def branches(tokenizer: Tokenizer, most: int) -> Mapping[int, Sequence[Sequence[int]]]:
    """For the id of every name what is known of the person, each fact as ids; what has no ids is left out."""
    unknown = tokenizer.specials.unknown
    found: dict[int, list[list[int]]] = {}
    for name, facts in known_facts().items():
        ids = tokenizer.encode_words([name])
        if len(ids) > 1 or unknown in ids:
            continue
        said = [tokenizer.encode_words((*SAID[kind], facts[kind].word)) for kind in list(SAID)[:most]]
        found[ids[0]] = [fact for fact in said if unknown not in fact]
    return found


def woven(ids: Sequence[int], known: Mapping[int, Sequence[Sequence[int]]]) -> Iterator[Piece]:
    """A text with the branches behind their names."""
    number = 0
    for place, one in enumerate(ids):
        yield one, place, 0, place
        for fact in known.get(one, ()):
            number += 1
            for step, word in enumerate(fact, start=1):
                yield word, place, number, place + step


def _anchors(row: Sequence[Piece]) -> list[int]:
    """Where the name stands on which each token hangs, -1 for the text itself."""
    there = {place: k for k, (_, place, branch, _) in enumerate(row) if branch == 0}
    return [there[place] if branch else -1 for _, place, branch, _ in row]


def _sides(sides: torch.Tensor, source: torch.Tensor, branch: torch.Tensor) -> torch.Tensor:
    """Which text of a pair stands where; facts belong to neither, and padding stays padding."""
    return sides.gather(1, source).masked_fill(branch > 0, -1)
