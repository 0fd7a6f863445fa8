"""Mistakes that were found in published code and peers; each test is named after the one it looks for."""

from dataclasses import replace

import pytest
import torch

from playground import leaks
from playground.answers import Target, Word
from playground.batch import begin, causal_mask, full_mask, mask_by_level
from playground.models import Architecture, LanguageModel, total_loss
from playground.objectives import find_objective, objectives
from playground.objectives.bind import with_generator
from playground.objectives.choose import ChoosePoissonSpans, ChooseTokens
from playground.objectives.see import SeePermutation
from playground.objectives.see.order import both_streams
from playground.rng import generator
from playground.trace.rebuild import SENTENCE, rebuild
from tests.laws import assert_mean
from tests.texts import SPECIALS, plain_rows, story, suited, tokens_of

EIGHT = plain_rows(1, 8)
PLACES = torch.arange(8)[None]
ORDER = torch.tensor([[5, 4, 0, 6, 1, 2, 7, 3]])
"""The rank of each word in the survey's permutation row."""


def test_leak_table_bidirectional_with_shifted_loss_leaks_7_of_7():
    """Labels are the next token of an unshifted text, so eight tokens give seven predictions."""
    assert verdict(shifted(full_mask(EIGHT.valid, False))) == (7, 7)


def test_leak_table_bidirectional_with_a_start_token_leaks_7_of_8():
    """With [START] in front there are eight predictions; only the last word never stands in the input."""
    steps = find_objective("LM").steps(EIGHT, generator(0))
    batch = steps[-1].batch
    open_ = replace(batch, inputs=replace(batch.inputs, attn_mask=full_mask(EIGHT.valid, False)))
    found = leaks.check(open_, layers=4)
    assert found.leaking == tuple(range(7))
    assert found.scored == 8
    assert verdict(batch) == (0, 8)


def test_leak_table_left_to_right_with_shifted_loss_is_clean():
    assert verdict(shifted(causal_mask(EIGHT.valid, False))) == (0, 7)


def test_leak_table_prefix_mask_leaks_3_of_7_when_the_source_is_scored_too():
    level = PLACES.masked_fill(PLACES < 4, 0)
    attn_mask = mask_by_level(level, level, EIGHT.valid)
    assert verdict(shifted(attn_mask)) == (3, 7)
    assert verdict(shifted(attn_mask, first=3)) == (0, 4)


def test_leak_table_masked_words_are_clean_and_kept_ones_leak_by_design():
    masked = rebuild("MLM", overrides={"chosen": "3,8", "actions": "mask,random"}).verdict
    assert (masked.leak, masked.by_design) == (False, ())
    kept = rebuild("MLM", overrides={"chosen": "3,8", "actions": "mask,keep"}).verdict
    assert (kept.leak, kept.by_design) == (False, (7,))


def test_leak_table_cloze_under_a_prefix_mask_is_clean():
    """UniLM: masks in both segments, answers at their own places, no shift."""
    batch = rebuild("MLM", overrides={"chosen": "2,4,6,8"}).batch
    level = PLACES.masked_fill(PLACES < 4, 0)
    seen = replace(batch.inputs, attn_mask=mask_by_level(level, level, batch.inputs.valid))
    assert verdict(replace(batch, inputs=seen)) == (0, 4)


def test_leak_table_two_streams_are_clean():
    assert verdict(permuted()) == (0, 8)


def test_leak_table_one_stream_that_sees_itself_leaks_8_of_8():
    assert verdict(from_content(permuted())) == (8, 8)


def test_leak_table_one_stream_with_itself_hidden_leaks_8_of_8():
    """The residual carries the word past the mask, so hiding the diagonal does not help."""
    batch = permuted()
    hidden = replace(batch, inputs=replace(batch.inputs, attn_mask=batch.inputs.query_attn_mask))
    assert verdict(from_content(hidden)) == (8, 8)


def test_leak_table_a_new_order_in_every_layer_leaks_8_of_8():
    """What a word's neighbours heard of it under one order, its query may read under the next."""
    batch = permuted()
    assert verdict(batch) == (0, 8)
    content, query = both_streams(batch.inputs, -ORDER, -ORDER)
    inputs = replace(
        batch.inputs,
        attn_mask=replace(batch.inputs.attn_mask, odd_layers=content),
        query_attn_mask=replace(batch.inputs.query_attn_mask, odd_layers=query),
    )
    assert verdict(replace(batch, inputs=inputs)) == (8, 8)


def test_leak_table_an_order_that_stays_the_same_in_every_layer_is_clean():
    """Two orders by name only: what is above is what is below, so nothing comes back."""
    batch = permuted()
    content, query = both_streams(batch.inputs, ORDER, ORDER)
    inputs = replace(
        batch.inputs,
        attn_mask=replace(batch.inputs.attn_mask, odd_layers=content),
        query_attn_mask=replace(batch.inputs.query_attn_mask, odd_layers=query),
    )
    assert verdict(replace(batch, inputs=inputs)) == (0, 8)


