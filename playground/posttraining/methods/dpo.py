"""DPO: raise the preferred answer of a pair against the other, both measured from the reference."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from playground.knob import knob
from playground.models import LanguageModel
from playground.posttraining.answer_space import sample_answers
from playground.posttraining.losses import dpo_loss
from playground.posttraining.method import Method, Rollout, Setting, Trained


@dataclass(frozen=True, kw_only=True)
class DirectPreferenceOptimization(Trained):
    """Bradley-Terry preferences over pairs of answers (arXiv:2305.18290, sec. 4).

    At the optimum `beta log(policy / reference)` differs within every pair as the rewards do, so that with exact
    preferences the gradient of every pair is 0 there.
    """

    value = "preference"
    preferences: str = knob(
        "exact", choices=("exact", "sampled"),
        why="The known chance that an answer of a pair is preferred, or one label that is drawn with this chance.",
    )  # fmt: skip
    answers_from: str = knob(
        "both", choices=("reference", "policy", "both"),
        why="What writes the pairs: the reference, as in the paper, the policy as it is now, or one answer of each.",
    )  # fmt: skip
    pairs: int = knob(16, 1, 256, unit="pairs a prompt", why="More pairs, a less noisy gradient.")

    def draw(self, setting: Setting, model: LanguageModel, rng: Generator) -> Rollout:
        """Pairs of every prompt: all first answers, then all second ones; each with the chance of the first."""
        first = self._answers(self.answers_from != "policy", setting, model, rng)
        second = self._answers(self.answers_from == "reference", setting, model, rng)
        prompts = torch.arange(len(setting.space.prompts)).repeat_interleave(self.pairs)
        chance = (setting.rewards[prompts, first] - setting.rewards[prompts, second]).sigmoid()
        if self.preferences == "sampled":
            chance = torch.bernoulli(chance, generator=rng)
        return Rollout.of(setting, prompts.repeat(2), torch.cat([first, second]), chance)

    def _answers(self, of_reference: bool, setting: Setting, model: LanguageModel, rng: Generator) -> Tensor:
        if of_reference:
            return setting.draw(setting.reference.joint.exp(), self.pairs, rng)[1]
        prompts = torch.arange(len(setting.space.prompts)).repeat_interleave(self.pairs)
        return sample_answers(model, setting.space, prompts, rng)

    def loss(self, setting: Setting, rollout: Rollout, logps: Tensor, old_logps: Tensor) -> Tensor:
        first, second = logps.sum(1).chunk(2)
        ref_first, ref_second = rollout.ref_logps.sum(1).chunk(2)
        return dpo_loss(first, second, ref_first, ref_second, self.beta, rollout.values)


DPO = Method(
    name="DPO",
    aliases=("direct preference optimization", "direct preference optimisation"),
    idea="Of two answers, raise the preferred one against the other; the reference says from where it is counted.",
    source="Rafailov et al., arXiv:2305.18290, sec. 4, eq. 7",
    unlike_paper="preferences are exact unless they are drawn, and the policy writes one answer of each pair",
    step=DirectPreferenceOptimization(learning_rate=5e-3),
)
