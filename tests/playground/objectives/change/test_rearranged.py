"""Fill in the middle, causal masking and blanks: texts whose parts are moved behind them, change/rearranged.py."""

from collections import Counter
from dataclasses import replace
from itertools import permutations
from math import exp, factorial

import pytest
import torch

from playground import leaks
from playground.batch import begin
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.change import MoveMiddle, SpansToBlanks
from playground.objectives.choose import ChooseCausalSpans, ChooseMiddle, ChoosePoissonSpans
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.laws import assert_law, assert_same, assert_share
from tests.texts import SPECIALS, plain_rows, tokens_of

PRE, SUF, MID = FIRST, SECOND, THIRD = SPECIALS.sentinels[:3]
START, END = SPECIALS.start, SPECIALS.end
TEXT = [40, 41, 42, 43, 44]


def last(name, plan, settings=None, text=TEXT):
    return find_objective(name).turn(settings or {}).steps(tokens_of([text]), generator(0), plan)[-1].batch


def asked(batch):
    target = batch.targets[0]
    return target.labels[0][target.loss_mask[0]].tolist()


@pytest.mark.parametrize(
    ("form", "span", "row"),
    [
        ("PSM", (2, 2), [PRE, 40, SUF, 43, 44, MID, 41, 42, END]),
        ("SPM", (2, 2), [PRE, SUF, 43, 44, MID, 40, 41, 42, END]),
        ("PSM", (1, 5), [PRE, SUF, MID, *TEXT, END]),
        ("PSM", (6, 0), [PRE, *TEXT, SUF, MID, END]),
        ("SPM", (1, 0), [PRE, SUF, *TEXT, MID, END]),
        ("plain", (2, 2), [*TEXT, END]),
    ],
)
def test_a_middle_by_hand_stands_where_its_form_says_and_all_parts_are_scored(form, span, row):
    batch = last("FIM", {"form": form, "spans": [span]})
    assert batch.inputs.ids[0].tolist() == [START, *row[:-1]]
    assert asked(batch) == row
    assert not leaks.check(batch).leak
    assert batch.inputs.attn_mask.dense()[0].tolist() == torch.ones(len(row), len(row)).tril().bool().tolist()


def test_the_middle_is_predicted_from_the_suffix_too():
    rebuilt = rebuild("FIM", "I am happy to join", overrides={"form": "SPM", "spans": [(2, 1)]})
    target = rebuilt.batch.targets[0]
    known = leaks.known_positions(rebuilt.batch, target, 2)
    position = int((target.origin[0] == 1).nonzero())
    assert known[position].tolist() == [True, False, True, True, True]


@pytest.mark.parametrize("add_eos", [True, False])
def test_without_rearranged_rows_the_batch_is_that_of_a_language_model(add_eos):
    tokens = tokens_of([TEXT, TEXT[:2], [41]])
    fim = find_objective("FIM").turn({"fim_rate": 0.0, "add_eos": add_eos}).batch(tokens, generator(0))
    lm = find_objective("LM").turn({"add_eos": add_eos}).batch(tokens, generator(0))
    assert_same(fim.inputs, lm.inputs)
    assert_same(fim.targets, lm.targets)
    assert_same(fim.selected, lm.selected)
    assert_same(fim.actions, lm.actions)


def test_forms_and_cuts_follow_their_laws():
    rows, length = 30_000, 3
    batch = begin(plain_rows(rows, length))
    forms = MoveMiddle(fim_rate=0.9, fim_spm_rate=0.25).plan(batch, generator(0))
    assert_law(Counter(forms.tolist()), {0: 0.1, 1: 0.675, 2: 0.225})
    plan = ChooseMiddle().plan(batch, generator(1))
    cuts = Counter(zip(plan.start[:, 0].tolist(), (plan.start + plan.length)[:, 0].tolist(), strict=True))
    assert_law(
        cuts, {(a, b): (1 + (a < b)) / (length + 1) ** 2 for a in range(length + 1) for b in range(a, length + 1)}
    )


