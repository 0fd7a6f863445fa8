"""MobileBERT: a student as deep as its teacher, but thin, learns its layers one after the other from the bottom up."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import Generator, Tensor

from playground.compression.classifier import unshared_stack
from playground.compression.distillation.losses import attention_transfer, soft_targets, state_mse
from playground.compression.distillation.pretraining import TextStep, train_on_text
from playground.compression.distillation.students import begin_pre_trained
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.methods.low_rank import TruncateRanks
from playground.compression.methods.neuron_pruning import CutNeurons
from playground.compression.training import fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class TransferProgressively:
    """States and attention of each layer while all others are frozen, then the teacher's words, then the task."""

    share: float = knob(0.75, 0.0, 0.99, unit="share of the neurons", why="How many neurons of each MLP are cut.")
    rank: int = knob(16, 1, 512, unit="rank", why="Rank of the values and outputs of attention.")
    layer_steps: int = knob(100, 0, 5000, unit="steps per layer", why="Knowledge transfer, on pre-training text.")
    alpha: float = knob(0.5, 0.0, 1.0, unit="share of the loss", why="Weight of the pre-training loss.")
    text_steps: int = knob(150, 0, 10_000, unit="steps", why="Pre-training distillation, on the same text.")
    steps: int = knob(150, 0, 5000, unit="steps", why="Training on the task.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        student = begin_pre_trained(start, data, rng, data.base.learner.model.shape.layers, "first")
        student = CutNeurons(self.share, steps=0).apply(student, data, rng)
        student = TruncateRanks(self.rank, "attention", steps=0).apply(student, data, rng)
        model, terms = student.classifier.model, dict[str, list[float]]()
        for layer, block in enumerate(unshared_stack(student.classifier, "MobileBERT").layers):
            loss, learns = transfer(layer), block.parameters()
            terms |= train_on_text(model, data, rng, self.layer_steps, loss, learns)
        terms |= train_on_text(model, data, rng, self.text_steps, self.text_loss)
        return fine_tune(replace(student, curves=terms), data, rng, self.steps)

    def text_loss(self, now: TextStep) -> dict[str, Tensor]:
        return {
            "pre-training": self.alpha * now.objective_loss(),
            "soft targets": (1 - self.alpha) * soft_targets(*now.scores(), 1.0),
        }


def transfer(layer: int) -> Callable[[TextStep], dict[str, Tensor]]:
    """Feature map transfer and attention transfer of one layer, counted from 0 (sec. 3.4)."""

    def loss(now: TextStep) -> dict[str, Tensor]:
        ours, theirs = now.traces()
        return {
            f"states of layer {layer + 1}": state_mse(ours, theirs, layer + 1, layer + 1),
            f"attention of layer {layer + 1}": attention_transfer(ours, theirs, layer),
        }

    return loss


MOBILEBERT = Method(
    name="MobileBERT",
    aliases=("progressive knowledge transfer",),
    family="distillation",
    rows=("C13", "S101"),
    idea="A thin student of all layers matches the states and attention of its teacher, one layer after the other.",
    source="Sun et al., arXiv:2004.02984, secs. 3.4 and 3.5",
    unlike_paper="layers are those of the base with fewer neurons and attention of low rank, not bottlenecks with "
    "several small MLPs, so the base itself teaches, without inverted bottlenecks; norms and word vectors keep their "
    "form",
    step=TransferProgressively(),
    from_base=True,
)
