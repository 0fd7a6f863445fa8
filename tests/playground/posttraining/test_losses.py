"""Losses against TRL's own trainers, on copied logits: value and gradient, with answers of unequal lengths."""

from collections import defaultdict
from types import SimpleNamespace

import pytest
import torch
from trl import DPOTrainer, GRPOTrainer

from playground.posttraining.losses import LOSS_TYPES, dpo_loss, group_advantages, grpo_loss, sft_loss

ROWS, WORDS, PROMPT, LONGEST = 6, 11, 3, 5
LENGTHS = torch.tensor([5, 1, 3, 2, 4, 1])


def rng(number=0):
    return torch.Generator().manual_seed(number)


def alone(value):
    return value


ACCELERATOR = SimpleNamespace(
    gather=alone, gather_for_metrics=alone, reduce=lambda value, reduction: value, num_processes=1, device="cpu"
)


def answers():
    """Ids `[b, prompt + longest]`, the mask of the answers, and logits that a model might give."""
    ids = torch.randint(WORDS, (ROWS, PROMPT + LONGEST), generator=rng(1))
    mask = (torch.arange(LONGEST) < LENGTHS[:, None]).long()
    return ids, mask, *(torch.randn(ROWS, PROMPT + LONGEST, WORDS, generator=rng(k)) for k in (2, 3, 4))


def token_logps(logits, ids):
    """Log-probabilities of the words of the answers, `[b, longest]`."""
    logps = logits.log_softmax(-1)[:, :-1].gather(2, ids[:, 1:, None])[:, :, 0]
    return logps[:, -LONGEST:]


def equal(ours, theirs, logits):
    """Whether value and gradient agree to 1e-5, and the gradient is one."""
    grad, other = (torch.autograd.grad(loss, logits)[0] for loss in (ours, theirs))
    assert torch.allclose(ours, theirs, atol=1e-5, rtol=0)
    assert torch.allclose(grad, other, atol=1e-5, rtol=0)
    assert grad.abs().max() > 1e-4


class Scored(torch.nn.Module):
    """What TRL's fused head returns, from fixed logits."""

    is_gradient_checkpointing = False

    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def forward(self, input_ids, labels, **_):
        asked = labels[:, 1:]
        logps = self.logits.log_softmax(-1)[:, :-1].gather(2, asked.clamp(min=0)[:, :, None])[:, :, 0]
        nothing = torch.zeros_like(logps)
        return SimpleNamespace(
            log_probs=logps.masked_fill(asked == -100, 0.0),
            entropy=nothing,
            mean_logits=nothing,
            is_top1=nothing.bool(),
        )


@pytest.mark.parametrize("beta", [0.1, 1.0])
def test_dpo_is_that_of_trl(beta):
    ids, mask, logits, ref, _ = answers()
    logits.requires_grad_()
    trainer = SimpleNamespace(
        model=Scored(logits), ref_model=Scored(ref), accelerator=ACCELERATOR, aux_loss_enabled=False, ld_alpha=None,
        precompute_ref_logps=False, f_divergence_type="reverse_kl", loss_types=["sigmoid"], loss_weights=[1.0],
        beta=beta, use_weighting=False, label_smoothing=0.0, _metrics=defaultdict(lambda: defaultdict(list)),
        _total_train_tokens=0, _tp_size=1, args=SimpleNamespace(gradient_checkpointing_kwargs=None),
    )  # fmt: skip
    completion_mask = torch.cat([torch.zeros(ROWS, PROMPT, dtype=torch.long), mask], dim=1)
    inputs = {"input_ids": ids, "completion_mask": completion_mask, "attention_mask": torch.ones_like(ids)}
    theirs = DPOTrainer._compute_loss(trainer, trainer.model, inputs, False)
    policy, reference = ((token_logps(values, ids) * mask).sum(1).chunk(2) for values in (logits, ref))
    equal(dpo_loss(*policy, *reference, beta), theirs, logits)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.3])
