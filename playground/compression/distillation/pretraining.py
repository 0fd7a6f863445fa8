"""Steps on pre-training text: a student learns the objective, or from a teacher that reads the same text."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Generator, Tensor, nn

from playground.batch import Batch, Tokens
from playground.compression.distillation.reading import Trace, trace
from playground.compression.method import TaskData
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import LanguageModel, total_loss
from playground.models.dropout import dropping
from playground.models.model import ForwardPass
from playground.optimisers import AdamW
from playground.zoo.recipe import BETAS

LEARNING_RATE = 6e-3
"""That of AdamW in the zoo's recipe."""


@dataclass(frozen=True)
class TextStep:
    """A batch of text, plain and as the objective corrupts it, for a student and a teacher."""

    student: LanguageModel
    teacher: LanguageModel
    tokens: Tokens
    batch: Batch

    @cached_property
    def _passes(self) -> tuple[ForwardPass, ForwardPass]:
        if self.teacher.shape.generator_ratio and not self.student.shape.generator_ratio:
            raise UserError(
                "A generator of the base writes the text of its pre-training, and a student has none; distil the task "
                "alone (soft targets), or the states of plain text (TinyBERT, MiniLM)."
            )
        return ForwardPass(self.student, self.batch), ForwardPass(self.teacher, self.batch)

    def objective_loss(self) -> Tensor:
        """The loss of the objective."""
        ours = self._passes[0]
        answers = [ours.answer(part, target) for part in self.batch.with_auxiliary for target in part.targets]
        return total_loss(answers)[0]

    def scores(self) -> tuple[Tensor, Tensor]:
        """Both models' scores of every word at the scored positions, `[k, v]`."""
        [target, *_] = self.batch.targets
        ours, theirs = self._passes
        with torch.no_grad():
            shown = theirs.answer(self.batch, target).scores
        return ours.answer(self.batch, target).scores, shown

    def last_states(self) -> tuple[Tensor, Tensor]:
        """Both models' last states of the corrupted text that is no padding, `[k, d]`."""
        ours, theirs = self._passes
        with torch.no_grad():
            shown = theirs.states(self.batch, "inputs")
        valid = self.batch.inputs.valid
        return ours.states(self.batch, "inputs")[valid], shown[valid]

    def traces(self) -> tuple[Trace, Trace]:
        """What both models compute of the plain text."""
        with torch.no_grad():
            shown = trace(self.teacher, self.tokens)
        return trace(self.student, self.tokens), shown


TextLoss = Callable[[TextStep], Mapping[str, Tensor]]


def train_on_text(
    student: LanguageModel,
    data: TaskData,
    rng: Generator,
    steps: int,
    loss: TextLoss,
    learns: Iterable[nn.Parameter] | None = None,
) -> dict[str, list[float]]:
    """Change the student by some steps on the base's text, with the base as its teacher; the loss's terms by step.

    All its weights learn, or only those of `learns`.
    """
    base, text, terms = data.base.learner, data.pretraining, dict[str, list[float]]()
    size, weights = base.entry.recipe.batch_size, [*(student.parameters() if learns is None else learns)]
    optimiser = AdamW(weights, lr=LEARNING_RATE, betas=BETAS, weight_decay=0.01)
    student.requires_grad_(False)
    for p in weights:
        p.requires_grad_(True)
    for step in range(steps):
        rows = pick(text, torch.randint(len(text.ids), (size,), generator=rng))
        batch = base.objective.batch(rows, rng)
        for group in optimiser.param_groups:
            group["lr"] = LEARNING_RATE * min(1.0, (step + 1) / max(1, steps // 10)) * (1 - step / steps)
        with dropping(student, rng):
            some = loss(TextStep(student, base.model, rows, batch))
            torch.stack(list(some.values())).sum().backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        for name, value in some.items():
            terms.setdefault(f"{name} (text)", []).append(float(value.detach()))
    student.requires_grad_(True)
    return terms


def objective_alone(now: TextStep) -> dict[str, Tensor]:
    """The pre-training loss."""
    return {"pre-training": now.objective_loss()}
