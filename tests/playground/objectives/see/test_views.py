"""Views of half a text that learn from the whole: see/views.py, choose/labelled.py and AskCrossView."""

from dataclasses import replace

import pytest
import torch

from playground.errors import UserError
from playground.models import Architecture, make_model, with_required_parts
from playground.objectives import find_objective
from playground.rng import generator
from tests.texts import SPECIALS, plain_rows, story, suited


def cvt(tokens=None, **knobs):
    objective = find_objective("CVT").turn(knobs)
    batch = objective.batch(suited(objective, tokens if tokens is not None else plain_rows(4, 7)), generator(0))
    shape = with_required_parts(Architecture(layers=2, width=8, heads=2, mlp_ratio=1), batch)
    return batch, make_model(shape, SPECIALS.size, generator(1)).double()


def test_views_have_n_n_n_less_one_and_n_less_one_terms():
    def asked(**knobs):
        batch, _ = cvt(plain_rows(1, 7), **knobs)
        return {target.name: int(target.loss_mask.sum()) for part in batch.with_auxiliary for target in part.targets}

    views = {"forwards": 7, "future": 6, "backwards": 7, "past": 6}
    assert asked(supervised_ratio=0.0) == views | {"label": 0}
    by_labels = dict.fromkeys(views, 0) | {"label": 7}
    assert asked(supervised_ratio=1.0) == by_labels, "a labelled text teaches by its labels alone"
    assert asked(supervised_ratio=1.0, views="all texts") == views | {"label": 7}


def test_labelled_is_yes_or_no():
    with pytest.raises(UserError, match=r"The plan labelled is 'perhaps'; it must be yes or no\."):
        story("CVT", overrides={"labelled": "perhaps"})
    assert not story("CVT", overrides={"labelled": "no"}).batch.targets[0].loss_mask.any()
    assert story("CVT", overrides={"labelled": "yes"}).batch.targets[0].loss_mask.any()


def test_a_text_is_judged_by_what_is_asked_of_it():
    """Views of a text without labels show no answer; where a question asks nothing, another one speaks."""
    for said in ("yes", "no"):
        told = story("CVT", overrides={"labelled": said})
        assert (told.verdict.leak, told.verdict.scored) == (False, int(told.batch.maskable.sum()))


def test_an_exact_share_of_the_texts_is_labelled():
    for share, number in ((0.0, 0), (0.3, 2), (0.5, 2), (1.0, 4)):
        batch, _ = cvt(supervised_ratio=share)
        assert int(batch.targets[0].loss_mask.any(1).sum()) == number


def test_the_teacher_learns_nothing_from_the_views():
    """The head of the whole text gets no gradient from students, and students' heads none from the labels."""
    batch, model = cvt()
    by_name = {a.target.name: a for a in model(batch)}
    sum(a.mean() for name, a in by_name.items() if name != "label").backward()
    assert all(p.grad is None for p in model.label_heads["pos"].parameters())
    assert all(p.grad is not None for p in model.label_heads["pos future"].parameters())
    assert bool(model.token_embedding.weight.grad.any()), "the words are shared, so they do learn"


def test_labels_still_teach_the_whole_network_next_to_the_views():
    """The teacher's reading of the text is the one that the labels are learnt from, with its gradient."""
    batch, model = cvt()
    label = next(a for a in model(batch) if a.target.name == "label")
    label.mean().backward()
    assert bool(model.token_embedding.weight.grad.any())


def test_a_view_costs_least_when_it_says_what_it_is_taught():
    batch, model = cvt()
    view = next(a for a in model(batch) if a.target.name == "future")
    entropy = -(view.labels * view.labels.log()).sum(1)
    best = replace(view, scores=view.labels.log())
    torch.testing.assert_close(best.losses(), entropy)
    assert (view.losses() > entropy).all()


def test_a_view_is_taught_by_what_is_said_of_the_same_word():
    """The state before a word is compared with what the teacher says at that word."""
    batch, model = cvt(plain_rows(1, 5), supervised_ratio=0.0)
    hidden = model.network(batch.inputs, model.token_embedding.weight)[0]
    said = model.label_heads["pos"](hidden).softmax(-1)
    by_name = {a.target.name: a for a in model(batch)}
    torch.testing.assert_close(by_name["forwards"].labels, said)
    torch.testing.assert_close(by_name["future"].labels, said[1:])
    torch.testing.assert_close(by_name["past"].labels, said[:-1])


def test_labels_that_are_not_there_are_missed_in_a_sentence():
    with pytest.raises(UserError, match="needs the label 'pos' of every word"):
        find_objective("CVT").batch(plain_rows(2, 9), generator(0))