@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_grpo_is_that_of_trl(loss_type, beta, corrected):
    ids, mask, logits, ref, old = answers()
    logits.requires_grad_()
    old = logits.detach() + 0.5 * old  # so that some ratios are clipped and others are not
    advantages = group_advantages(torch.randn(2, 3, generator=rng(5)), "group").flatten()
    logps, ref_logps, old_logps = (token_logps(values, ids) for values in (logits, ref, old))
    trainer = SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *_, **__: (logps, torch.zeros_like(logps), None),
        model=SimpleNamespace(training=True), aux_loss_enabled=False, top_entropy_quantile=1.0,
        off_policy_mask_threshold=None, importance_sampling_level="token", beta=beta, loss_type=loss_type,
        epsilon_low=0.2, epsilon_high=0.2, use_vllm=False, current_gradient_accumulation_steps=1,
        max_completion_length=LONGEST, accelerator=ACCELERATOR, _entropy_bonus_enabled=False,
        args=SimpleNamespace(use_bias_correction_kl=corrected, delta=None, steps_per_generation=1),
        _metrics=defaultdict(lambda: defaultdict(list)),
    )  # fmt: skip
    inputs = {
        "prompt_ids": ids[:, :PROMPT], "prompt_mask": torch.ones(ROWS, PROMPT), "completion_ids": ids[:, PROMPT:],
        "completion_mask": mask, "advantages": advantages, "old_per_token_logps": old_logps,
        "ref_per_token_logps": ref_logps, "num_items_in_batch": mask.sum(),
    }  # fmt: skip
    theirs = GRPOTrainer._compute_loss(trainer, None, inputs)
    ours = grpo_loss(
        logps, old_logps, ref_logps, advantages, mask, loss_type=loss_type, epsilon=0.2, beta=beta,
        max_completion_length=LONGEST, use_bias_correction_kl=corrected,
    )  # fmt: skip
    ratio = (logps - old_logps).exp()
    assert bool((((ratio - 1).abs() > 0.2) & mask.bool()).any())
    grad, other = (torch.autograd.grad(loss, logits, retain_graph=True)[0] for loss in (ours, theirs))
    assert torch.allclose(ours, theirs, atol=1e-5, rtol=0)
    assert torch.allclose(grad, other, atol=1e-5, rtol=0)
    assert grad.abs().max() > 1e-4


def test_the_mean_by_answer_is_another_than_the_mean_over_words():
    _, mask, logits, _, _ = answers()
    logps, advantages = logits[:, :LONGEST, 0], torch.ones(ROWS)
    values = {
        kind: grpo_loss(
            logps,
            logps - 0.1,
            logps,
            advantages,
            mask,
            loss_type=kind,
            epsilon=9.0,
            beta=0.0,
            max_completion_length=LONGEST,
        )
        for kind in LOSS_TYPES
    }
    assert values["bnpo"] == values["dapo"]
    losses = -(torch.tensor(0.1).exp() * mask)
    assert torch.isclose(values["grpo"], losses.sum(1).div(LENGTHS).mean())
    assert torch.isclose(values["dr_grpo"], losses.sum() / (ROWS * LONGEST))


def test_equal_rewards_give_no_gradient():
    ids, mask, logits, _, _ = answers()
    logits.requires_grad_()
    logps, advantages = token_logps(logits, ids), group_advantages(torch.full((2, 3), 0.7), "group").flatten()
    loss = grpo_loss(
        logps, logps.detach(), logps.detach(), advantages, mask, loss_type="dapo", epsilon=0.2, beta=0.1,
        max_completion_length=LONGEST,
    )  # fmt: skip
    assert torch.autograd.grad(loss, logits)[0].abs().max() < 1e-7


def test_sft_is_the_mean_cross_entropy_of_the_answers():
    ids, mask, logits, _, _ = answers()
    labels = ids[:, PROMPT:].masked_fill(mask == 0, -100)
    expected = torch.nn.functional.cross_entropy(logits[:, -LONGEST - 1 : -1].flatten(0, 1), labels.flatten())
    assert torch.isclose(sft_loss(token_logps(logits, ids), mask), expected)


def test_a_known_preference_is_the_expected_loss_over_labels():
    chosen, rejected = torch.tensor([0.3, -2.0]), torch.tensor([1.0, 0.5])
    chance = torch.tensor([0.8, 0.1])
    either = [dpo_loss(chosen, rejected, rejected * 0, rejected * 0, 0.5, label) for label in (1.0, 0.0)]
    parts = [
        chance[k] * dpo_loss(chosen[[k]], rejected[[k]], torch.zeros(1), torch.zeros(1), 0.5)
        + (1 - chance[k]) * dpo_loss(rejected[[k]], chosen[[k]], torch.zeros(1), torch.zeros(1), 0.5)
        for k in range(2)
    ]
    assert torch.isclose(dpo_loss(chosen, rejected, rejected * 0, rejected * 0, 0.5, chance), sum(parts) / 2)
    assert either[0] != either[1]
