"""Values worked out by hand or printed in the papers (inventory, appendix D; objectives reference)."""

from dataclasses import replace
from itertools import permutations
from math import sqrt

import numpy as np
import pytest
import torch

from playground.batch import Action, begin, causal_mask, full_mask, mask_by_level
from playground.corpora.tinyworld import generate
from playground.objectives import find_objective
from playground.objectives.choose import ChooseMassSpan, ChoosePoissonSpans, ChooseSpans, ChooseTokens
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.texts import plain_rows, tokens_of


def rows(cells):
    return ["".join(map(str, row)) for row in cells]


def test_the_order_3_2_4_1():
    """The figure of the two streams: the content stream sees itself too, the query stream does not."""
    seen = rebuild("PLM", "one two three four", overrides={"order": "3,2,4,1", "cut": "0"}).facts()["attention_mask"]
    assert rows(seen["content"]) == ["1111", "0110", "0010", "0111"]
    assert rows(seen["query"]) == ["0111", "0010", "0000", "0110"]


def test_the_matrices_of_the_survey_example_in_both_modes():
    overrides = {"order": "3,5,6,8,2,1,4,7", "cut": "3"}
    together = rebuild("PLM", overrides=overrides).facts()["attention_mask"]
    assert rows(together["content"]) == [
        "11101101",  # I: context, today, am, itself
        "01101101",  # am: context, today, itself
        "00101100",  # happy: the context
        "11111101",  # to: all but you
        "00101100",  # join: the context
        "00101100",  # with: the context
        "11111111",  # you: everybody
        "00101101",  # today: context and itself
    ]
    query = rows(together["query"])
    assert [query[k] for k in (7, 1, 0, 3, 6)] == ["00101100", "00101101", "01101101", "11101101", "11111101"]
    assert [query[k] for k in (2, 4, 5)] == ["00000000"] * 3
    strict = rebuild("PLM", overrides=overrides, settings={"context": "strict"}).facts()["attention_mask"]
    assert [rows(strict["content"])[k] for k in (2, 4, 5)] == ["00100000", "00101000", "00101100"]
    for k in (0, 1, 3, 6, 7):
        assert strict["content"][k] == together["content"][k]
        assert strict["query"][k] == together["query"][k]


def test_one_comparison_of_levels_says_the_four_masks():
    """UniLM: prefix rows see the prefix, the others what is to their left too: 42 cells; causal 36, full 64."""
    real = torch.ones(1, 8, dtype=torch.bool)
    position = torch.arange(8)[None]
    level = position.masked_fill(position < 4, 0)
    prefix = mask_by_level(level, level, real).dense()[0].long().tolist()
    assert rows(prefix) == ["11110000"] * 4 + ["11111000", "11111100", "11111110", "11111111"]
    assert sum(map(sum, prefix)) == 42
    assert int(causal_mask(real, False).dense().sum()) == 36
    assert int(full_mask(real, False).dense().sum()) == 64


def test_seq2seq_lm_has_the_42_cells_and_asks_from_the_last_given_word_on():
    facts = rebuild("seq2seq LM", overrides={"split": 4}).facts()
    assert rows(facts["attention_mask"]["encoder"]) == ["11110000"] * 4 + [
        "11111000",
        "11111100",
        "11111110",
        "11111111",
    ]
    assert facts["scored"] == [0, 0, 0, 1, 1, 1, 1, 0]
    assert [t for t, g in zip(facts["targets"], facts["scored"], strict=True) if g] == "join with you today".split()


def test_the_number_of_orders():
    orders = {tuple(rank) for rank in drawn_orders(4)}
    assert orders == set(permutations(range(4)))
    assert len(orders) == 24


def drawn_orders(length):
    objective = find_objective("PLM")
    return objective.batch(plain_rows(2000, length), generator(0)).prediction_order.tolist()


def test_the_shares_of_all_tokens_under_mlm():
    """15 % and 80/10/10: masks are 12 %, random words 1.5 %, kept words 1.5 % of all tokens."""
    batch = find_objective("MLM").turn({"num_special_tokens": 0}).batch(plain_rows(2000, 100), generator(0))
    number = batch.actions.numel()
    for action, share in ((Action.MASKED, 0.12), (Action.RANDOMISED, 0.015), (Action.SCORED_AS_IS, 0.015)):
        assert abs(int((batch.actions == action).sum()) / number - share) < 5 * sqrt(share * (1 - share) / number)


def test_the_detector_is_scored_at_every_word():
    """RTD: 8 of 8 positions against 15 % for MLM: 6.7 times the signal."""
    facts = rebuild("RTD", overrides={"chosen": "3,5", "replace": "thrilled,study"}).facts()
    assert facts["targets"] == "o o r o r o o o".split()
    assert facts["signal"] == 1.0
    assert round(facts["signal"] / 0.15, 1) == 6.7
    lucky = rebuild("RTD", overrides={"chosen": "3,5", "replace": "happy,study"}).facts()
    assert lucky["targets"] == "o o o o r o o o".split()


@pytest.mark.parametrize(
    ("tokens", "chosen"), [(8, 2), (28, 4), (48, 8), (68, 10), (5, 1), (1, 1), (0, 0), (128, 20), (510, 77)]
)
def test_berts_count_is_rounded_half_to_even_over_specials_too(tokens, chosen):
    """1.5 gives 2, 4.5 gives 4, 7.5 gives 8, 10.5 gives 10 (Python's round in the released code)."""
    found = ChooseTokens().count(torch.ones(1, tokens, dtype=torch.bool))
    assert found.tolist() == [chosen]