@pytest.mark.parametrize(("streams", "cells", "words"), [("two streams", 28, 3.5), ("positions only", 0, 0.0)])
def test_leak_table_a_query_stream_alone_learns_nothing(streams, cells, words):
    """If queries read only queries, no word reaches anybody: 0 of 28 contexts, neither leak nor signal."""
    batch = permuted(streams)
    reach, written = leaks.answering(batch, batch.targets[0], layers=4)
    assert (int(reach.sum()), written) == (cells, None)
    assert leaks.context_words(batch, layers=4) == words
    assert verdict(batch) == (0, 8)


def shifted(attn_mask, first=0):
    """The words themselves as input, each asked for its right neighbour, from place `first` on."""
    batch = begin(EIGHT)
    targets = EIGHT.ids.roll(-1, 1)
    scored = (first <= PLACES) & (PLACES < 7)
    target = Target("next word", Word(), "inputs", targets, scored, (PLACES + 1).where(PLACES < 7, -1))
    return replace(batch, inputs=replace(batch.inputs, attn_mask=attn_mask), targets=(target,))


def permuted(streams="two streams"):
    """Every word predicted in an order, in two streams or in the one that is asked for."""
    batch = replace(begin(EIGHT), prediction_order=ORDER, selected=EIGHT.valid)
    batch = SeePermutation(streams=streams).build(batch)
    target = Target("hidden words", Word(), "query", EIGHT.ids, EIGHT.valid, PLACES)
    return replace(batch, targets=(target,))


def from_content(batch):
    return replace(batch, targets=tuple(replace(target, stream="inputs") for target in batch.targets))


def verdict(batch):
    found = leaks.check(batch, layers=4)
    assert found.leak == bool(found.leaking)
    return len(found.leaking), found.scored


# replaced token detection


def test_a_lucky_sample_counts_as_original():
    facts = rebuild("RTD", overrides={"chosen": "3,5", "replace": "happy,join"}).facts()
    assert facts["targets"] == ["o"] * 8
    assert facts["actions"].count("same_by_luck") == 2


def electra():
    shape = Architecture(layers=1, width=16, heads=2, rtd_head=True, generator_ratio=0.5)
    return LanguageModel(shape, SPECIALS.size, generator(0))


def test_no_gradient_comes_back_through_the_sample():
    """The detector's loss leaves the generator's own weights alone, and the proposal carries no gradient."""
    model = electra()
    objective = with_generator(find_objective("RTD").turn({"mask_ratio": 0.5}), model.propose)
    batch = objective.batch(plain_rows(4, 16), generator(7))
    assert not model.propose(batch.generator).requires_grad
    _, terms = total_loss(model(batch))
    terms["replaced?"].backward()
    assert all(p.grad is None for p in model.generator.parameters())
    assert model.token_embedding.weight.grad is not None


def test_generator_and_detector_train_together():
    model = electra()
    batch = find_objective("RTD").turn({"mask_ratio": 0.5}).batch(plain_rows(4, 16), generator(8))
    total, terms = total_loss(model(batch))
    assert total.item() == pytest.approx((terms["hidden words"] + 50.0 * terms["replaced?"]).item())
    total.backward()
    for part in (model.generator, model.network.encoder, model.rtd_head):
        assert all(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in part.parameters() if p.dim() > 1)


@pytest.mark.parametrize(("words", "drawn", "distinct"), [(126, 19, 17.70), (510, 79, 73.25)])
def test_drawing_positions_twice_would_choose_fewer(words, drawn, distinct):
    """ELECTRA draws places with replacement, so some come twice; here every chosen place is chosen once."""
    assert words * (1 - (1 - 1 / words) ** drawn) == pytest.approx(distinct, abs=0.005)
    official = torch.randint(words, (4000, drawn), generator=generator(9))
    found = torch.zeros(4000, words).scatter_(1, official, 1.0).sum(1)
    assert_mean(found, distinct, rounding=0.005)
    plan = ChooseTokens(mask_ratio=drawn / words, num_special_tokens=0).plan(
        begin(plain_rows(200, words)), generator(9)
    )
    assert plan.positions.sum(1).unique().tolist() == [drawn]


# permutation


def test_order_is_not_rank():
    """Word 3 comes first: its rank is 0, while the first word of the text comes sixth."""
    rank = rebuild("PLM", overrides={"order": "3,5,6,8,2,1,4,7", "cut": "3"}).batch.prediction_order[0].tolist()
    assert rank == ORDER[0].tolist()


