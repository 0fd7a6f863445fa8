"""`post_train` in a notebook: it runs, shows itself, and refuses in sentences."""

from xml.etree import ElementTree

import pytest

from playground.errors import UserError
from tests.posttraining import base, corpus
from widgets import post_train
from widgets.notebook import posttraining as module
from widgets.notebook.completion import completions


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(module, "small_base", lambda _: base())
    monkeypatch.setattr(module, "open_corpus", lambda _: corpus())


def test_methods_are_compared_and_show_themselves():
    tuned = post_train(methods=["GRPO(loss_type=dr_grpo)", "best of n"], reward="positive words", steps=3, prompts=2)
    assert [each["method"] for each in tuned.facts] == ["GRPO(loss_type=dr_grpo)", "best of n"]
    assert tuned.last("GRPO(loss_type=dr_grpo)").rollout is not None
    shown = tuned._repr_html_()
    pictures = [f"<svg{part.partition('</svg>')[0]}</svg>" for part in shown.split("<svg")[1:]]
    charts = [picture for picture in pictures if 'role="img"' in picture]
    assert len(charts) == 4
    for picture in charts:
        ElementTree.fromstring(picture)
    assert "the reference is" in shown and "class=counted" in shown
    with pytest.raises(UserError, match="There is no method 'DPO'; there are: GRPO"):
        tuned.last("DPO")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"methods": "nope"}, "no method of post-training named 'nope'"),
        ({"reward": "nope"}, "no reward named 'nope'"),
        ({"beta": 0.0}, "beta is 0.0"), ({"steps": 0}, "0 steps"), ({"prompts": []}, "A prompt is empty"),
        ({"prompts": 0}, "ask for at least 1"), ({"methods": []}, "No method is chosen"),
        ({"seeds": "a"}, "seeds is 'a'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_in_a_sentence(given, why):
    with pytest.raises(UserError, match=why):
        post_train(**given)


def test_tab_offers_methods_and_rewards():
    names = {"post_train": post_train}
    assert completions('post_train(methods=["best', names) == ("best", ["best of n"])
    assert completions('post_train(reward="pos', names) == ("pos", ["positive", "positive words"])