@pytest.mark.parametrize(
    ("tokens", "gone", "runs"), [(40, 6, 2), (43, 6, 2), (30, 4, 1), (512, 77, 26), (128, 19, 6), (2, 1, 1)]
)
def test_t5_counts(tokens, gone, runs):
    """Helper of the released code: 15 % rounded, runs of three on the average, at least one of each."""
    found = ChooseSpans(match_released_code=True).counts(torch.tensor([tokens]), sentinels=32)
    assert [int(v) for v in found] == [gone, runs]


def test_t5_raw_lengths_of_the_released_helper():
    """568 raw tokens give 512 inputs and 114 targets, 141 give 128 and 29; each counts a [END]."""
    for raw, inputs, targets in ((568, 512, 114), (141, 128, 29)):
        gone, runs = (int(v) for v in ChooseSpans(match_released_code=True).counts(torch.tensor([raw]), sentinels=100))
        assert (raw - gone + runs + 1, gone + runs + 1) == (inputs, targets)


def test_bart_rounds_up_but_not_by_the_last_bit():
    """0.3 of 200 is 60; single precision made it 61 in the released code."""
    for length, budget in ((200, 60), (8, 3), (10, 3), (1, 1)):
        plan = ChoosePoissonSpans().plan(begin(plain_rows(3, length)), generator(0))
        assert plan.length.clamp(min=0).sum(1).tolist() == [budget] * 3


@pytest.mark.parametrize(("tokens", "length"), [(8, 4), (5, 2), (7, 4), (2, 1), (1, 0), (0, 0)])
def test_mass_hides_half_of_the_text(tokens, length):
    plan = ChooseMassSpan().plan(begin(tokens_of([list(range(40, 40 + tokens))], extra=1)), generator(0))
    assert plan.length.clamp(min=0).tolist() == [[length]]


def test_the_whole_chain_of_a_shuffled_sentence():
    """The badge at a word of the text says where it goes, the order says who comes when."""
    rebuilt = rebuild("sentence shuffling", overrides={"order": "8,7,2,1,5,6,3,4"})
    assert rebuilt.batch.prediction_order.tolist() == [[3, 2, 6, 7, 4, 5, 1, 0]]
    assert rebuilt.facts()["plan"] == {"order": [8, 7, 2, 1, 5, 6, 3, 4]}
    original = rebuilt.record()["frames"][-1]["lanes"][0]["cells"]
    assert [c["badge"] for c in original] == list("43785621")


@pytest.mark.parametrize(("topics", "ceiling"), [(2, 0.75), (4, 0.875)])
def test_the_topic_alone_reaches_its_ceiling_in_nsp_and_half_in_sop(topics, ceiling):
    """Strangers share the topic once in D; the same two swapped always do (survey, sec. 4.1; Qiu, sec. 3.1.5)."""
    pairs = stories(topics).pairs(32)
    right = {name: share_right(find_objective(name).batch(pairs, generator(1))) for name in ("NSP", "SOP")}
    share = torch.bincount(pairs.labels["topic"][:, 0]).double() / len(pairs.ids)
    uneven = 0.5 * abs(float((share**2).sum()) - 1 / topics)
    rows = len(pairs.ids)
    assert rows > 1000
    assert abs(right["NSP"] - ceiling) <= 5 * sqrt(ceiling * (1 - ceiling) / rows) + uneven
    assert abs(right["SOP"] - 0.5) <= 5 * sqrt(0.25 / rows)


def stories(topics):
    """The generated stories of the first topics alone."""
    corpus = generate("stories", 0, 60_000 * 6 // topics)
    topic = torch.full((int(corpus.document_ids[-1]) + 1,), -1)
    topic.scatter_reduce_(0, corpus.document_ids.long(), corpus.labels["topic"].long(), "amax")
    kept = (topic < topics)[corpus.document_ids.long()]
    rows = {name: getattr(corpus, name)[kept] for name in ("ids", "word_ids", "sentence_ids", "document_ids")}
    labels = {"topic": corpus.labels["topic"][kept]}
    return replace(corpus, **rows, labels=labels, held_out_from=int(kept[: corpus.held_out_from].sum()))


def share_right(batch):
    """How many pairs are judged rightly by who says 0 (the two belong together) where both texts have one topic."""
    (target,) = batch.targets
    topic, first = batch.tokens.labels["topic"], batch.inputs.segment_ids == 0
    rows = torch.arange(len(topic))
    sides = [batch.inputs.origin.masked_fill(half, -1).amax(1) for half in (~first, first)]
    same = topic[rows, sides[0]] == topic[rows, sides[1]]
    scored, truth = target.loss_mask[:, 0], target.labels[:, 0]
    return float(((~same).long() == truth)[scored].double().mean())


def test_t5_counts_in_single_precision_as_its_released_code_does():
    """tf.round(tf.cast(n, float32) * 0.15): 28.500001 becomes 29; in double precision 28.5 becomes 28."""
    length = torch.arange(2, 600)
    gone, runs = ChooseSpans().counts(length, 1000)
    overrides = np.clip(np.round(length.numpy().astype(np.float32) * np.float32(0.15)), 1, length.numpy() - 1)
    assert gone.tolist() == overrides.astype(int).tolist()
    spans = np.maximum(1, np.round(overrides.astype(np.float32) / np.float32(3.0)))
    assert (
        runs.tolist() == np.minimum(spans, np.minimum(length.numpy() - overrides + 1, overrides)).astype(int).tolist()
    )
    assert [int(gone[n - 2]) for n in (190, 350, 390)] == [29, 53, 59]
