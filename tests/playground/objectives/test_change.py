"""Words and sentences in another order, rotation, and chains of noises: change/order.py, change/markers.py."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise, permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.batch import Action, begin
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.change import ChangeSentenceOrder, ChangeWordOrder, RotateDocument
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.laws import assert_law, assert_mean, uniform
from tests.stories import shown
from tests.texts import SPECIALS, TWO_SENTENCES, batches, plain_rows, seeds, tokens_for, tokens_of

# orders


def test_shuffled_words_come_in_every_order_equally_often():
    source = ChangeWordOrder().plan(begin(plain_rows(12_000, 4)), generator(14))
    assert_law(Counter(map(tuple, source.tolist())), uniform(permutations(range(4))))
    stay = (source == torch.arange(4)).sum(1)
    assert_mean(stay, 1.0)


def test_shuffled_sentences_come_in_every_order_equally_often():
    tokens = tokens_of([list(range(40, 48))] * 12_000, sentence=[[0, 0, 0, 1, 2, 2, 2, 2]] * 12_000, padded=False)
    batch = find_objective("sentence permutation").batch(tokens, generator(15))
    orders = Counter(tuple(dict.fromkeys(row)) for row in tokens.sentence_ids.gather(1, batch.inputs.origin).tolist())
    assert_law(orders, uniform(permutations(range(3))))


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_p8_sentences_stay_whole(tokens, seed):
    batch = find_objective("sentence permutation").batch(tokens, generator(seed))
    for row in range(len(tokens.ids)):
        origin = shown(batch.inputs, row)[1]
        sentence = tokens.sentence_ids[row].tolist()
        for left, right in pairwise(origin):
            if sentence[left] == sentence[right]:
                assert right == left + 1


@settings(max_examples=40)
@given(tokens=batches(special=False), seed=seeds, window=st.integers(1, 6))
def test_local_shuffling_moves_a_word_by_less_than_its_window(tokens, seed, window):
    tokens = replace(tokens, word_ids=torch.arange(tokens.ids.shape[1]).expand_as(tokens.ids))
    batch = find_objective("sentence shuffling").turn({"shuffle_distance": window}).batch(tokens, generator(seed))
    away = (batch.prediction_order - torch.arange(tokens.ids.shape[1])).abs()
    assert bool(((away < window) | ~tokens.valid).all())


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.3, 2), (0.5, 2), (0.6, 3), (1.0, 4)])
def test_a_share_of_the_sentences_is_shuffled_and_the_others_stay(share, count):
    """So many of four sentences, rounded up, are put into any order of their own places."""
    text, sentence = [40 + k for k in range(8)], [k // 2 for k in range(8)]
    batch = begin(tokens_of([text] * 12_000, sentence=[sentence] * 12_000, padded=False))
    stage = ChangeSentenceOrder(shuffle_ratio=share)
    source = stage.build(batch, stage.plan(batch, generator(38))).inputs.origin[:, ::2] // 2
    law = Counter()
    for positions in combinations(range(4), count):
        for order in permutations(positions):
            found = list(range(4))
            for position, other in zip(positions, order, strict=True):
                found[position] = other
            law[tuple(found)] += 1
    assert_law(Counter(map(tuple, source.tolist())), {k: v / law.total() for k, v in law.items()})


@pytest.mark.parametrize("official_", [False, True])
def test_a_rotated_text_begins_at_every_word_equally_often(official_):
    """fairseq draws one number too many, so that the text stays as it is in 2 of n + 1 cases."""
    plan = RotateDocument(match_released_code=official_).plan(begin(plain_rows(9000, 6)), generator(25))
    law = {k: (2 if k == 0 else 1) / 7 for k in range(6)} if official_ else uniform(range(6))
    assert_law(Counter(plan.tolist()), law)


def test_a_text_is_turned_as_often_as_is_said():
    plan = RotateDocument(rotate_prob=0.5).plan(begin(plain_rows(9000, 6)), generator(39))
    assert_law(Counter(plan.tolist()), {k: 1 / 12 + (k == 0) / 2 for k in range(6)})


def test_rotation_by_hand():
    assert rebuild("rotation", overrides={"start": 4}).facts()["inputs"] == "to join with you today I am happy".split()
    with pytest.raises(UserError, match="The start 9 is not in the text; it has 8 words"):
        rebuild("rotation", overrides={"start": 9})


# chains


@pytest.mark.parametrize("stages", [(ChangeSentenceOrder(), ChangeWordOrder()), (RotateDocument(), ChangeWordOrder())])
def test_a_word_order_after_another_one_is_as_free_as_alone(stages):
    batch = begin(plain_rows(12_000, 4))
    for number, stage in enumerate(stages):
        batch = stage.build(batch, stage.plan(batch, generator(28, number)))
    assert_law(Counter(map(tuple, batch.inputs.origin.tolist())), uniform(permutations(range(4))))


def test_a_local_shuffle_after_a_turn_moves_words_little_from_where_they_are():
    batch = begin(plain_rows(500, 12))
    turned = RotateDocument().build(batch, RotateDocument().plan(batch, generator(29)))
    stage = ChangeWordOrder(shuffle_distance=3)
    after = stage.build(turned, stage.plan(turned, generator(30)))
    assert int((after.prediction_order - turned.prediction_order).abs().max()) == 2
    assert int((after.prediction_order - batch.prediction_order).abs().max()) > 2


def test_the_chain_in_words():
    """Two runs and an empty gap are folded, then the sentences are swapped: every mark goes where its words went."""
    overrides = {"spans": "2:2,9:0,11:1", "sentences": "2,1"}
    found = rebuild("BART mixture", TWO_SENTENCES, overrides=overrides).facts()["inputs"]
    assert found == "We [MASK] here now . I [MASK] to join with you today [MASK] .".split()


def test_a_mark_between_two_sentences_belongs_to_the_later_one():
    found = rebuild("BART mixture", TWO_SENTENCES, overrides={"spans": "10:0", "sentences": "2,1"}).facts()["inputs"]
    assert found == "[MASK] We walk here now . I am happy to join with you today .".split()


def test_words_and_sentences_are_edited_apart_in_one_chain():
    overrides = {"sentences": "2,1", "start": "1", "spans": [], "chosen": [], "deleted": "1,10"}
    objective = find_objective("all noises").turn({"shuffle_distance": 1})
    found = rebuild(objective, TWO_SENTENCES, overrides=overrides).facts()
    assert found["inputs"] == "am happy to join with you today . walk here now .".split()
    assert found["plan"]["sentences"] == [2, 1]
    assert found["plan"]["deleted"] == [1, 10]


def test_masked_words_that_move_stay_hidden():
    """A mark that has moved is no moved word: the leak check and a decoder that hides masks still know it."""
    batch = find_objective("all noises").batch(plain_rows(50, 30), generator(4))
    shown_as_mask = batch.inputs.ids == SPECIALS.mask
    positions = batch.inputs.origin[shown_as_mask & (batch.inputs.origin >= 0)]
    rows = (shown_as_mask & (batch.inputs.origin >= 0)).nonzero()[:, 0]
    assert len(positions) > 50
    assert bool((batch.actions[rows, positions] == Action.MASKED).all())


def test_every_noise_of_the_chain_can_be_switched_off():
    off = {
        "ChooseRatio.mask_ratio": 0.0,
        "ChoosePoissonSpans.mask_ratio": 0.0,
        "delete_ratio": 0.0,
        "shuffle_ratio": 0.0,
        "shuffle_distance": 1,
        "rotate_prob": 0.0,
    }
    tokens = tokens_for(find_objective("all noises"))
    tokens = pick(tokens, torch.zeros(200, dtype=torch.long))
    still = find_objective("all noises").turn(off).batch(tokens, generator(37))
    assert torch.equal(still.inputs.ids, tokens.ids)
    assert not still.actions.any()
    for one, value in (("shuffle_ratio", 1.0), ("shuffle_distance", 0), ("rotate_prob", 1.0)):
        moved = find_objective("all noises").turn(off | {one: value}).batch(tokens, generator(37))
        assert set(moved.actions.unique().tolist()) == {Action.KEPT, Action.MOVED}
    for one, action in (("ChooseRatio.mask_ratio", Action.MASKED), ("delete_ratio", Action.DELETED)):
        changed = find_objective("all noises").turn(off | {one: 0.3}).batch(tokens, generator(37))
        assert set(changed.actions.unique().tolist()) == {Action.KEPT, action}
