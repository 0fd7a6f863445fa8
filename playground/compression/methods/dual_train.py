"""DualTrain: a narrow student with few words is tied to its teacher by shared projections and a mixed vocabulary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Generator, Tensor, nn
from torch.nn.utils import parametrize

from playground.compression.classifier import classifier_of, fresh, matrices, stack_of
from playground.compression.distillation.pretraining import TextStep, train_on_text
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.methods.smaller_vocabulary import frequent, keep_words
from playground.compression.training import fine_tune
from playground.knob import knob


class FewWords(nn.Module):
    """A table of word vectors `[v, d]` in which all but the words that are left have the vector of the unknown word."""

    def __init__(self, kept: Tensor, words: int, unknown: int) -> None:
        super().__init__()
        self.row = torch.full((words,), unknown).index_copy(0, kept, kept)

    def forward(self, table: Tensor) -> Tensor:
        return table[self.row]


class MixedWords(nn.Module):
    """The teacher's table `[v, d]` with the vectors of the student, projected up, for the words that are drawn."""

    def __init__(self, student: nn.Embedding, width: int, rng: Generator) -> None:
        super().__init__()
        self.up, self.drawn = projection(student.embedding_dim, width, rng), torch.zeros(student.num_embeddings).bool()
        self.student = (student,)  # in a tuple, for its weights are not the teacher's

    def forward(self, table: Tensor) -> Tensor:
        return torch.where(self.drawn[:, None], self.student[0].weight @ self.up, table)


Pairs = Sequence[tuple[Tensor, Tensor]]
"""A matrix of the teacher and that of the student in the same place."""


def shared_projections(pairs: Pairs, rng: Generator) -> nn.ParameterDict:
    """One projection to the left and one to the right for all of the teacher's matrices of a size, by axis and size."""
    sizes = {f"{axis} {t.shape[axis]}": (s.shape[axis], t.shape[axis]) for t, s in pairs for axis in (0, 1)}
    return nn.ParameterDict({name: projection(*size, rng) for name, size in sizes.items()})


def projection_loss(pairs: Pairs, shared: nn.ParameterDict) -> Tensor:
    """The squared distance of the student's matrices from the teacher's, projected down from both sides."""
    down = [shared[f"0 {t.shape[0]}"] @ t.detach() @ shared[f"1 {t.shape[1]}"].T for t, _ in pairs]
    return torch.stack([(d - s).square().sum() for d, (_, s) in zip(down, pairs, strict=True)]).sum()


def projection(low: int, high: int, rng: Generator) -> nn.Parameter:
    """A matrix `[low, high]` with random numbers that keeps about the length of what it projects up."""
    return nn.Parameter(torch.randn(low, high, generator=rng) * high**-0.5)


@dataclass(frozen=True)
class TrainDually:
    """Teacher and student learn the objective on the same text, then the student learns the task."""

    width: int = knob(0, 0, 512, unit="numbers per position", why="Width of the student; 0: half of the teacher's.")
    words: int = knob(300, 8, 100_000, unit="words", why="How many frequent words the student knows.")
    unlabelled: int = knob(500, 16, 5000, unit="texts", why="Additional texts in which words are counted.")
    mixed: float = knob(
        0.5, 0.0, 1.0, unit="share of the words", why="Words that the teacher reads with the student's vectors."
    )
    projection: float = knob(0.01, 0.0, 100.0, unit="times the loss", why="Weight of the projection loss.")
    text_steps: int = knob(300, 0, 10_000, unit="steps", why="Dual training, on pre-training text.")
    steps: int = knob(150, 0, 5000, unit="steps", why="Training on the task.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        teacher = classifier_of(data.base.learner.model, start.classifier.head)
        stack_of(teacher.model, "DualTrain")
        shape, specials = teacher.model.shape, data.train.tokens.specials
        small = replace(shape, width=self.width or shape.width // 2)
        student = fresh(small, teacher, rng, data.train, data.base.words.words)
        ours, theirs = (cast("nn.Embedding", each.model.token_embedding) for each in (student, teacher))
        kept = frequent(self.words, data.train.tokens, data.unlabelled(self.unlabelled).tokens)
        few = FewWords(kept, ours.num_embeddings, specials.id_of("unknown"))
        parametrize.register_parametrization(ours, "weight", few)
        mixed = MixedWords(ours, theirs.embedding_dim, rng)
        parametrize.register_parametrization(theirs, "weight", mixed)
        whole = matrices(teacher, embeddings=False)
        pairs = [(whole[name], matrix) for name, matrix in matrices(student, embeddings=False).items()]
        shared = shared_projections(pairs, rng)

        def loss(now: TextStep) -> dict[str, Tensor]:
            mixed.drawn = torch.rand(len(mixed.drawn), generator=rng) < self.mixed
            return {
                "pre-training": now.objective_loss(),
                "teacher": replace(now, student=teacher.model).objective_loss(),
                "projection": self.projection * projection_loss(pairs, shared),
            }

        learns = [p for part in (student.model, teacher.model, shared) for p in part.parameters()]
        terms = train_on_text(student.model, data, rng, self.text_steps, loss, learns)
        parametrize.remove_parametrizations(ours, "weight")
        keep_words(student, kept)
        return fine_tune(replace(start, classifier=student, zeros=frozenset(), curves=terms), data, rng, self.steps)


DUAL_TRAIN = Method(
    name="DualTrain",
    aliases=("shared projections", "mixed-vocabulary training"),
    family="distillation",
    rows=("C15", "S103"),
    idea="A narrow student with few words shares vectors with its teacher and matches its matrices, projected down.",
    source="Zhao et al., arXiv:1909.11687, first version",
    unlike_paper="the student knows the task's most frequent words and no pieces of its own, and reads others as the "
    "unknown word; which words the teacher reads so is drawn for a batch, not for each position; one softmax scores "
    "both vocabularies",
    step=TrainDually(),
    from_base=True,
)
