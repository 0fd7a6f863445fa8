"""Orders of prediction: where targets come, and who sees whom (choose/order.py, see/order.py)."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.batch import Action, begin
from playground.models import Architecture, make_model, with_required_parts
from playground.objectives import find_objective
from playground.objectives.ask import AskQueryStream
from playground.objectives.change import MaskContentStream
from playground.objectives.choose import ChooseOrder
from playground.objectives.choose.order import LAWS, around
from playground.objectives.see import SeePermutation
from playground.objectives.see.order import CONTEXTS
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.trace.rebuild import SENTENCE, rebuild
from tests.laws import assert_law, assert_mean, assert_share, uniform
from tests.oracles import stages
from tests.stories import texts
from tests.texts import SPECIALS, batches, plain_rows, seeds, tokens_of

ORDER = (3, 5, 6, 8, 2, 1, 4, 7)
"""The order of the survey's Table 2."""


def ordered(order, cut, **settings_):
    return rebuild("PLM", settings=settings_, overrides={"order": list(order), "cut": cut})


# the naive model


def model_for(batch):
    shape = Architecture(layers=2, width=16, heads=2, two_streams=True)
    return make_model(with_required_parts(shape, batch), batch.tokens.specials.size, generator(0)).eval()


def guesses(model, made):
    """The scores of every answer by the word (1-based) that it is asked for."""
    (answer,) = model.forward(made.batch)
    words = answer.target.origin[answer.rows, answer.positions] + 1
    return dict(zip(words.tolist(), answer.scores, strict=True))


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("same", range(3, 7))
def test_words_alone_guess_alike_whatever_position_comes_next(context, same):
    """Two orders that begin alike: only who is told the place may give different answers (XLNet, sec. 2.3)."""
    other = (*ORDER[:same], *reversed(ORDER[same:]))
    alike = {}
    for streams in ("words only", "two streams"):
        one, two = (ordered(order, 3, streams=streams, context=context) for order in (ORDER, other))
        model = model_for(one.batch)
        first, second = guesses(model, one)[ORDER[same]], guesses(model, two)[other[same]]
        alike[streams] = torch.allclose(first, second, atol=1e-5)
    assert alike == {"words only": True, "two streams": False}


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("cut", [1, 3])
def test_the_word_before_in_the_order_answers(context, cut):
    made = ordered(ORDER, cut, streams="words only", context=context)
    target, ids = made.batch.targets[0], made.tokens.ids[0].tolist()
    told = {
        p: (o, t)
        for p, (o, t, g) in enumerate(
            zip(target.origin[0].tolist(), target.labels[0].tolist(), target.loss_mask[0].tolist(), strict=True)
        )
        if g
    }
    before = {ORDER[k - 1] - 1: (ORDER[k] - 1, ids[ORDER[k] - 1]) for k in range(cut, 8)}
    assert told == before
    assert (target.stream, made.verdict.leak) == ("inputs", False)


@pytest.mark.parametrize("context", CONTEXTS)
def test_words_alone_hear_as_much_as_the_two_streams(context):
    """What is missing is the place, not a word."""
    heard = [
        leaks.context_words(ordered(ORDER, 3, streams=s, context=context).batch) for s in ("two streams", "words only")
    ]
    assert heard[0] == heard[1] > 0


def test_no_position_predicts_the_first_word_of_the_order_unless_special_tokens_surround_the_text():
    scored = [
        ordered(ORDER, 0, streams="words only", add_special_tokens=wrap).signal["scored"] for wrap in (False, True)
    ]
    assert scored == [7, 8]
    assert ordered(ORDER, 0).signal["scored"] == 8


