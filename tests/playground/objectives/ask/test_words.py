"""Who answers for a hidden word: objectives/ask/words.py."""

import pytest
import torch

from playground import leaks
from playground.objectives import find_objective
from playground.rng import generator
from tests.texts import SPECIALS, tokens_of

TEXT = [40, 41, 42, 43, 44, 45]


def mntp(knobs, chosen, action="mask"):
    plan = {"chosen": chosen, "actions": [action] * len(chosen)}
    return find_objective("MNTP").turn(knobs).steps(tokens_of([TEXT]), generator(0), plan)


def test_mntp_answers_for_a_hidden_word_at_the_position_before_it():
    """As logits and labels are shifted in a causal LM (arXiv:2410.24159, sec. 2): label k + 1 at position k."""
    batch = mntp({}, [1, 4])[-1].batch
    [target] = batch.targets
    mask = SPECIALS.mask
    assert batch.inputs.ids.tolist() == [[SPECIALS.cls, mask, 41, 42, mask, 44, 45, SPECIALS.sep]]
    assert target.loss_mask.nonzero()[:, 1].tolist() == [0, 3], "[CLS] answers for the first word"
    assert target.labels[target.loss_mask].tolist() == [40, 43]
    assert target.origin[target.loss_mask].tolist() == [0, 3]
    assert bool(batch.inputs.attn_mask.dense().all()), "the reader is shifted, not the mask"
    assert not leaks.check(batch).leak


def test_without_a_special_token_in_front_the_first_word_is_no_target():
    [target] = mntp({"add_special_tokens": False}, [1, 4])[-1].batch.targets
    assert target.loss_mask.nonzero()[:, 1].tolist() == [2]


@pytest.mark.parametrize(("action", "by_design"), [("mask", ()), ("random", ()), ("keep", (0, 3))])
def test_a_hidden_word_of_mntp_is_clean_and_a_kept_one_is_shown_on_purpose(action, by_design):
    verdict = leaks.check(mntp({}, [1, 4], action)[-1].batch)
    assert (verdict.leaking, verdict.by_design) == ((), by_design)


def test_mlm_and_mntp_hide_and_ask_the_same_words():
    plan = {"chosen": [2, 5], "actions": ["mask", "keep"]}
    batches = [
        find_objective(name).turn({"add_special_tokens": True}).steps(tokens_of([TEXT]), generator(0), plan)
        for name in ("MLM", "MNTP")
    ]
    own, before = (steps[-1].batch for steps in batches)
    assert torch.equal(own.inputs.ids, before.inputs.ids)
    (there,), (ahead,) = own.targets, before.targets
    assert torch.equal(there.loss_mask[:, 1:], ahead.loss_mask[:, :-1])
    assert torch.equal(there.labels[:, 1:], ahead.labels[:, :-1])
