"""The state of the Post-training page: what is chosen, a run to its end, Stop, refusals, and the link."""

import threading
from urllib.parse import parse_qsl

import pytest

from playground.errors import UserError
from playground.posttraining import Comparison
from tests.posttraining import base, corpus
from tests.runs import becomes
from widgets.app import main
from widgets.state import posttraining as module
from widgets.state.app import Store, Tab
from widgets.state.posttraining import PROXIES, QUESTIONS, SHOWN_FIRST, PostTrainingStore


def none_here(key):
    raise UserError(f"There is no model {key!r}.")


@pytest.fixture
def state(monkeypatch):
    """A state whose small model is that of the tests."""
    monkeypatch.setattr(module, "small_base", lambda *_: base())
    monkeypatch.setattr(module, "open_corpus", lambda _: corpus())
    made = PostTrainingStore(none_here, chosen=["DPO", "best of n"], steps=10, prompts=2)
    yield made
    made.running.end()


def test_a_run_goes_to_its_end_and_says_what_it_found(state):
    state.begin()
    assert state.trouble == ""
    state.running.wait()
    assert isinstance(state.running.result, Comparison) and state.running.result is state.found
    assert state.found.progress == 1
    assert len(state.found.setting.space.prompts) == 2
    assert "the reference is" in state.found.headline


def test_the_shortcut_is_that_of_the_reward_that_is_meant(state):
    state.shortcut = True
    assert (state.reward, state.trained.name) == ("positive", "positive words")
    state.reward = "consistent"
    assert (state.shortcut, state.trained.name) == (False, "consistent")
    state.ask("What does a shortcut in the reward do?")
    assert state.shortcut and state.reward in PROXIES
    state.running.end()


def test_a_variant_of_a_method_is_added_with_its_knobs(state):
    state.method = "GRPO"
    assert "beta" not in state.knobs
    state.turn("loss_type", "dr_grpo")
    state.add()
    assert state.chosen[-1] == state.own[0] == "GRPO(loss_type=dr_grpo)"
    assert state.chosen[-1] in state.offered
    state.beta = 0.2
    assert [str(method) for method in state.asked()] == [
        "DPO(beta=0.2)", "best of n(beta=0.2)", "GRPO(beta=0.2, loss_type=dr_grpo)",
    ]  # fmt: skip
    state.method = "DPO"
    assert state.turned == {}


def test_all_that_is_offered_and_asked_is_a_method():
    state = PostTrainingStore(none_here)
    for line in (*state.offered, *SHOWN_FIRST, *(line for asked in QUESTIONS.values() for line in asked["chosen"])):
        state.chosen = [line]
        assert [str(method) for method in state.asked()] == [line]


def test_what_cannot_be_run_is_refused_in_a_sentence(state):
    state.chosen = []
    state.begin()
    assert "No method is chosen" in state.trouble and not state.running.busy
    state.chosen = [f"DPO(pairs={k})" for k in range(1, 9)]
    state.begin()
    assert state.trouble == "8 methods are chosen; choose at most 6."
    state.param.update(chosen=["DPO"], typed="a\n" * 9)
    state.begin()
    assert state.trouble == "9 prompts are typed; type at most 8."
    for said, typed, key in (("which reviews lacks", "the zebra", ""), ("no model 'kept:x'", "", "kept:x")):
        state.param.update(typed=typed, base=key)
        state.begin()
        state.running.wait()
        assert said in str(state.running.error) and state.found is None


def test_a_model_that_predicts_no_next_word_is_refused(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(UserError, match="no trained model yet"):
        store.open_policy("session")
    store.train.param.update(entry="RoBERTa", corpus="reviews", steps=2)
    session = store.train.begin()
    session.start()
    assert becomes(lambda: session.state == "done")
    state = store.posttraining
    state.base = "session"
    assert "session" in store.to_post_train().values()
    state.begin()
    state.running.wait()
    assert "predicts no next word" in str(state.running.error)
    store.close()


def test_a_run_that_was_stopped_keeps_what_is_known_and_goes_no_further(state, monkeypatch):
    gate, plain = threading.Event(), module.compare

    def gated(*asked):
        for made in plain(*asked):
            yield made
            gate.wait(30)

    monkeypatch.setattr(module, "compare", gated)
    state.begin()
    assert becomes(lambda: state.found is not None)
    first, thread = state.found, state.running._thread
    state.running.forget()
    gate.set()
    thread.join(30)
    assert not state.running.busy and state.running.result is None
    assert state.found is first and first.progress < 1


def test_a_link_brings_every_choice_back(tmp_path):
    store, other = Store(tmp_path), Store(tmp_path)
    asked = {
        "reward": "positive", "shortcut": True, "chosen": ["GRPO(loss_type=dr_grpo)", "best of n"], "beta": 0.5,
        "typed": "a good movie\nthe film was", "prompts": 3, "seeds": 2, "steps": 40, "base": "",
    }  # fmt: skip
    store.page = Tab.POST_TRAINING
    assert not store.posttraining.query()
    store.posttraining.param.update(**asked)
    address = main._address(store)
    assert dict(parse_qsl(address.removeprefix("?")))["page"] == "post-training"
    main._open(other, address)
    assert other.page == Tab.POST_TRAINING
    assert {name: getattr(other.posttraining, name) for name in asked} == asked
    main._open(other, "?page=train")
    assert not other.posttraining.query()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("chosen=PPO", "nearest is the method of post-training"), ("beta=7", "beta '7'"),
        ("seeds=many", "seeds 'many'"),
        ("steps=9999", "steps '9999'"), ("reward=nope", "reward 'nope'"), ("shortcut=perhaps", "shortcut 'perhaps'"),
    ],
)  # fmt: skip
def test_what_a_link_says_wrongly_is_said_and_left_as_it_was(tmp_path, said, why):
    store = Store(tmp_path)
    main._open(store, f"?page=post-training&post.{said}")
    assert why in store.posttraining.trouble
    assert not store.posttraining.query()