@settings(max_examples=40)
@given(
    tokens=batches(), seed=seeds, context=st.sampled_from(CONTEXTS), functional=st.sampled_from(("given", "drawn")),
    wrap=st.booleans(), kept=st.floats(1.0, 8.0),
)  # fmt: skip
def test_words_alone_ask_every_target_that_has_somebody_before_it(tokens, seed, context, functional, wrap, kept):
    knobs = {"context": context, "special_tokens": functional, "add_special_tokens": wrap, "partial_prediction_k": kept}
    objective = find_objective("PLM").turn(knobs)
    two, one = (objective.turn({"streams": s}).batch(tokens, generator(seed)) for s in ("two streams", "words only"))
    for row in range(len(tokens.ids)):
        (asked, _), (also, model) = (places_and_answers(batch, row) for batch in (two, one))
        level = two.inputs.attn_mask.query_level[row]
        first = int(level.masked_fill(~two.inputs.valid[row], 2**14).min())
        alone = {p for p in asked if first == int(level[two.inputs.origin[row] == p])}
        assert set(also) <= set(asked)
        assert set(asked) - set(also) <= alone
        assert all(target == int(tokens.ids[row, position]) for position, target in zip(also, model, strict=True))
        if context != "hf":
            assert not leaks.check(one, row=row).leak


def places_and_answers(batch, row):
    (target,) = batch.targets
    scored = target.loss_mask[row]
    return target.origin[row][scored].tolist(), target.labels[row][scored].tolist()


# special tokens around a text


@pytest.mark.parametrize("context", ["xlnet", "hf"])
@settings(max_examples=30)
@given(seed=seeds, length=st.integers(2, 14))
def test_a_special_token_comes_right_after_its_neighbour(context, seed, length):
    """Released code: special tokens keep their step and see themselves, and words that are given do not see them."""
    objective = find_objective("PLM").turn(
        {"context": context, "add_special_tokens": True, "partial_prediction_k": 3.0}
    )
    batch = objective.batch(plain_rows(1, length), generator(seed))
    rank, chosen = batch.prediction_order[0].tolist(), batch.selected[0].tolist()
    content, query = (seen.dense()[0] for seen in (batch.inputs.attn_mask, batch.inputs.query_attn_mask))
    for special, near in ((0, 0), (length + 1, length - 1)):
        for position in range(length):
            early = not chosen[position] or rank[position] <= rank[near]
            assert bool(content[special, position + 1]) is early
            seen = context == "hf" or (chosen[position] and rank[position] > rank[near])
            assert bool(content[position + 1, special]) is seen
            assert not chosen[position] or bool(query[position + 1, special]) is seen
        assert bool(content[special, special])
    targets = torch.tensor([False, *chosen, False])
    off = ~torch.eye(length + 2, dtype=torch.bool)
    assert torch.equal((content & off)[targets], query[targets])


@pytest.mark.parametrize("context", ["together", "strict"])
def test_under_the_other_rules_a_special_token_around_the_text_is_context(context):
    batch = (
        find_objective("PLM")
        .turn({"context": context, "add_special_tokens": True})
        .batch(plain_rows(3, 9), generator(2))
    )
    assert bool(batch.inputs.query_attn_mask.dense()[:, 1:-1][:, :, [0, -1]][batch.selected].all())
    assert not bool(batch.inputs.attn_mask.dense()[:, 0][:, 1:-1][batch.selected].any())


# special tokens within a text


SIGNED = [50, 51, SPECIALS.sep, 53, 54]
"""Order: the second and fourth word, then the first, then the separator, then the last."""


SEEN = {
    "together": (["11110", "01110", "01110", "01110", "11111"], ["01110", "11110"]),
    "strict": (["11010", "01000", "11110", "01010", "11111"], ["01010", "11110"]),
    "xlnet": (["11010", "01010", "11110", "01010", "11111"], ["01010", "11110"]),
    "hf": (["11110", "01110", "11110", "01110", "11111"], ["01110", "11110"]),
}


def with_a_separator(context, masked=False):
    batch = replace(
        begin(tokens_of([SIGNED], padded=False)),
        prediction_order=torch.tensor([[2, 0, 3, 1, 4]]),
        selected=torch.tensor([[True, False, False, False, True]]),
    )
    batch = MaskContentStream().build(batch) if masked else batch
    return AskQueryStream().build(SeePermutation(context).build(batch))