def test_the_sentinels_have_their_names_on_screen_and_the_text_keeps_its_words():
    facts = rebuild("FIM", "I am happy to join", overrides={"form": "PSM", "spans": [(2, 2)]}).facts()
    assert facts["targets"] == ["<PRE>", "I", "<SUF>", "to", "join", "<MID>", "am", "happy", "[END]"]


def test_a_middle_by_hand_is_never_left_in_place_by_chance():
    for seed in range(9):
        steps = find_objective("FIM").steps(tokens_of([TEXT]), generator(seed), {"spans": [(2, 1)]})
        assert PRE in steps[-1].batch.inputs.ids[0].tolist()


@pytest.mark.parametrize(
    ("name", "plan", "reason"),
    [
        ("FIM", {"form": "MPS"}, "The form is 'MPS'; it must be one of plain, PSM, SPM"),
        ("FIM", {"spans": [(1, 1), (3, 1)]}, "The plan has 2 spans; the middle is one span"),
        ("FIM", {"spans": [(5, 2)]}, "The span 5:2 does not fit"),
        ("CM3", {"spans": [(2, 0)]}, "A span of the plan has no word"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(name, plan, reason):
    with pytest.raises(UserError, match=reason):
        last(name, plan)


def test_more_spans_than_sentinels_are_neither_drawn_nor_taken_by_hand():
    few = replace(tokens_of([TEXT] * 50), specials=replace(SPECIALS, sentinels=SPECIALS.sentinels[:2]))
    plan = ChooseCausalSpans().plan(begin(few), generator(0))
    assert plan.length.shape[1] == 2
    with pytest.raises(UserError, match="The plan has 3 spans; at most 2 are possible"):
        find_objective("CM3").steps(few, generator(0), {"spans": [(1, 1), (2, 1), (3, 1)]})
    with pytest.raises(UserError, match="needs 3 sentinels; this one has 2"):
        find_objective("FIM").batch(few, generator(0))


MASKED = [FIRST, 41, SECOND, 44, FIRST, 40, END, SECOND, 42, 43, END]


@pytest.mark.parametrize(
    ("spans", "row"),
    [
        ([(1, 1), (3, 2)], MASKED),
        ([(1, 2), (3, 3)], [FIRST, SECOND, FIRST, 40, 41, END, SECOND, 42, 43, 44, END]),
        ([(5, 1)], [*TEXT[:4], FIRST, FIRST, 44, END]),
        ([], TEXT),
    ],
)
def test_spans_leave_a_sentinel_and_stand_behind_the_text(spans, row):
    batch = last("causal masking", {"spans": spans})
    assert batch.inputs.ids[0].tolist() == [START, *row[:-1]]
    assert asked(batch) == row
    assert not leaks.check(batch).leak


def test_incoder_scores_all_but_the_sentinels():
    batch = last("InCoder", {"spans": [(1, 1), (3, 2)]}, {"score_sentinels": False})
    assert asked(batch) == [token for token in MASKED if token not in SPECIALS.sentinels]
    assert batch.inputs.ids[0].tolist() == [START, *MASKED[:-1]]


@pytest.mark.parametrize("no_span", ["one", "redrawn", "plain"])
def test_the_number_of_spans_follows_poisson(no_span):
    """Texts so long that two cuts are hardly ever the same."""
    rows, length = 4000, 4000
    plan = ChooseCausalSpans(no_span=no_span).plan(begin(plain_rows(rows, length)), generator(0))
    number = (plan.length > 0).sum(1)
    law = {k: exp(-1) / factorial(k) for k in range(8)}
    zero = law.pop(0)
    law[1] += zero if no_span == "one" else 0
    scale = 1 - zero if no_span == "redrawn" else 1
    for k in (1, 2, 3):
        assert_share(int((number == k).sum()), rows, law[k] / scale)
    assert_share(int((number == 0).sum()), rows, zero) if no_span == "plain" else None
    end = (plan.start + plan.length).where(plan.length > 0, 0).cummax(1).values
    assert (plan.start[:, 1:] >= end[:, :-1]).logical_or(plan.length[:, 1:] < 0).all()


def test_one_span_lies_between_two_uniform_cuts():
    rows, length = 30_000, 3
    plan = ChooseCausalSpans(max_spans=1).plan(begin(plain_rows(rows, length)), generator(0))
    start, size = plan.start[:, 0], plan.length[:, 0]
    found = Counter(zip(start.tolist(), size.tolist(), strict=True))
    cells = [(min(a, b), abs(a - b)) for a in range(length + 1) for b in range(length + 1)]
    wanted = Counter((a, n) if n else (0, -1) for a, n in cells)
    assert_law(found, {cell: n / len(cells) for cell, n in wanted.items()})


# GLM


@pytest.mark.parametrize(
    ("blanks", "behind", "first", "labels"),
    [
        ([1, 2], [START, 41, 42, START, 44], [1, 1, 1, 3, 3], [41, 42, END, 44, END]),
        ([2, 1], [START, 44, START, 41, 42], [3, 3, 1, 1, 1], [44, END, 41, 42, END]),
    ],
)
def test_blanks_by_hand_are_filled_in_their_order_at_the_positions_of_their_masks(blanks, behind, first, labels):
    batch = last("GLM", {"spans": [(2, 2), (5, 1)], "blanks": blanks})
    inputs, mask = batch.inputs, SPECIALS.mask
    assert inputs.ids[0].tolist() == [40, mask, 43, mask, *behind]
    assert inputs.position_ids[0].tolist() == [0, 1, 2, 3, *first]
    inner = [1, 2, 3, 1, 2] if blanks == [1, 2] else [1, 2, 1, 2, 3]
    assert inputs.second_position_ids[0].tolist() == [0, 0, 0, 0, *inner]
    assert asked(batch) == labels
    assert batch.targets[0].loss_mask[0].tolist() == [False] * 4 + [True] * 5, "only part B is scored"
    cells = inputs.attn_mask.dense()[0]
    assert cells[:4].tolist() == [[True] * 4 + [False] * 5] * 4, "part A sees itself from both sides and no more"
    assert cells[4:].tolist() == torch.ones(9, 9).tril()[4:].bool().tolist(), "part B sees A and its own left"
    assert not leaks.check(batch).leak


def test_a_blank_of_no_words_is_ended_at_once():
    batch = last("GLM", {"spans": [(3, 0)]})
    assert batch.inputs.ids[0].tolist() == [40, 41, SPECIALS.mask, 42, 43, 44, START]
    assert asked(batch) == [END]
    assert batch.inputs.position_ids[0].tolist() == [0, 1, 2, 3, 4, 5, 2]


def test_an_order_that_is_none_of_the_blanks_is_refused():
    with pytest.raises(UserError, match="The order 1,3 is not an order of 2 blanks; name each of 1 to 2 once"):
        last("GLM", {"spans": [(1, 1), (4, 1)], "blanks": [1, 3]})


def test_blanks_are_filled_in_every_order_equally_often_or_from_left_to_right():
    tokens = plain_rows(24_000, 30)
    chosen = ChoosePoissonSpans(mask_ratio=0.1, mean_length=0.5, placement="apart")
    batch = begin(tokens)
    batch = chosen.build(batch, chosen.plan(batch, generator(0)))
    three = batch.spans.is_span.sum(1) == 3
    plan = SpansToBlanks().plan(batch, generator(1))[three, :3]
    assert_law(Counter(map(tuple, plan.tolist())), dict.fromkeys(permutations(range(3)), 1 / 6))
    assert (
        SpansToBlanks(shuffle=False).plan(batch, generator(1)).tolist()
        == [list(range(batch.spans.is_span.shape[1]))] * 24_000
    )


def test_a_word_of_a_blank_knows_the_text_the_blanks_before_and_its_own_beginning():
    batch = last("GLM", {"spans": [(2, 2), (5, 1)], "blanks": [2, 1]})
    known = leaks.known_positions(batch, batch.targets[0], 3)
    assert known[7].tolist() == [True, True, False, True, True], "the second word of the first span"
    assert known[4].tolist() == [True, False, False, True, False], "the word of the last span, filled first"
