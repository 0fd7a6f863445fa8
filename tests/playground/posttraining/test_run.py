"""A run of post-training: its events, its seeds, and a reference that never changes."""

import sys
from dataclasses import replace

import pytest
import torch

from playground.corpora import open_corpus
from playground.errors import UserError
from playground.posttraining import PostTraining, find_method, find_reward, post_train, setting_of
from tests.posttraining import base, setting, space

FIGURES = (
    "step", "loss", "kl_to_optimum", "kl_to_reference", "true_reward", "proxy_reward", "pretraining_loss", "forgetting",
)  # fmt: skip


def run(method="DPO", reward="grammatical", seed=0, steps=4):
    return PostTraining(base(), space(), find_reward(reward), find_method(method), seed, steps, measure_every=2)


def figures(events):
    return [[getattr(event, name) for name in FIGURES] for event in events]


@pytest.mark.parametrize("method", ["SFT", "DPO", "GRPO"])
def test_the_same_seed_gives_the_same_numbers_and_the_reference_does_not_change_by_a_bit(method):
    before = {name: value.clone() for name, value in base().learner.model.state_dict().items()}
    first, again, other = (figures(post_train(run(method, seed=seed))) for seed in (0, 0, 1))
    assert first == again != other
    assert [event[0] for event in first] == [0, 2, 4]
    assert all(torch.equal(value, before[name]) for name, value in base().learner.model.state_dict().items())


def test_the_first_event_is_the_reference():
    first, *_, last = post_train(run())
    assert (first.kl_to_reference, first.forgetting, first.loss, first.rollout) == (0.0, 0.0, None, None)
    assert first.kl_to_optimum > 0
    assert last.kl_to_reference > 0
    assert last.pretraining_loss == pytest.approx(first.pretraining_loss + last.forgetting)
    assert last.rollout.batch.targets[0].loss_mask.sum() == 2 * len(last.rollout.answers)


def test_dpo_comes_nearer_to_the_optimum():
    first, *_, last = post_train(replace(run(steps=40), measure_every=40))
    assert last.kl_to_optimum < first.kl_to_optimum / 2
    assert last.true_reward > first.true_reward


def test_a_proxy_rises_while_the_true_reward_falls():
    first, *_, last = post_train(replace(run(reward="positive words", steps=60), measure_every=60))
    assert last.proxy_reward > first.proxy_reward + 0.5
    assert last.true_reward < first.true_reward - 0.1


def test_best_of_n_moves_no_weight_and_keeps_its_bound():
    events = [*post_train(run("best of n(n=8)"))]
    assert [event.step for event in events] == [1, 2, 4, 8]
    assert all(event.kl_to_reference <= event.kl_bound + 1e-9 for event in events)
    assert {event.forgetting for event in events} == {0.0}
    rewards = [event.true_reward for event in events]
    assert rewards == sorted(rewards)


def test_answers_are_drawn_once_for_several_iterations_and_then_clipped():
    events = [*post_train(replace(run("GRPO(num_iterations=2)", steps=4), measure_every=1))]
    rollouts = [event.rollout for event in events[1:]]
    assert rollouts[0] is rollouts[1] is not rollouts[2] is rollouts[3]


def test_a_setting_is_shared_by_the_seeds():
    one = run()
    assert figures(post_train(one, setting_of(one))) == figures(post_train(one))
    assert torch.equal(setting().rewards, setting_of(one).rewards)


def test_what_does_not_fit_is_refused():
    with pytest.raises(UserError, match="0 steps"):
        run(steps=0)
    words = open_corpus("agreement", tokens=20_000)
    other = replace(space(), corpus=replace(words, tokenizer=Fewer(words.tokenizer)))
    with pytest.raises(UserError, match="another vocabulary than agreement"):
        replace(run(), space=other)


class Fewer:
    """A tokenizer with one word less."""

    def __init__(self, tokenizer):
        self.size = len(tokenizer) - 1

    def __len__(self):
        return self.size


def test_a_loss_that_is_no_number_ends_the_run_in_a_sentence(monkeypatch):
    monkeypatch.setattr(
        sys.modules[type(find_method("SFT").step).__module__],
        "sft_loss",
        lambda logps, mask: logps.sum() * float("nan"),
    )
    with pytest.raises(UserError, match="The loss is nan after step 1; choose a lower learning_rate"):
        [*post_train(run("SFT"))]