@pytest.mark.parametrize("context", SEEN)
def test_the_four_rules_differ_in_the_context_only(context):
    def lines(attn_mask):
        return ["".join(str(int(c)) for c in row) for row in attn_mask.dense()[0].tolist()]

    content, query = SEEN[context]
    batch = with_a_separator(context)
    assert lines(batch.inputs.attn_mask) == content
    assert [lines(batch.inputs.query_attn_mask)[k] for k in (0, 4)] == query


def test_a_separator_tells_a_target_its_own_word_under_hfs_rule():
    """The separator sees the first target and everybody sees the separator; [MASK] in its place hides that."""
    assert [leaks.check(with_a_separator(c)).leaking for c in CONTEXTS] == [(), (), (), (0,)]
    assert not leaks.check(with_a_separator("hf", masked=True)).leak
    assert with_a_separator("hf", masked=True).actions.tolist() == [[Action.MASKED, 0, 0, 0, Action.MASKED]]


def test_hfs_rule_would_leak_in_most_texts_with_separators():
    tokens = tokens_of([[50, SPECIALS.sep, 51, 52, SPECIALS.sep, 53, 54, 55, 56, 57, 58, 59, 60, SPECIALS.cls]])
    objective = find_objective("PLM as in transformers")
    shown_ = objective.turn({"content": "words"})
    found = [leaks.check(shown_.batch(tokens, generator(s))).leak for s in range(60)]
    assert sum(found) > 30
    assert not any(leaks.check(objective.batch(tokens, generator(s))).leak for s in range(60))


def test_separators_come_anywhere_among_the_targets_when_drawn():
    """With two targets and one separator each of the three places of the tail is as likely."""
    tokens = tokens_of([[50, 51, SPECIALS.sep, 52, 53]] * 9000, padded=False)
    plan = ChooseOrder(partial_prediction_k=2.0, special_tokens="drawn").plan(begin(tokens), generator(5))
    assert plan.predicted.unique().tolist() == [3]
    assert_law(Counter(plan.rank[:, 2].tolist()), {2: 1 / 3, 3: 1 / 3, 4: 1 / 3})


def test_separators_are_no_targets_under_any_law():
    tokens = tokens_of([[50, 51, SPECIALS.sep, 52, 53, 54, 55, SPECIALS.sep, 56]] * 500)
    for law in LAWS:
        stage = ChooseOrder(partial_prediction_k=2.0, sampler=law, special_tokens="drawn")
        chosen = stage.build(begin(tokens), stage.plan(begin(tokens), generator(18))).selected
        assert not bool(chosen[:, [2, 7]].any())
        assert law == "hf" or chosen.sum(1).unique().tolist() == [3]


# where targets come


def test_plm_orders_and_targets_are_uniform():
    batch = begin(plain_rows(12_000, 4))
    stage = ChooseOrder(partial_prediction_k=2.0, ngram_weights="single")
    plan = stage.plan(batch, generator(16))
    assert_law(Counter(map(tuple, plan.rank.tolist())), uniform(permutations(range(4))))
    chosen = stage.build(batch, plan).selected
    pairs = Counter(map(tuple, chosen.nonzero()[:, 1].view(-1, 2).tolist()))
    assert_law(pairs, uniform((a, b) for a in range(4) for b in range(a + 1, 4)))


