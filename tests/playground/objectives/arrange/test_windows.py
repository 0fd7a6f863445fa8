"""The words near a word, and frequent words that are dropped: {arrange/windows,see/window,choose/subsampling}.py."""

import math
from dataclasses import replace

import pytest
import torch

from playground.batch import begin
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.choose import SubsampleFrequent
from playground.objectives.choose.subsampling import keep_probability
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.laws import assert_share
from tests.texts import FIRST, SPECIALS, plain_rows, tokens_of


def test_a_pair_at_distance_d_is_seen_with_the_chance_w_minus_d_plus_1_in_w():
    """1 .8 .6 .4 .2 for a window of five (objectives reference, 22b)."""
    batch = find_objective("CBOW").batch(plain_rows(4000, 21), generator(1))
    seen = batch.inputs.query_attn_mask.dense()[:, 10]
    for distance, share in zip(range(1, 6), (1.0, 0.8, 0.6, 0.4, 0.2), strict=True):
        for position in (10 - distance, 10 + distance):
            number = int(seen[:, position].sum())
            assert number == 4000 if share == 1.0 else not assert_share(number, 4000, share)
    assert not seen[:, [*range(5), 10, *range(16, 21)]].any()


def test_skip_gram_has_the_pairs_that_cbow_sees():
    tokens = tokens_of([list(range(FIRST, FIRST + 12)), [FIRST, FIRST + 1]])
    pairs, bags = (find_objective(n).batch(tokens, generator(2)) for n in ("skip-gram", "CBOW"))
    for row, length in enumerate((12, 2)):
        cells = bags.inputs.query_attn_mask.dense()[row, :length, :length].nonzero().tolist()
        real = pairs.inputs.valid[row]
        assert [
            list(p)
            for p in zip(
                pairs.inputs.origin[row][real].tolist(), pairs.targets[0].origin[row][real].tolist(), strict=True
            )
        ] == cells


def test_the_radius_belongs_to_the_centre():
    """A pair may be there and its mirror not (objectives reference, 18)."""
    seen = find_objective("CBOW").batch(plain_rows(50, 12), generator(3)).inputs.query_attn_mask.dense()
    assert (seen & ~seen.transpose(1, 2)).any()


def test_dropping_words_comes_before_windows_so_that_they_reach_further():
    rebuilt = rebuild("skip-gram", settings={"window_size": 1}, overrides={"chosen": "1,3,8"})
    facts = rebuilt.facts()
    assert facts["inputs"] == ["I", "happy", "happy", "today"]
    assert facts["targets"] == ["happy", "I", "today", "happy"]
    assert facts["actions"] == ["kept", "deleted", "kept", "deleted", "deleted", "deleted", "deleted", "kept"]


def test_a_radius_can_be_given_by_hand():
    rebuilt = rebuild("CBOW", overrides={"radius": "1,1,2,1,1,1,1,5"})
    cells = rebuilt.facts()["attention_mask"]["query"]
    assert [sum(row) for row in cells] == [1, 2, 4, 2, 2, 2, 2, 5]
    assert cells[2] == [1, 1, 0, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "plan", "sentence"),
    [
        ("CBOW", {"radius": "1,2"}, r"The plan radius names 2 for 8 words; give one for each\."),
        ("CBOW", {"radius": "9,1,1,1,1,1,1,1"}, r"The radius 9 does not fit; it must lie between 1 and 5"),
        ("CBOW NS", {"wrong": "happy"}, r"The plan wrong names 1 words; 40 are needed, 5 for each answer\."),
        ("CBOW NS", {"radius": "wide"}, r"The plan radius is 'wide'; it must be one number for each word"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(name, plan, sentence):
    with pytest.raises(UserError, match=sentence):
        rebuild(name, overrides=plan)


def test_windows_end_at_special_tokens():
    batch = find_objective("CBOW").batch(tokens_of([[FIRST, FIRST + 1, SPECIALS.sep, FIRST + 2]]), generator(4))
    seen = batch.inputs.query_attn_mask.dense()[0]
    assert seen.nonzero().tolist() == [[0, 1], [1, 0]]
    assert batch.targets[0].loss_mask[0].tolist() == [True, True, False, False]


def test_frequent_words_stay_with_the_published_chance():
    """keep = sqrt(t / f) + t / f (code) against sqrt(t / f) (paper); the two differ by up to .36 at t = 1e-2."""
    counted = torch.tensor([900.0, 90.0, 10.0], dtype=torch.double)
    code, paper = (keep_probability(counted, 0.01, rule).tolist() for rule in ("code", "paper"))
    assert code == pytest.approx([math.sqrt(1 / 90) + 1 / 90, math.sqrt(1 / 9) + 1 / 9, 1.0])
    assert paper == pytest.approx([math.sqrt(1 / 90), math.sqrt(1 / 9), 1.0])
    assert keep_probability(counted, 0.0).tolist() == [1.0, 1.0, 1.0]
    tokens = replace(
        plain_rows(6000, 4),
        word_counts=torch.zeros(SPECIALS.size).scatter(
            0, torch.arange(FIRST, FIRST + 4), torch.tensor([900.0, 90.0, 9.0, 1.0])
        ),
    )
    kept = SubsampleFrequent(0.01).plan(begin(tokens), generator(5)).positions.sum(0).tolist()
    for number, share in zip(kept, keep_probability(torch.tensor([900.0, 90.0, 9.0, 1.0]), 0.01).tolist(), strict=True):
        assert number == 6000 if share == 1.0 else not assert_share(number, 6000, share)
