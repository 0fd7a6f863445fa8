"""What every method of post-training and every reward of the catalogue owes."""

import re

import pytest
import torch

from playground.errors import UserError
from playground.posttraining import PostTraining, find_method, find_reward, methods, post_train, rewards
from playground.posttraining.method import Trained
from playground.posttraining.reward import statement_polarity
from tests.posttraining import base, setting, space

every_method = pytest.mark.parametrize("name", methods())
every_reward = pytest.mark.parametrize("name", rewards())


@every_method
def test_a_method_has_a_card_and_is_found_by_every_name(name):
    method = methods()[name]
    assert re.fullmatch(r"[A-Z].{20,}\.", method.idea)
    assert re.search(r"arXiv:\d{4}\.\d{5}, sec\. \d", method.source)
    assert method.unlike_paper
    assert all(knob.why for knob in method.knobs)
    assert "beta" in {knob.name for knob in method.knobs}
    assert method.turn({knob.name: knob.default for knob in method.knobs}) == method
    for spoken in (name, name.upper(), *method.aliases):
        assert find_method(spoken) is method
    turned = find_method(f"{name}(beta=0.5)")
    assert find_method(str(turned)) == turned


@every_method
def test_a_method_measures_what_it_says(name):
    method = find_method(name)
    events = [*post_train(PostTraining(base(), space(), find_reward("grammatical"), method, steps=2, measure_every=1))]
    for event in events:
        assert torch.allclose(event.log_probs.exp().sum(1), torch.ones(2, dtype=torch.float64))
        assert event.kl_to_optimum > -1e-9
        assert event.kl_to_reference > -1e-9
        assert -1e-9 <= event.true_reward <= 1 + 1e-9
        assert event.true_reward == event.proxy_reward
    assert (events[-1].loss is not None) == isinstance(method.step, Trained)
    assert events[0].kl_to_reference == 0.0


@pytest.mark.parametrize("name", [name for name, method in methods().items() if isinstance(method.step, Trained)])
def test_every_choice_of_a_knob_trains(name):
    for knob in methods()[name].knobs:
        for choice in (*knob.choices, *((True, False) if isinstance(knob.default, bool) else ())):
            method = find_method(name).turn({knob.name: choice})
            *_, last = post_train(PostTraining(base(), space(), find_reward("grammatical"), method, steps=1))
            assert last.kl_to_reference > 0


@every_reward
def test_a_reward_has_a_card_and_scores_every_answer(name):
    reward = rewards()[name]
    assert re.fullmatch(r"[A-Z\d].{20,}\.", reward.idea)
    for spoken in (name, *reward.aliases):
        assert find_reward(spoken) is reward
    scores, width = reward.score(space()), len(space().words)
    assert scores.shape == (2, width, width)
    assert scores.dtype == torch.float64
    assert torch.isfinite(scores).all()
    assert scores.unique().numel() > 1


@every_reward
def test_a_proxy_names_a_true_reward_and_its_optimum_earns_less_of_it(name):
    reward = rewards()[name]
    if not reward.proxy_of:
        assert reward.true is reward
        return
    assert not reward.true.proxy_of
    known = setting(name)
    best = known.optimum.log_probs.exp()
    assert (best * known.rewards).sum(1).mean() > (known.reference.joint.exp() * known.rewards).sum(1).mean()
    assert (best * known.true_rewards).sum(1).mean() < (known.reference.joint.exp() * known.true_rewards).sum(1).mean()


def test_rewards_that_build_on_the_grammar_pay_nothing_else():
    scores = {name: reward.score(space()) for name, reward in rewards().items()}
    for name in ("positive", "consistent"):
        assert (scores[name] <= scores["grammatical"]).all()


def test_not_turns_a_word_round():
    words = [space().corpus.tokenizer.words[i] for i in space().words.tolist()]
    polarity = statement_polarity(space())[0]
    assert polarity[words.index("not"), words.index("dull")] == 1
    assert polarity[words.index("great"), words.index("and")] == 1
    assert polarity[words.index("great"), words.index("dull")] == 0


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(UserError, match="no method of post-training named 'nope'"):
        find_method("nope")
    with pytest.raises(UserError, match="no reward named 'nope'"):
        find_reward("nope")
