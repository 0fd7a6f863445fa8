"""What is given to a model or its head beside the words of a text: other vectors, cloze answers, facts.

Each is a declaration; `prepare` makes of labelled texts others that carry what is given. The pre-trained model itself
is never changed by it, so the work is done once per text.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from playground.analysis.cooccurrence import cooccurrence, dense, factors, ppmi
from playground.corpora.corpus import pick
from playground.errors import Refusal
from playground.finetuning.data import prompting
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.prompting import Prompt, prompted
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.semi_supervised import check_classes
from playground.knob import knob
from playground.tokenizing import Tokenizer
from playground.training.train_state import TrainState

BLOCK = 64
"""Texts that another model reads at once."""


class ExtraFeatures(Protocol):
    """Something that is given beside the words; what changes the words themselves comes `first`."""

    name: ClassVar[str]
    first: ClassVar[bool]
    rehearses: ClassVar[bool]

    def check(self, learner: TrainState, task: Task, tokenizer: Tokenizer) -> None: ...

    def prepare(self, base: Base, texts: Dataset) -> Dataset: ...


def more(texts: Dataset, vectors: Tensor) -> Dataset:
    """The texts with further vectors `[r, t, f]` beside those that were given before."""
    return replace(texts, given=vectors if texts.given is None else torch.cat([texts.given, vectors], dim=-1))


def _check_reading(name: str, task: Task) -> None:
    if task.answer.about == "written":
        raise Refusal(
            f"{name} make what the head reads wider than the words' vectors, so it could not write; the task "
            f"{task.name!r} needs another strategy."
        )


@dataclass(frozen=True)
class OtherVectors:
    """Static vectors of every word, by counting in the pre-training text, and those of other models, if any.

    All stand beside what the model knows: [GloVe(x); CoVe(x)] of arXiv:1708.00107, sec. 3.
    """

    width: int = knob(32, 1, 512, unit="numbers", why="Length of the static vector of a word.")
    name: ClassVar[str] = "vectors of other models"
    first: ClassVar[bool] = False
    rehearses: ClassVar[bool] = True

    def check(self, learner: TrainState, task: Task, tokenizer: Tokenizer) -> None:
        _check_reading(self.name, task)

    @torch.no_grad()
    def prepare(self, base: Base, texts: Dataset) -> Dataset:
        table = base.remember((self.name, self.width), lambda: static_vectors(base, self.width))
        found = [table[texts.tokens.ids]]
        for other in base.beside:
            blocks = torch.arange(len(texts.tokens.ids), device=table.device).split(BLOCK)
            found.append(torch.cat([other.model.features(pick(texts.tokens, index)) for index in blocks]))
        return more(texts, torch.cat(found, dim=-1))


def static_vectors(base: Base, width: int) -> Tensor:
    """A vector `[v, d]` for every word, without training: singular vectors of what stands near what."""
    text = base.rehearse()
    ends = text.ids.new_full((len(text.ids), 1), text.specials.sep)
    table = ppmi(dense(cooccurrence(torch.cat([text.ids, ends], dim=1).flatten(), text.specials), text.specials.size))
    vectors = factors(table, width)
    lacking = base.learner.model.token_embedding.num_embeddings - len(vectors)  # words that were added later
    return torch.cat([layer_norm(vectors, vectors.shape[-1:]), vectors.new_zeros(lacking, vectors.shape[-1])])


@dataclass(frozen=True)
class ClozeAnswers:
    """What the model itself holds of each class's word in a gap behind the text, given to the head as numbers.

    The pre-trained model is asked as a source of knowledge (LAMA, arXiv:1909.01066, sec. 3), and its answer is one
    feature among others.
    """

    name: ClassVar[str] = "cloze answers"
    first: ClassVar[bool] = False
    rehearses: ClassVar[bool] = False

    def check(self, learner: TrainState, task: Task, tokenizer: Tokenizer) -> None:
        check_classes(self.name, task)
        prompting.check(learner.model, task, tokenizer)

    @torch.no_grad()
    def prepare(self, base: Base, texts: Dataset) -> Dataset:
        if texts.asking is None:
            raise Refusal(
                f"{self.name} need one word of the model's vocabulary for every class, and this task lacks that; "
                "take sentiment or topic, or another strategy."
            )
        said = prompted(base.learner.model, Prompt(), texts, texts).log_softmax(1).clamp(min=-10.0)
        rows, places = texts.tokens.ids.shape
        return more(texts, said.repeat_interleave(rows // len(said), 0)[:, None].expand(-1, places, -1))
