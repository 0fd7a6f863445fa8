"""What a model or its head reads in addition to the words of a text: other vectors, cloze answers, facts.

Each is a declaration; `prepare` makes of labelled texts others that carry it. The pre-trained model itself is never
changed by it, so the work is done once per text.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from playground.corpora.corpus import pick
from playground.corpora.tinyworld.facts import known_facts
from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.prompting import Prompt, describe_left_out
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.semi_supervised import check_classes
from playground.knob import knob
from playground.objectives.ops.cooccurrence import cooccurrence, dense, factors, ppmi
from playground.tokenizing import Tokenizer
from playground.tokenizing.padding import pad_rows, padded
from playground.training.train_state import TrainState

BLOCK = 64
"""Texts that another model reads at once."""

RELATIONS = {"Language": ("speaks",), "Birthplace": ("was", "born", "in"), "Job": ("is", "a"), "Like": ("likes",)}
"""How each kind of fact about a person begins, in the order in which facts are given."""

Piece = tuple[int, int, int, int]
"""Of one token of a text with branches: its id, the position it came from, its branch (0: the text), its position."""


class ExtraFeatures(ABC):
    """Something in addition to the words; what changes the words themselves comes `first`."""

    name: ClassVar[str]
    first: ClassVar[bool] = False
    rehearses: ClassVar[bool] = False

    @abstractmethod
    def check(self, learner: TrainState, task: Task, tokenizer: Tokenizer) -> None:
        """Refuse a model, a task or a vocabulary that it does not suit."""

    @abstractmethod
    def prepare(self, base: Base, texts: Dataset) -> Dataset:
        """The texts with it."""

    def notices(self, base: Base, texts: Dataset) -> tuple[str, ...]:
        """Sentences on what it leaves out of the texts."""
        return ()


def with_features(texts: Dataset, features: Tensor) -> Dataset:
    """The texts with further features `[r, t, f]` beside those that they had."""
    return replace(texts, features=features if texts.features is None else torch.cat([texts.features, features], -1))


@dataclass(frozen=True)
class OtherVectors(ExtraFeatures):
    """Static vectors of every word, by counting in the pre-training text, and those of other models, if any.

    All are concatenated with the model's hidden states: [GloVe(x); CoVe(x)] of arXiv:1708.00107, sec. 3.
    """

    width: int = knob(32, 1, 512, unit="numbers", why="Length of the static vector of a word.")
    name: ClassVar[str] = "vectors of other models"
    rehearses: ClassVar[bool] = True

    def check(self, learner: TrainState, task: Task, tokenizer: Tokenizer) -> None:
        if task.answer.about == "written":
            raise UserError(
                f"{self.name} make what the head reads wider than the words' vectors, so it could not write; the task "
                f"{task.name!r} needs another strategy."
            )

    @torch.no_grad()
    def prepare(self, base: Base, texts: Dataset) -> Dataset:
        table = base.remember((self.name, self.width), lambda: static_vectors(base, self.width))
        vectors = [table[texts.tokens.ids]]
        for other in base.extra_encoders:
            blocks = torch.arange(len(texts.tokens.ids), device=table.device).split(BLOCK)
            vectors.append(torch.cat([other.model.features(pick(texts.tokens, index)) for index in blocks]))
        return with_features(texts, torch.cat(vectors, dim=-1))


def static_vectors(base: Base, width: int) -> Tensor:
    """A vector `[v, d]` for every word, without training: singular vectors of the co-occurrence matrix (PPMI).

    They are computed on the CPU, so that they are the same on every device.
    """
    text = base.rehearse().to(torch.device("cpu"))
    ends = text.ids.new_full((len(text.ids), 1), text.specials.sep)
    table = ppmi(dense(cooccurrence(torch.cat([text.ids, ends], dim=1).flatten(), text.specials), text.specials.size))
    vectors = factors(table, width)
    lacking = base.learner.model.token_embedding.num_embeddings - len(vectors)  # words that were added later
    table = torch.cat([layer_norm(vectors, vectors.shape[-1:]), vectors.new_zeros(lacking, vectors.shape[-1])])
    return table.to(base.learner.device)


@dataclass(frozen=True)
class ClozeAnswers(ExtraFeatures):
    """The model's own log-probability of each class's word in a gap behind the text, as numbers for the head.

    The pre-trained model is asked as a source of knowledge (LAMA, arXiv:1909.01066, sec. 3), and its answer is one
    feature among others.
    """

    name: ClassVar[str] = "cloze answers"

    def check(self, learner: TrainState, task: Task, tokenizer: Tokenizer) -> None:
        check_classes(self.name, task)
        task.check_prompt(learner.model, tokenizer)

    @torch.no_grad()
    def prepare(self, base: Base, texts: Dataset) -> Dataset:
        if texts.verbalizer is None:  # other tasks that are learnt too may have no word for every class
            return texts
        scores = texts.answer.prompted(base.learner.model, Prompt(), texts, texts).log_softmax(1).clamp(min=-10.0)
        rows, positions = texts.tokens.ids.shape
        return with_features(texts, scores.repeat_interleave(rows // len(scores), 0)[:, None].expand(-1, positions, -1))

    def notices(self, base: Base, texts: Dataset) -> tuple[str, ...]:
        prompts = texts.answer.prompts(Prompt(), texts, texts)
        return tuple(describe_left_out(base.learner.model, Prompt(), prompts))


@dataclass(frozen=True)
class Facts(ExtraFeatures):
    """What TinyWorld knows of each person in a text, as triples at the name (K-BERT, arXiv:1909.07606, sec. 3.2)."""

    max_facts: int = knob(
        2, 1, 4, unit="facts", why="How many facts are attached to a name: language, birthplace, job, liking."
    )
    name: ClassVar[str] = "facts"
    first: ClassVar[bool] = True

    def check(self, learner: TrainState, task: Task, tokenizer: Tokenizer) -> None:
        if learner.model.shape.kind == "static":
            raise UserError("Facts need attention and positions. Choose a base with layers, such as BERT.")
        if task.answer.about != "text":
            raise UserError(
                "Facts separate neighbouring words, so they are for "
                f"whole texts; {task.name!r} asks about single words."
            )

    def prepare(self, base: Base, texts: Dataset) -> Dataset:
        """The texts with branches; a text without a known name stays as it is."""
        known = branches(base.words, self.max_facts)
        tokens, old = texts.tokens, texts.tokens.ids.cpu()
        rows = [
            list(with_branches(row[:n], known)) for row, n in zip(old.tolist(), tokens.lengths.tolist(), strict=True)
        ]
        ids, sources, branch, position = ([[piece[k] for piece in row] for row in rows] for k in range(4))
        made, source = pad_rows(ids, tokens.specials, tokens.vocabulary), padded(sources, 0)
        added = {
            "branch": padded(branch, 0),
            "anchor": padded([_anchors(row) for row in rows], -1),
            "position": padded(position, 0),
        }
        labels = {name: value.cpu().gather(1, source) for name, value in tokens.labels.items()} | added
        sides = texts.sides
        if sides is not None:  # facts belong to neither text of a pair
            sides = sides.cpu().gather(1, source).masked_fill(added["branch"] > 0, -1).to(sides.device)
        return replace(texts, tokens=replace(made, labels=labels).to(tokens.ids.device), sides=sides)


def branches(tokenizer: Tokenizer, most: int) -> Mapping[int, Sequence[Sequence[int]]]:
    """For the id of every name the facts about the person, each as ids; what the vocabulary lacks is left out."""
    unknown = tokenizer.specials.unknown
    branches_of: dict[int, list[list[int]]] = {}
    for name, facts in known_facts().items():
        ids = tokenizer.encode_words([name])
        if len(ids) == 1 and unknown not in ids:
            encoded = [tokenizer.encode_words((*RELATIONS[k], facts[k].word)) for k in list(RELATIONS)[:most]]
            branches_of[ids[0]] = [fact for fact in encoded if unknown not in fact]
    return branches_of


def with_branches(ids: Sequence[int], known: Mapping[int, Sequence[Sequence[int]]]) -> Iterator[Piece]:
    """A text with the branches behind their names."""
    number = 0
    for position, one in enumerate(ids):
        yield one, position, 0, position
        for fact in known.get(one, ()):
            number += 1
            for step, word in enumerate(fact, start=1):
                yield word, position, number, position + step


def _anchors(row: Sequence[Piece]) -> list[int]:
    """The position of the name that each token of a branch belongs to, -1 for the text itself."""
    names = {position: k for k, (_, position, branch, _) in enumerate(row) if branch == 0}
    return [names[position] if branch else -1 for _, position, branch, _ in row]