def test_an_empty_row_of_visibility_gives_nothing_instead_of_the_average():
    """XLNet's finite -1e30 turns a row that sees nobody into uniform attention, its own word included."""
    shape = Architecture(layers=1, width=16, heads=2, two_streams=True)
    model = LanguageModel(shape, SPECIALS.size, generator(0))
    first = rebuild("PLM", "one two three", overrides={"order": "2,1,3", "cut": "0"}).batch
    other = replace(first, inputs=replace(first.inputs, ids=first.inputs.ids + 1))
    scores = [model(e)[0].scores for e in (first, other)]
    assert torch.equal(scores[0][1], scores[1][1]), "the word that comes first in the order depends on no word"
    assert not torch.equal(scores[0][0], scores[1][0])


# spans


def test_a_short_text_does_not_always_lose_its_last_word():
    """T5's released code can only hide the end of a text of eight words; every word should have its turn."""
    objective = find_objective("T5")
    ordinary = objective.batch(plain_rows(200, 8), generator(11)).selected.any(0)
    official = objective.turn({"match_released_code": True}).batch(plain_rows(200, 8), generator(11)).selected.any(0)
    assert ordinary.tolist() == [True] * 8
    assert official.tolist() == [False] * 7 + [True]


def test_a_decoder_never_starts_from_the_mask():
    """MASS: the first input is the visible word before the fragment, not [MASK] and not the answer."""
    facts = rebuild("MASS", overrides={"spans": "3:3"}).facts()
    assert facts["decoder_inputs"][0] == "am"
    first = rebuild("MASS", overrides={"spans": "1:3"}).facts()
    assert first["decoder_inputs"] == ["[START]", "I", "am"]


# rounding, seeds, loss cells


@pytest.mark.parametrize("name", objectives())
def test_two_calls_with_one_seed_agree(name):
    text = f"{SENTENCE} . We walk here , and never there ."
    first, second, *others = (story(name, text, seed=seed).facts() for seed in (7, 7, 8, 9, 10, 11))
    assert first == second
    fixed = ("static MLM", "CVT", "gap sentences", "inference", "InferSent", "discourse relation")
    chance = set(find_objective(name).plan_keys) and name not in fixed
    assert not chance or any(first["plan"] != other["plan"] for other in others)


@pytest.mark.parametrize("name", objectives())
def test_global_seeds_change_nothing(name):
    tokens = suited(find_objective(name), plain_rows(2, 12))
    torch.manual_seed(0)
    first = find_objective(name).batch(tokens, generator(1)).inputs.ids
    torch.manual_seed(1)
    torch.rand(3)
    assert torch.equal(first, find_objective(name).batch(tokens, generator(1)).inputs.ids)


@pytest.mark.parametrize("name", objectives())
def test_loss_cells_are_never_padding_or_separators(name):
    """Hidden words only: padding, [SEP] and [CLS] are asked for nowhere but where all the text is written or read."""
    tokens = tokens_of([[SPECIALS.sep, 40, 41, SPECIALS.sep, 42], [43], list(range(40, 60))], extra=3)
    objective = find_objective(name)
    for seed in range(10):
        batch = objective.batch(suited(objective, tokens), generator(seed))
        for target in batch.targets:
            stream = batch.decoder if target.stream == "decoder" else batch.inputs
            assert not (target.loss_mask & ~stream.valid).any()
            if target.kind.names_words and target.name == "hidden words":
                ends = [SPECIALS.end] if name == "GLM" else []  # behind each span
                markers = torch.tensor([*SPECIALS.sentinels, *ends])
                asked = target.labels[target.loss_mask]
                assert bool(((asked >= SPECIALS.unknown) | torch.isin(asked, markers)).all())


def test_nothing_asked_costs_nothing_instead_of_nan():
    model = LanguageModel(Architecture(layers=1, width=16, heads=2), SPECIALS.size, generator(0))
    batch = find_objective("MLM").turn({"mask_ratio": 0.0}).batch(plain_rows(2, 6), generator(0))
    assert total_loss(model(batch))[0].item() == 0.0
    assert total_loss(())[0].item() == 0.0


def test_the_loss_is_the_mean_over_the_batch_and_not_of_rows():
    """A row with one answer weighs a fifth of a row with five."""
    model = LanguageModel(Architecture(layers=1, width=16, heads=2), SPECIALS.size, generator(0))
    tokens = tokens_of([list(range(40, 70)), [40, 41]])
    batch = find_objective("MLM").batch(tokens, generator(15))
    (answer,) = model(batch)
    losses, counts = answer.losses().detach(), torch.bincount(answer.rows)
    assert counts.tolist() == [5, 1]
    means = torch.stack([losses[answer.rows == row].mean() for row in range(2)])
    assert answer.mean().item() == pytest.approx(((means * counts).sum() / counts.sum()).item(), rel=1e-5)
    assert answer.mean().item() != pytest.approx(means.mean().item(), rel=1e-4)


def test_gaps_of_length_zero_stay_gaps():
    """HF's collator drops them; 5 % of BART's marks stand where nothing is missing."""
    plan = ChoosePoissonSpans().plan(begin(plain_rows(2000, 60)), generator(16))
    assert float((plan.length == 0).sum() / (plan.length >= 0).sum()) == pytest.approx(0.045, abs=0.01)
