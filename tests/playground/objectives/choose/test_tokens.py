"""Which tokens are chosen and what becomes of them: choose/tokens.py, choose/share.py, change/tokens.py."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from math import comb

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.batch import Action, begin
from playground.corpora.corpus import pick
from playground.objectives import find_objective
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.ops import sampling
from playground.objectives.steps import describe_plan
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.trace.rebuild import rebuild
from tests.laws import assert_law, assert_share, uniform
from tests.oracles import stages
from tests.oracles import stages as oracles
from tests.stories import texts
from tests.texts import SPECIALS, WORDS, batches, built, plain_rows, seeds, story, suited, tokens_of, visited

# choosing


@settings(max_examples=40)
@given(
    tokens=batches(),
    seed=seeds,
    rate=st.sampled_from((0.0, 0.05, 0.15, 0.25, 0.3, 0.5, 1.0)),
    specials=st.integers(0, 2),
    copies=st.sampled_from((0, 3)),
)
def test_p3_the_number_of_chosen_tokens_is_exact(tokens, seed, rate, specials, copies):
    """Also of masks that are fixed, each text having a few."""
    stage = ChooseTokens(mask_ratio=rate, num_special_tokens=specials, dupe_factor=copies)
    batch = begin(tokens)
    chosen = stage.build(batch, stage.plan(batch, generator(seed))).selected
    overrides = [stages.count_half_even(text, rate, specials) for text in texts(tokens)]
    assert chosen.sum(1).tolist() == overrides


@settings(max_examples=30)
@given(tokens=batches(), seed=seeds, rate=st.sampled_from((0.0, 0.1, 0.3, 0.5, 1.0)))
def test_p3_masking_and_deletion_take_an_exact_share_rounded_up(tokens, seed, rate):
    masked = find_objective("token masking").turn({"mask_ratio": rate}).batch(tokens, generator(seed))
    deleted = find_objective("token deletion").turn({"mask_ratio": rate}).batch(tokens, generator(seed))
    words = [sum(oracles.maskable(text)) for text in texts(tokens)]
    overrides = [-int(-(rate * n - 1e-9) // 1) for n in words]
    assert (masked.actions == Action.MASKED).sum(1).tolist() == overrides
    assert (tokens.lengths - deleted.inputs.valid.sum(1)).tolist() == overrides
    assert masked.inputs.valid.sum(1).tolist() == tokens.lengths.tolist()


def test_exact_selection_has_no_variance_and_no_favourite_position():
    chosen = built(ChooseTokens(mask_ratio=0.15), plain_rows(6000, 28), 3).selected
    assert chosen.sum(1).unique().tolist() == [4]  # 30 tokens with [CLS] and [SEP]; 4.5 is rounded to even
    counts = Counter(chosen.nonzero()[:, 1].tolist())
    assert_law(counts, uniform(range(28)))


def test_exact_selection_takes_every_set_of_words_alone_equally_often():
    chosen = built(ChooseTokens(mask_ratio=0.4, num_special_tokens=0), plain_rows(12_000, 5), 28).selected
    sets = Counter(tuple(row.nonzero().flatten().tolist()) for row in chosen)
    assert_law(sets, uniform(combinations(range(5), 2)))


def test_independent_selection_is_binomial_and_can_miss_all():
    chosen = built(ChooseTokens(selection="iid"), plain_rows(20_000, 8), 5).selected
    assert_share(int(chosen.sum()), chosen.numel(), 0.15)
    assert_share(int((chosen.sum(1) == 0).sum()), len(chosen), 0.85**8)
    law = {k: comb(8, k) * 0.15**k * 0.85 ** (8 - k) for k in range(9)}
    assert_law(Counter(chosen.sum(1).tolist()), law)


def test_roberta_rounds_up_or_down_by_chance():
    """0.15 of 8 words and 2 special tokens is 1.5: one or two targets, half of the time each (reference, section 0)."""
    stage = ChooseTokens(selection="stochastic")
    batch = begin(plain_rows(8000, 8))
    count = stage.build(batch, stage.plan(batch, generator(1))).selected.sum(1)
    assert_law(Counter(count.tolist()), {1: 0.5, 2: 0.5})


@pytest.mark.parametrize("name", ["T5 i.i.d.", "T5 drop", "T5 mask in place"])
def test_t5_draws_every_word_alone_and_an_idle_row_asks_nothing(name):
    batch = find_objective(name).batch(plain_rows(9000, 8), generator(42))
    assert_share(int(batch.selected.sum()), batch.selected.numel(), 0.15)
    idle = ~batch.selected.any(1)
    assert_share(int(idle.sum()), len(idle), 0.85**8)
    assert name == "T5 mask in place" or torch.equal(idle, ~batch.targets[0].loss_mask.any(1))


@pytest.mark.parametrize(
    ("name", "ratio", "masked", "random"),
    [("MLM at 20 %", 0.2, 1.0, 0.0), ("MLM at 30 %", 0.3, 0.8, 0.1), ("MLM at 40 %", 0.4, 1.0, 0.0)],
)
def test_later_papers_hide_more_words_with_and_without_random_ones(name, ratio, masked, random):
    """NeoBERT, ModernBERT and Wettig et al.; each word alone but for the last, which draws as fairseq does."""
    batch = find_objective(name).batch(plain_rows(6000, 13), generator(3))
    chosen = int(batch.selected.sum())
    if name == "MLM at 40 %":
        assert set(batch.selected.sum(1).tolist()) == {6}  # 0.4 of 13 words and two special tokens
    else:
        assert_share(chosen, batch.selected.numel(), ratio)
    done = batch.actions[batch.selected]
    for action, share in ((Action.MASKED, masked), (Action.RANDOMISED, random)):
        number = int((done == action).sum())
        assert number == share * chosen if share in (0, 1) else assert_share(number, chosen, share) is None


# special tokens within a text


@pytest.mark.parametrize(
    ("special_tokens", "able"), [("protected", [1, 2, 4]), ("xlm", [1, 2, 3, 4, 5]), ("roberta", range(6))]
)
def test_special_tokens_within_a_text_may_be_hidden_and_are_asked_for(special_tokens, able):
    """RoBERTa's code takes all, XLM's all but the first (reference, section 0); a typed [MASK] is never taken."""
    sep, mask = SPECIALS.sep, SPECIALS.mask
    tokens = tokens_of([[sep, 40, 41, sep, 42, sep, mask, SPECIALS.sentinels[0]]], padded=False)
    batch = (
        find_objective("MLM").turn({"special_tokens": special_tokens, "mask_ratio": 1.0}).batch(tokens, generator(0))
    )
    scored = batch.targets[0].loss_mask
    assert scored[0].nonzero().flatten().tolist() == [*able]
    assert batch.targets[0].labels[scored].tolist() == [int(tokens.ids[0, position]) for position in able]


def test_a_plan_that_hides_a_special_token_is_read_back():
    tokens = tokens_of([[40, SPECIALS.sep, 41, 42]], padded=False)
    objective = find_objective("MLM").turn(
        {"special_tokens": "xlm", "mask_ratio": 0.5, "mask_replace_prob": 1.0, "random_replace_prob": 0.0}
    )
    plans = [describe_plan(objective.steps(tokens, generator(seed))) for seed in range(8)]
    assert any(2 in plan["chosen"] for plan in plans)
    for plan in plans:
        assert describe_plan(objective.steps(tokens, generator(9), plan)) == plan


@pytest.mark.parametrize("special_tokens", ["xlm", "roberta"])
def test_special_tokens_are_as_likely_to_be_hidden_as_words(special_tokens):
    tokens = tokens_of([[40, 41, SPECIALS.sep, 42, 43]] * 12_000, padded=False)
    stage = ChooseTokens(mask_ratio=0.4, num_special_tokens=0, special_tokens=special_tokens)
    batch = begin(tokens)
    chosen = stage.build(batch, stage.plan(batch, generator(3))).selected
    assert chosen.sum(1).unique().tolist() == [2]
    for position in range(5):
        assert_share(int(chosen[:, position].sum()), 12_000, 0.4)


@pytest.mark.parametrize(("name", "number"), [("TLM", 4), ("UniLM both sides", 3), ("UniLM", 3), ("MLM + NSP", 3)])
def test_a_pair_counts_with_the_special_tokens_around_it(name, number):
    """15 % of 20 words and 4 others is 3.6, so 4; of 16 words and 3 others 2.85, so 3 (reference, section 0)."""
    objective = find_objective(name)
    for words in (8, 10, 13):
        batch = objective.batch(suited(objective, plain_rows(1, words)), generator(0))
        assert int((batch.inputs.valid & (batch.inputs.origin < 0)).sum()) == number
        assert int(batch.selected.sum()) == round(0.15 * (2 * words + number))


# fixed masks


def test_what_becomes_of_a_fixed_choice_is_fixed_too():
    objective = find_objective("static MLM").turn(
        {"dupe_factor": 2, "mask_replace_prob": 0.4, "random_replace_prob": 0.4, "mask_ratio": 0.5}
    )
    seen = [objective.batch(visited(plain_rows(50, 30), k), generator(k)).inputs.ids for k in range(4)]
    assert torch.equal(seen[0], seen[2])
    assert torch.equal(seen[1], seen[3])
    assert not torch.equal(seen[0], seen[1])


def test_a_fixed_mask_does_not_depend_on_the_batch_or_its_padding():
    alone = begin(replace(plain_rows(1, 12), example_ids=torch.tensor([7]), epoch=torch.tensor([3])))
    ids = [[*range(40, 52)], [*range(40, 60)]]
    among = begin(replace(tokens_of(ids, extra=3), example_ids=torch.tensor([7, 2]), epoch=torch.tensor([3, 0])))
    stage = ChooseTokens(dupe_factor=5, selection="stochastic")
    one, two = (stage.plan(batch, generator(k)).positions for k, batch in enumerate((alone, among)))
    assert torch.equal(one[0], two[0, :12])


def test_a_typed_text_has_one_fixed_mask_whatever_the_seed():
    assert len({str(rebuild("static MLM", seed=seed).facts()["plan"]) for seed in range(5)}) == 1
    assert len({str(rebuild("MLM", seed=seed).facts()["plan"]) for seed in range(5)}) > 1


# changing


def test_mlm_masks_80_replaces_10_and_leaves_10_percent():
    batch = find_objective("MLM").turn({"mask_ratio": 0.5}).batch(plain_rows(2000, 30), generator(1))
    chosen = batch.selected
    ids, text = batch.inputs.ids[chosen], batch.tokens.ids[chosen]
    number = len(ids)
    assert number >= 20_000
    assert_share(int((ids == SPECIALS.mask).sum()), number, 0.8)
    assert_share(int((ids == text).sum()), number, 0.1 + 0.1 / WORDS)
    assert_share(int(((ids != text) & (ids != SPECIALS.mask)).sum()), number, 0.1 * (1 - 1 / WORDS))
    for action, share in ((Action.MASKED, 0.8), (Action.RANDOMISED, 0.1), (Action.SCORED_AS_IS, 0.1)):
        assert_share(int((batch.actions[chosen] == action).sum()), number, share)


def test_random_words_are_uniform_over_the_words():
    stage = ChangeTokens(mask_replace_prob=0.0, random_replace_prob=1.0)
    tokens = plain_rows(1000, 30)
    words = stage.plan(replace(begin(tokens), selected=tokens.valid), generator(2)).words
    assert len(words) == 30_000
    assert_law(Counter(words.tolist()), uniform(range(FIRST_WORD, SPECIALS.size)))


def test_the_word_of_a_token_does_not_depend_on_what_is_done_to_it():
    tokens = plain_rows(1000, 60)
    plan = ChangeTokens(mask_replace_prob=0.4, random_replace_prob=0.3).plan(
        replace(begin(tokens), selected=tokens.valid), generator(31)
    )
    for action in (Action.MASKED, Action.RANDOMISED, Action.SCORED_AS_IS):
        words = plan.words[plan.action == action]
        assert len(words) >= 15_000
        assert_law(Counter(words.tolist()), uniform(range(FIRST_WORD, SPECIALS.size)))


def pool(name, tokens, seed=0):
    stage = ChangeTokens(mask_replace_prob=0.0, random_replace_prob=1.0, random_words_from=name)
    batch = replace(begin(tokens), selected=tokens.valid)
    return stage.plan(batch, generator(seed)).words.tolist()


def test_random_words_from_the_whole_vocabulary_may_be_specials():
    words = pool("vocabulary", plain_rows(1000, 30))
    assert_law(Counter(words), uniform(range(SPECIALS.size)))


def test_random_words_follow_the_counts_of_the_corpus():
    counts = torch.zeros(SPECIALS.size, dtype=torch.long)
    counts[SPECIALS.sep], counts[50], counts[51], counts[60] = 900, 10, 20, 70
    words = pool("unigram", replace(plain_rows(1000, 30), word_counts=counts))
    assert_law(Counter(words), {50: 0.1, 51: 0.2, 60: 0.7})


def test_random_words_follow_the_batch_where_the_corpus_has_no_counts():
    words = pool("unigram", tokens_of([[40, 40, 40, 41, SPECIALS.sep]] * 4000))
    assert_law(Counter(words), {40: 0.75, 41: 0.25})
    nothing = pool("unigram", tokens_of([[SPECIALS.sep]] * 500))
    assert set(nothing) <= set(range(FIRST_WORD, SPECIALS.size))


def test_a_plan_with_a_special_token_as_random_word_is_read_back():
    settings_ = {
        "random_words_from": "vocabulary",
        "mask_replace_prob": 0.0,
        "random_replace_prob": 1.0,
        "mask_ratio": 0.9,
    }
    first = story("MLM", settings=settings_, seed=3)
    assert set(first.facts()["plan"]["replace"]) & set(first.batch.tokens.vocabulary[:FIRST_WORD])
    again = story("MLM", settings=settings_, seed=4, overrides=describe_plan(first.steps))
    assert again.facts()["inputs"] == first.facts()["inputs"]


@pytest.mark.parametrize(
    ("together", "group", "shared"),
    [("token", [0, 1, 2, 4, 5], []), ("word", [0, 2, 4], [(0, 1), (4, 5)]), ("span", [0, 4], [(0, 1), (1, 2), (4, 5)])],
)
def test_one_draw_decides_for_a_token_a_word_or_a_run(together, group, shared):
    """Words are 0-1, 2, 3, 4-5; the third word is not chosen, so there are two runs."""
    tokens = tokens_of([range(40, 46)] * 6000, [[0, 0, 1, 2, 3, 3]] * 6000, padded=False)
    chosen = torch.tensor([True, True, True, False, True, True]).expand(6000, 6)
    batch = replace(begin(tokens), selected=chosen)
    stage = ChangeTokens(replace_unit=together)
    action = stage.build(batch, stage.plan(batch, generator(2))).actions
    assert all(torch.equal(action[:, a], action[:, b]) for a, b in shared)
    law = {int(Action.MASKED): 0.8, int(Action.RANDOMISED): 0.1, int(Action.SCORED_AS_IS): 0.1}
    assert_law(Counter(action[:, group].flatten().tolist()), law)
    for a, b in pairwise(group):
        both = {(x, y): p * q for x, p in law.items() for y, q in law.items()}
        assert_law(Counter(zip(action[:, a].tolist(), action[:, b].tolist(), strict=True)), both)


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_nothing_is_drawn_where_all_are_masked(tokens, seed):
    batch = begin(tokens)
    batch = replace(batch, selected=(sampling.noise(tuple(tokens.ids.shape), generator(seed)) < 0.7) & tokens.valid)
    stage, rng = ChangeTokens(mask_replace_prob=1.0, random_replace_prob=0.0), generator(seed)
    before = rng.get_state()
    plan = stage.plan(batch, rng)
    assert torch.equal(rng.get_state(), before)
    built = stage.build(batch, plan)
    assert torch.equal(built.inputs.ids, tokens.ids.masked_fill(batch.selected, SPECIALS.mask))
    assert torch.equal(built.actions, batch.selected * int(Action.MASKED))
    replayed = replace(plan, positions=plan.positions)
    assert torch.equal(stage.build(batch, replayed).inputs.ids, built.inputs.ids)


def test_a_word_by_hand_takes_the_place_of_a_mask_where_all_are_masked():
    first = story("MLM", settings={"mask_replace_prob": 1.0, "random_replace_prob": 0.0}, overrides={"chosen": [2, 4]})
    word = first.batch.tokens.vocabulary[-1]
    wished = {"chosen": [2, 4], "replace": [word, word]}
    shown = story("MLM", settings={"mask_replace_prob": 1.0, "random_replace_prob": 0.0}, overrides=wished)
    assert first.facts()["inputs"].count("[MASK]") == 2
    assert [shown.facts()["inputs"][position] for position in (1, 3)] == [word, word]


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_rows_that_are_picked_from_words_alone_are_words_alone(tokens, seed):
    index = torch.randint(len(tokens.ids), (5,), generator=generator(seed))
    for whole in (tokens, replace(tokens, padded=False), plain_rows(4, 3)):
        picked = pick(whole, index % len(whole.ids))
        alone = not whole.padded and picked.ids.numel() > 0 and bool((picked.ids >= SPECIALS.unknown).all())
        assert picked.words_alone == alone
