"""Prompts, all their answers, and what a model gives each."""

import pytest
import torch

from playground.corpora import open_corpus
from playground.errors import UserError
from playground.models import total_loss
from playground.objectives import find_objective
from playground.posttraining.answer_space import (
    answer_batch,
    check_causal,
    draw_prompts,
    enumerate_answers,
    per_token_logps,
    read_prompts,
    sample_answers,
)
from playground.rng import generator
from tests.posttraining import base, corpus, setting, space


def test_the_chances_of_all_answers_sum_to_one():
    known = setting().reference
    assert known.joint.shape == (2, space().count)
    assert torch.allclose(known.joint.exp().sum(1), torch.ones(2, dtype=torch.float64))


def test_an_answer_has_the_log_probability_that_the_batch_of_its_row_gives_it():
    model, prompts, answers = base().learner.model, torch.tensor([0, 1, 1]), torch.tensor([5, 777, space().count - 1])
    batch = answer_batch(space().tokens(prompts, answers), space().prompt_len)
    logps = per_token_logps(model, batch, space().words)
    assert torch.allclose(logps.sum(1).double(), setting().reference.joint[prompts, answers], atol=1e-4)
    assert torch.allclose(logps.double(), setting().reference.per_token(prompts, space().pair(answers)), atol=1e-4)


def test_only_the_words_of_the_answer_are_in_the_loss_mask():
    batch = answer_batch(space().tokens(torch.tensor([0]), torch.tensor([9])), space().prompt_len)
    [target] = batch.targets
    assert target.loss_mask.sum() == 2
    assert target.labels[target.loss_mask].tolist() == batch.tokens.ids[0, -2:].tolist()
    assert torch.isfinite(total_loss(base().learner.model(batch))[0])


def test_draws_have_the_enumerated_chances():
    prompts = torch.zeros(4000, dtype=torch.long)
    drawn = sample_answers(base().learner.model, space(), prompts, generator(0, "draws"))
    words, chances = space().pair(drawn)[:, 0], setting().reference.first[0].exp()
    share = torch.bincount(words, minlength=len(chances)) / len(words)
    assert ((share - chances).abs() <= 5 * (chances * (1 - chances) / len(words)).sqrt() + 1e-3).all()
    assert torch.equal(drawn, sample_answers(base().learner.model, space(), prompts, generator(0, "draws")))


def test_prompts_begin_held_out_documents_and_differ():
    many = draw_prompts(corpus(), 12, 7, generator(3, "prompts"))
    assert len({many.prompt_text(k) for k in range(12)}) == 12
    assert all(many.prompt_text(k).startswith(("a good", "a bad")) for k in range(12))
    with pytest.raises(UserError, match="100000 prompts are asked for"):
        draw_prompts(corpus(), 100_000, 7, generator(0, "prompts"))


def test_typed_prompts_are_read_or_refused_in_a_sentence():
    typed = read_prompts(corpus(), ["A good film . the plot was"])
    assert typed.prompt_text(0) == "a good film . the plot was"
    with pytest.raises(UserError, match="2, 1 words"):
        read_prompts(corpus(), ["a film", "a"])
    with pytest.raises(UserError, match="'zzyzx'"):
        read_prompts(corpus(), ["a zzyzx"])
    with pytest.raises(UserError, match="empty"):
        read_prompts(corpus(), [" "])
    with pytest.raises(UserError, match=r"choose a corpus with at most 400 words"):
        read_prompts(open_corpus("everyday", tokens=100_000), ["the boy"])


def test_only_a_causal_model_answers():
    check_causal(find_objective("LM"))
    with pytest.raises(UserError, match="MLM predicts no next word"):
        check_causal(find_objective("MLM"))


def test_enumeration_leaves_the_model_as_it_is():
    model = base().learner.model
    before = {name: value.clone() for name, value in model.state_dict().items()}
    enumerate_answers(model, space())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