@pytest.mark.parametrize("grams", ["single", "harmonic", "uniform"])
@pytest.mark.parametrize("functional", ["given", "drawn"])
@settings(max_examples=25)
@given(tokens=batches(), seed=seeds, kept=st.floats(1.0, 12.0), sampler=st.sampled_from(("ours", "xlnet")))
def test_p3_the_number_of_targets_is_exact(grams, functional, tokens, seed, kept, sampler):
    """HF's law is another: `test_many_short_texts_have_no_target_under_the_law_of_the_collator`."""
    stage = ChooseOrder(kept, ngram_weights=grams, special_tokens=functional, sampler=sampler)
    batch = begin(tokens)
    plan = stage.plan(batch, generator(seed))
    chosen = stage.build(batch, plan).selected
    for row, text in enumerate(texts(tokens)):
        allowed = stages.maskable(text)
        assert sorted(plan.rank[row, : len(text)].tolist()) == list(range(len(text)))
        assert int(chosen[row].sum()) == min(sum(allowed), max(1, int(sum(allowed) / kept)))
        given = [plan.rank[row, p] for p in range(len(text)) if not allowed[p]]
        late = [plan.rank[row, p] for p in range(len(text)) if chosen[row, p]]
        assert functional == "drawn" or not given or not late or max(given) < min(late)


