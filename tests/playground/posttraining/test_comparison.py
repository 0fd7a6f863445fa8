"""Methods side by side: what each event says, in one setting, and the sentence that is made of it."""

from dataclasses import replace
from statistics import fmean

import pytest

from playground.errors import UserError
from playground.posttraining import PostTraining, compare, find_method, find_reward, post_train
from tests.posttraining import base, space


def compared(*lines, reward="grammatical", seeds=(0,), steps=4):
    return [*compare(base(), space(), find_reward(reward), [*map(find_method, lines)], seeds, steps)]


@pytest.fixture(scope="module")
def gamed():
    return compared("DPO", "GRPO", "best of n(n=4)", reward="positive words", seeds=(0, 1), steps=40)


def test_a_method_next_to_others_has_the_events_that_it_has_alone():
    last = compared("SFT", "DPO", seeds=(3,))[-1]
    run = PostTraining(base(), space(), find_reward("grammatical"), find_method("DPO"), 3, 4, measure_every=1)
    alone = {event.step: [event.kl_to_optimum] for event in post_train(run)}
    assert last.values("kl_to_optimum")["DPO"] == alone
    assert last.progress == 1


def test_the_work_grows_event_by_event_and_only_the_last_one_keeps_its_tensors(gamed):
    shares = [made.progress for made in gamed]
    assert shares == sorted(shares) and shares[-1] == 1
    events = gamed[-1].runs["GRPO"][1]
    assert [event.rollout is None for event in events] == [True] * (len(events) - 1) + [False]
    assert [len(event.log_probs) for event in events] == [0] * (len(events) - 1) + [2]
    assert len(gamed[0].runs["DPO"]) == 1, "a comparison that was given away does not change"


def test_the_figures_are_means_over_the_seeds_and_best_of_n_has_no_steps(gamed):
    last = gamed[-1]
    steps = last.values("forgetting")["DPO"]
    assert [len(some) for some in steps.values()] == [2] * len(steps)
    assert last.ends("DPO", "forgetting") == (0.0, fmean(steps[40]))
    assert last.values("forgetting")["best of n(n=4)"] == {}
    assert [step for step, *_ in last.path("best of n(n=4)")] == [1, 2, 4]


def test_the_sentence_has_the_numbers_of_the_runs(gamed):
    last = gamed[-1]
    for name in ("DPO", "GRPO", "best of n(n=4)"):
        assert f"{last.ends(name, 'kl_to_optimum')[1]:.3f}" in last.headline
    (low, high), (true, less) = last.ends("DPO", "proxy_reward"), last.ends("DPO", "true_reward")
    assert high > low and less < true
    assert f"DPO games the proxy (Goodhart's law): the proxy reward rises from {low:.2f} to {high:.2f}" in last.headline
    assert "best of n(n=4) games" not in last.headline
    assert "Goodhart" not in compared("DPO")[-1].headline


def test_the_facts_are_those_of_the_command(gamed):
    facts = gamed[-1].facts
    assert [each["method"] for each in facts] == ["DPO", "GRPO", "best of n(n=4)"]
    assert [each["seed"] for each in facts[0]["seeds"]] == [0, 1]
    answer = facts[0]["prompts"][0]["answers"][0]
    assert 0 <= answer["reference"] <= answer["optimum"] <= 1
    assert (answer["reward"], answer["true_reward"]) == (2.0, 0.0)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(UserError, match="No method is chosen"):
        compared()
    with pytest.raises(UserError, match=r"different betas: 0.1, 0.2; give all the same"):
        compared("DPO", "SFT(beta=0.2)")
    other = replace(base().learner, objective=replace(base().learner.objective, stages=()))
    with pytest.raises(UserError, match="predicts no next word"):
        [*compare(replace(base(), learner=other), space(), find_reward("positive"), [find_method("DPO")], [0], 1)]
