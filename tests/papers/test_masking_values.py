"""Values of masking from the papers and from runs of their released code (inventory, appendix D; reference, 22b)."""

from collections import Counter

import pytest
import torch

from playground.batch import begin
from playground.objectives import find_objective
from playground.objectives.choose import ChooseGeometricSpans, ChooseNgrams, ChooseTokens
from playground.objectives.ops import sampling
from playground.rng import generator
from tests.laws import assert_law, assert_mean, assert_share
from tests.texts import plain_rows, visited


def views(copies, number, rows=400):
    """The masks `[views, b, t]` of so many visits to texts of 40 words, 6 of which are hidden."""
    stage = ChooseTokens(num_special_tokens=0, dupe_factor=copies)
    seen = []
    for visit in range(number):
        batch = begin(visited(plain_rows(rows, 40), visit))
        seen.append(stage.build(batch, stage.plan(batch, generator(visit))).selected)
    return torch.stack(seen)


@pytest.mark.parametrize(("number", "share"), [(1, 0.150), (4, 0.478), (10, 0.803), (40, 0.9985)])
def test_share_of_words_hidden_at_least_once_with_fresh_masks(number, share):
    """Inventory, appendix D: 1 - 0.85 to the power of the views."""
    assert share == pytest.approx(1 - 0.85**number, abs=6e-4)
    once = views(0, number).any(0)
    assert_share(int(once.sum()), once.numel(), 1 - 0.85**number)


@pytest.mark.parametrize("copies", [1, 2, 10])
def test_so_many_copies_give_exactly_so_many_masks(copies):
    """BERT's single mask hides 15 % of the words for ever; ten copies are seen four times each in 40 epochs."""
    seen = views(copies, 40, rows=30)
    for row in range(30):
        assert len({tuple(mask.tolist()) for mask in seen[:, row]}) == copies
    assert torch.equal(seen[:copies], seen[copies : 2 * copies])
    if copies == 1:
        assert float(seen.any(0).double().mean()) == 0.15
        assert len({tuple(mask.tolist()) for mask in seen[0]}) == 30, "each text has its own mask"


def test_the_cap_of_bert_hides_3_9_percent_of_512_tokens():
    batch = begin(plain_rows(3, 510))
    capped, free = (ChooseTokens(max_predictions=cap).count(batch.maskable).tolist() for cap in (20, 0))
    assert (capped, free) == ([20] * 3, [77] * 3)
    made = (
        find_objective("MLM")
        .turn({"max_predictions": 20, "add_special_tokens": True})
        .batch(plain_rows(3, 510), generator(8))
    )
    assert made.inputs.valid.sum(1).tolist() == [512] * 3
    assert made.targets[0].loss_mask.double().mean(1).tolist() == pytest.approx([0.039] * 3, abs=5e-4)


def merged(chosen):
    """The lengths of all runs of chosen places in a batch of equal texts."""
    edges = torch.nn.functional.pad(chosen.long(), (1, 1)).diff(dim=1)
    return (edges == -1).nonzero()[:, 1] - (edges == 1).nonzero()[:, 1]


def test_albert_hides_runs_of_1_71_words_on_average_in_124():
    """Runs that touch count as one (reference, section 22b, measured on the released code)."""
    chosen = ChooseNgrams().plan(begin(plain_rows(3000, 124)), generator(5)).positions
    assert chosen.sum(1).unique().tolist() == [19]
    assert_mean(merged(chosen), 1.71, rounding=0.02)


SPANBERT = {n: 0.2 * 0.8 ** (n - 1) / (1 - 0.8**10) for n in range(1, 11)}


def test_spanbert_lengths_follow_the_truncated_geometric_law():
    """Scaled back to 1, not clipped: the mean is 3.797, not 4.463 (reference, section 5)."""
    printed = (0.2241, 0.1792, 0.1434, 0.1147, 0.0918, 0.0734, 0.0587, 0.0470, 0.0376, 0.0301)
    assert list(SPANBERT.values()) == pytest.approx(printed, abs=6e-5)
    length = ChooseGeometricSpans().lengths(sampling.noise((200, 200), generator(6)))
    assert_law(Counter(length.flatten().tolist()), SPANBERT)
    assert_mean(length.flatten(), 3.797, rounding=0.0005)


def test_spanbert_hides_merged_runs_of_3_52_words_and_seldom_the_first():
    """At 120 words (reference, section 5, measured): .048 at the first place; the middle has its share of 15 %."""
    batch = begin(plain_rows(4000, 120))
    stage = ChooseGeometricSpans()
    chosen = stage.build(batch, stage.plan(batch, generator(7))).selected
    assert chosen.sum(1).unique().tolist() == [18]
    assert_mean(merged(chosen), 3.52, rounding=0.05)
    assert_share(int(chosen[:, 0].sum()), 4000, 0.048)
    assert_mean(chosen[:, 50:70].double().mean(1), 0.15, rounding=0.005)
