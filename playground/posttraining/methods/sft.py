"""SFT: next-word loss on the words of demonstrated answers alone."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from playground.knob import knob
from playground.models import LanguageModel
from playground.posttraining.losses import sft_loss
from playground.posttraining.method import Method, Rollout, Setting, Trained


@dataclass(frozen=True, kw_only=True)
class SupervisedFineTuning(Trained):
    """Cross-entropy of demonstrated answers (InstructGPT, arXiv:2203.02155, sec. 3.5)."""

    demonstrations: str = knob(
        "optimum", choices=("optimum", "grammar"),
        why="Answers of the exact optimum, or what the grammar of the corpus writes after the prompt.",
    )  # fmt: skip
    batch_size: int = knob(16, 1, 256, unit="answers a prompt", why="More answers, a less noisy gradient.")

    def draw(self, setting: Setting, model: LanguageModel, rng: Generator) -> Rollout:
        """Fresh demonstrations of every prompt."""
        chances = setting.grammar if self.demonstrations == "grammar" else setting.optimum.log_probs.exp()
        prompts, answers = setting.draw(chances, self.batch_size, rng)
        return Rollout.of(setting, prompts, answers, torch.zeros(len(answers)))

    def loss(self, setting: Setting, rollout: Rollout, logps: Tensor, old_logps: Tensor) -> Tensor:
        return sft_loss(logps, setting.mask.expand_as(logps))


SFT = Method(
    name="SFT",
    aliases=("supervised fine-tuning",),
    idea="Predict the words of demonstrated answers; the prompt is read, but not in the loss.",
    source="Ouyang et al., arXiv:2203.02155, sec. 3.5",
    unlike_paper="no person wrote the demonstrations: they are drawn from the exact optimum or from the grammar",
    step=SupervisedFineTuning(),
)