@pytest.mark.parametrize("grams", ["single", "harmonic", "uniform"])
@pytest.mark.parametrize("length", [8, 20, 64])
def test_every_position_is_a_target_equally_often(grams, length):
    """Also the first and the last word, which windows from the begin of the text hardly ever reach."""
    rows = 20_000
    stage, batch = ChooseOrder(ngram_weights=grams), begin(plain_rows(rows, length))
    chosen = stage.build(batch, stage.plan(batch, generator(11))).selected
    share = max(1, length // 6) / length
    for position in range(length):
        assert_share(int(chosen[:, position].sum()), rows, share)


def test_ragged_texts_have_equal_positions_too():
    rows = [[FIRST_WORD + k for k in range(size)] for size in (7, 12)] * 10_000
    stage, batch = ChooseOrder(), begin(tokens_of(rows))
    chosen = stage.build(batch, stage.plan(batch, generator(12))).selected
    for size in (7, 12):
        for position in range(size):
            assert_share(int(chosen[size == 12 :: 2, position].sum()), 10_000, max(1, size // 6) / size)


@settings(max_examples=40)
@given(length=st.integers(1, 40), spare=st.integers(0, 3), seed=seeds, kept=st.floats(1.0, 6.0))
def test_a_run_over_the_end_continues_at_the_beginning(length, spare, seed, kept):
    runs = ChooseOrder(partial_prediction_k=kept).spans(torch.tensor([length]), length + spare, generator(seed))
    spans = zip(runs.start[0].tolist(), runs.length[0].tolist(), strict=True)
    overrides = {(start + k) % length for start, number in spans for k in range(number)}
    assert around(runs, torch.tensor([length]), length + spare)[0].nonzero().flatten().tolist() == sorted(overrides)


@settings(max_examples=40)
@given(length=st.integers(0, 90), seed=seeds, kept=st.floats(1.0, 12.0), grams=st.sampled_from(("harmonic", "uniform")))
def test_each_run_lies_in_its_own_window(length, seed, kept, grams):
    """The windows lie side by side on a circle: behind the last word comes the first."""
    runs = ChooseOrder(partial_prediction_k=kept, ngram_weights=grams).spans(
        torch.tensor([length]), 90, generator(seed)
    )
    spans = [(s, n) for s, n in zip(runs.start[0].tolist(), runs.length[0].tolist(), strict=True) if n >= 0]
    taken = [(start + k) % length for start, count in spans for k in range(count)]
    assert len(taken) == len(set(taken))
    turn = [(start - spans[0][0]) % length for start, _ in spans]
    assert turn == sorted(turn)
    assert len(taken) <= length / kept + 1e-9


def test_85_of_512_are_predicted():
    assert find_objective("PLM").batch(plain_rows(3, 512), generator(0)).selected.sum(1).tolist() == [85] * 3


LENGTHS = {n: 60 / 137 / n for n in range(1, 6)}


@pytest.mark.parametrize("sampler", LAWS)
@pytest.mark.parametrize(("grams", "law"), [("harmonic", LENGTHS), ("uniform", dict.fromkeys(range(1, 6), 0.2))])
def test_runs_of_targets_have_the_published_lengths(grams, law, sampler):
    """60/137 times 1, 1/2, ... 1/5, mean 2.19 (XLNet's released code); or all five equally often."""
    stage = ChooseOrder(ngram_weights=grams, sampler=sampler)
    drawn = stage.spans(torch.full((6000,), 240), 240, generator(1)).length[:, :4]
    assert_law(Counter(drawn.flatten().tolist()), law)
    assert_mean(drawn.flatten(), sum(n * p for n, p in law.items()))
    assert round(sum(n * p for n, p in LENGTHS.items()), 2) == 2.19


def without_a_target(length):
    """The chance that all of Hugging Face's windows begin their run behind the end, by counting all draws."""

    def late(begin_):
        if begin_ >= length:
            return 1.0
        chances = []
        for number in range(1, 6):
            starts = [begin_ + k for k in range(6 * number - number + 1)]
            behind = sum(start >= length for start in starts) / len(starts)
            chances.append(behind * late(begin_ + 6 * number))
        return sum(chances) / 5

    return late(0)


@pytest.mark.parametrize(("length", "measured"), [(6, 0.51), (8, 0.43), (10, 0.31), (14, 0.19)])
def test_many_short_texts_have_no_target_under_the_law_of_the_collator(length, measured):
    """The share that a run of the collator gave, and the exact one."""
    rows = 20_000
    chosen = find_objective("PLM as in transformers").batch(plain_rows(rows, length), generator(13)).selected
    empty = int((chosen.sum(1) == 0).sum())
    assert_share(empty, rows, without_a_target(length))
    assert abs(empty / rows - measured) < 0.02


@pytest.mark.parametrize(("length", "share", "rounding"), [(512, 0.1665, 0.002), (8, 0.156, 0.001), (6, 0.151, 0.005)])
def test_the_collator_predicts_a_sixth_of_a_long_text_and_less_of_a_short_one(length, share, rounding):
    """Shares that runs of the collator gave; a run that reaches the end is cut there."""
    rows = 2000 if length > 100 else 20_000
    chosen = find_objective("PLM as in transformers").batch(plain_rows(rows, length), generator(14)).selected
    assert_mean(chosen.double().mean(1), share, rounding)
    assert chosen[:, -1].any()


def test_the_released_code_leaves_one_in_seven_before_it_fills_up():
    """Raw rate 1/7.05 (windows of 7 times a run), the last word never, and exactly 85 of 512 after the fill."""
    stage = ChooseOrder(sampler="xlnet")
    runs = stage.spans(torch.full((2000,), 512), 512, generator(15))
    raw = around(runs, torch.full((2000,), 512), 512)
    assert float(raw.float().mean()) == pytest.approx(1 / 7.05, abs=0.001)
    assert not raw[:, -1].any()
    assert_mean(runs.length[:, :8].flatten(), 300 / 137)
    batch = begin(plain_rows(20, 512))
    assert stage.build(batch, stage.plan(batch, generator(16))).selected.sum(1).unique().tolist() == [85]


@pytest.mark.parametrize("seed", range(8))
def test_the_plan_of_a_text_without_a_target_is_read_back(seed):
    made = rebuild("PLM as in transformers", seed=seed)
    again = rebuild("PLM as in transformers", seed=99, overrides=made.facts()["plan"])
    assert torch.equal(made.batch.selected, again.batch.selected)
    assert (made.facts()["plan"]["cut"] == len(SENTENCE.split())) is not bool(made.batch.selected.any())


@pytest.mark.parametrize("context", ["together", "strict"])
def test_a_query_sees_exactly_those_who_do_not_see_it(context):
    inputs = find_objective("PLM").turn({"context": context}).batch(plain_rows(50, 20), generator(6)).inputs
    assert torch.equal(inputs.query_attn_mask.dense(), ~inputs.attn_mask.dense().transpose(1, 2))
