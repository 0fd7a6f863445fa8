"""Noises alone and in chains, T5's variants, fragments, gap sentences, translation: oracles, properties, laws."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.batch import Action, begin
from playground.corpora import open_corpus
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import total_loss
from playground.objectives import find_objective, plan_overrides
from playground.objectives.ask import AskDecoder
from playground.objectives.change import ChangeSentenceOrder, ChangeWordOrder, RotateDocument, SpansToSentinels
from playground.objectives.choose import (
    ChooseGapSentences,
    ChooseGeometricSpans,
    ChooseMassSpan,
    ChoosePoissonSpans,
    ChooseRatio,
    ChooseSpans,
    ChosenSpans,
    MergeAdjacent,
)
from playground.objectives.choose.sentences import words_by_sentence
from playground.objectives.objective import tell
from playground.objectives.ops import sampling
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.oracles import noise as oracles_noise
from tests.oracles import stages as oracles
from tests.playground.objectives.test_laws import assert_law, assert_share, uniform
from tests.playground.objectives.test_stages import (
    assert_row_is_story,
    closed,
    parts_by_sentinel,
    restored,
    shown,
    texts,
    tiny,
)
from tests.texts import (
    SPECIALS,
    TWO_SENTENCES,
    batches,
    hiding,
    plain_rows,
    row_of,
    seeds,
    story,
    suited,
    tokens_for,
    tokens_of,
)

__all__ = ["tiny"]
VARIANTS = {
    "token masking": {},
    "token deletion": {"mask_ratio": 0.5},
    "document rotation": {},
    "document rotation official": {"match_released_code": True},
    "BART mixture": {},
    "BART mixture words": {"whole_words": True, "mask_ratio": 0.4},
    "BART mixture fairseq": {
        "placement": "fairseq",
        "mask_ratio": 0.5,
        "mean_length": 2.0,
        "shuffle_ratio": 0.5,
        "add_eos": True,
    },
    "BART mixture gaps": {"mask_ratio": 0.6, "mean_length": 1.0, "target": "gaps", "add_eos": True},
    "all noises": {},
    "all noises some": {
        "shuffle_ratio": 0.4,
        "rotate_prob": 0.5,
        "delete_ratio": 0.3,
        "placement": "fairseq",
        "whole_words": True,
    },
    "all noises heavy": {
        "ChooseRatio.mask_ratio": 0.4,
        "ChoosePoissonSpans.mask_ratio": 0.4,
        "mean_length": 1.0,
        "shuffle_distance": 0,
    },
    "T5 i.i.d.": {"mask_ratio": 0.5},
    "T5 i.i.d. closing": {"selection": "exact", "final_sentinel": True, "add_eos": True},
    "T5 spans closing": {"final_sentinel": True, "noise_density": 0.4},
    "T5 drop": {"mask_ratio": 0.3},
    "T5 mask in place": {"mask_ratio": 0.3},
    "discrete mask": {},
    "span mask end": {"add_eos": True, "span_ratio": 0.7},
    "gap sentences": {},
    "gap sentences shaken": {"stochastic": True},
    "gap sentences lead": {"sentence_selection": "lead", "gap_sentence_ratio": 0.6},
    "gap sentences random": {"sentence_selection": "random", "stochastic": True},
    "sentence permutation": {},
    "sentence shuffling local": {"shuffle_distance": 3},
}
BASE = sorted(
    {
        *("token masking", "token deletion", "document rotation", "BART mixture", "all noises", "T5 i.i.d.", "T5 drop"),
        *("T5 spans", "T5 mask in place", "discrete mask", "span mask", "gap sentences", "sentence permutation"),
        "sentence shuffling",
    },
    key=lambda name: (-len(name), name),
)
every_variant = pytest.mark.parametrize("name", VARIANTS)
WHOLE = ("token", "document", "BART mixture", "all noises", "T5 mask in place", "sentence")
"""Objectives whose decoder writes the whole text begin so."""


@cache
def variant(name):
    base = next(b for b in BASE if name.startswith(b))
    return find_objective(base).turn(VARIANTS[name])


def run(name, tokens, seed):
    return variant(name).steps(tokens, generator(seed, name))


def plan_of_row(step, row, length):
    """The row's own numbers out of a batched plan; what has a value for each place of the text ends with it."""
    if step.plan is None:
        return None
    values = row_of(step.plan, row, step.example.selected.shape[1])
    if not isinstance(values, dict):
        return values[:length] if isinstance(values, list) else values
    by_place = {"positions", "action"}
    return {k: v[:length] if k in by_place else v for k, v in values.items()}


@every_variant
@settings(max_examples=30)
@given(tokens=batches(), seed=seeds)
def test_p15_every_stage_equals_its_oracle(name, tokens, seed):
    rows = zip(texts(tokens), tokens.sentence_ids.tolist(), strict=True)
    stories = [oracles_noise.begin(text, sentence[: len(text)]) for text, sentence in rows]
    for step in run(name, tokens, seed):
        for row, told in enumerate(stories):
            stories[row] = oracles.act(step.stage, plan_of_row(step, row, len(told.text)), told)
            assert_row_is_story(step.example, row, stories[row])


@every_variant
@settings(max_examples=12)
@given(tokens=batches(), seed=seeds)
def test_p1_input_and_targets_together_restore_the_text(name, tokens, seed):
    example = run(name, tokens, seed)[-1].example
    for row, text in enumerate(texts(tokens)):
        assert restored(example, row) == text


@every_variant
@settings(max_examples=12)
@given(tokens=batches(), seed=seeds)
def test_p2_p4_what_is_kept_is_the_text_and_specials_are_never_lost(name, tokens, seed):
    example = run(name, tokens, seed)[-1].example
    for row, text in enumerate(texts(tokens)):
        at = dict(zip(*reversed(shown(example.inputs, row)[:2]), strict=True))
        for place, token in enumerate(text):
            if example.actions[row, place] in (Action.KEPT, Action.MOVED):
                assert at[place] == token
        for place, allowed in enumerate(oracles.maskable(text)):
            assert allowed or example.actions[row, place] in (Action.KEPT, Action.MOVED)


@every_variant
@settings(max_examples=12)
@given(tokens=batches(), seed=seeds)
def test_p8_chains_leave_each_word_that_is_not_hidden_exactly_once(name, tokens, seed):
    example = run(name, tokens, seed)[-1].example
    hidden = (Action.MASKED, Action.DELETED, Action.RANDOMISED, Action.GRADED_AS_IS)
    for row, text in enumerate(texts(tokens)):
        ids, origin, _ = shown(example.inputs, row)
        words = [(place, token) for place, token in zip(origin, ids, strict=True) if place >= 0]
        free = {p for p in range(len(text)) if example.actions[row, p] not in hidden}
        assert Counter(p for p, _ in words if p in free) == Counter(free)
        assert all(count == 1 for count in Counter(p for p, _ in words).values())


@pytest.mark.parametrize("name", BASE)
def test_a_batch_without_columns_is_built(name):
    for rows in ([], [[]], [[], []]):
        example = find_objective(name).example(tokens_of(rows), generator(0))
        signs = int(torch.isin(example.questions[0].targets, torch.tensor([SPECIALS.end])).sum())
        assert int(example.questions[0].loss_mask.sum()) == signs


# counts


@settings(max_examples=30)
@given(tokens=batches(), seed=seeds, rate=st.sampled_from((0.0, 0.1, 0.3, 0.5, 1.0)))
def test_p3_masking_and_deletion_take_an_exact_share_rounded_up(tokens, seed, rate):
    masked = find_objective("token masking").turn({"mask_ratio": rate}).example(tokens, generator(seed))
    deleted = find_objective("token deletion").turn({"mask_ratio": rate}).example(tokens, generator(seed))
    words = [sum(oracles.maskable(text)) for text in texts(tokens)]
    wanted = [-int(-(rate * n - 1e-9) // 1) for n in words]
    assert (masked.actions == Action.MASKED).sum(1).tolist() == wanted
    assert (tokens.lengths - deleted.inputs.valid.sum(1)).tolist() == wanted
    assert masked.inputs.valid.sum(1).tolist() == tokens.lengths.tolist()


@settings(max_examples=30)
@given(tokens=batches(special=False), seed=seeds, rate=st.floats(0.05, 0.9), closing=st.booleans())
def test_p1_t5_iid_inputs_and_targets_decode_to_the_text(tokens, seed, rate, closing):
    objective = find_objective("T5 i.i.d.").turn({"mask_ratio": rate, "final_sentinel": closing})
    example = objective.example(tokens, generator(seed))
    for row, text in enumerate(texts(tokens)):
        inputs, targets = shown(example.inputs, row)[0], example.questions[0].targets[row]
        parts = parts_by_sentinel(closed(targets[example.questions[0].loss_mask[row]].tolist()))
        if closing:
            assert parts.popitem() == (SPECIALS.sentinels[len(parts)], [])
        assert [t for t in inputs if t in SPECIALS.sentinels] == list(parts) == list(SPECIALS.sentinels[: len(parts)])
        assert [t for token in inputs for t in parts.get(token, [token])] == text


# runs in windows with signs

RUNS = {
    "T5 spans": ChooseSpans(noise_density=0.3),
    "T5 spans official": ChooseSpans(noise_density=0.4, mean_length=2.0, match_released_code=True),
    "BART": ChoosePoissonSpans(),
    "BART words": ChoosePoissonSpans(mask_ratio=0.5, whole_words=True),
    "BART fairseq": ChoosePoissonSpans(mask_ratio=0.4, mean_length=2.0, placement="fairseq"),
    "MASS": ChooseMassSpan(),
    "MASS signs": ChooseMassSpan(count_specials=True),
    "SpanBERT": ChooseGeometricSpans(),
}
BUDGETS = {
    "T5 spans": lambda n: min(max(1, round(0.15 * n)), max(0, n - 1)),
    "text infilling": lambda n: min(max(1, round(0.15 * n)), max(0, n - 1)),
    "BART infilling": lambda n: -int(-(0.3 * n - 1e-9) // 1),
    "span mask": lambda n: round(0.5 * n),
}


@pytest.mark.parametrize("name", BUDGETS)
@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_p7_signs_in_a_text_cost_no_run_its_share(name, tokens, seed):
    example = find_objective(name).example(tokens, generator(seed))
    words = [sum(oracles.maskable(text)) for text in texts(tokens)]
    assert example.selected.sum(1).tolist() == [BUDGETS[name](n) for n in words]
    assert example.spans.length.clamp(min=0).sum(1).tolist() == [BUDGETS[name](n) for n in words]


@pytest.mark.parametrize("name", BUDGETS)
def test_every_window_of_a_corpus_hides_its_whole_share(name):
    tokens = open_corpus("world", tokens=4000).windows(32)
    assert int((~tokens.maskable).sum()) > 50
    example = find_objective(name).example(tokens, generator(3))
    words = tokens.maskable.sum(1).tolist()
    assert example.selected.sum(1).tolist() == [BUDGETS[name](n) for n in words]
    assert bool(example.questions[0].loss_mask.any(1).all())
    assert not leaks.check(example).leak


def without_signs(tokens):
    """The words of each text alone, in their columns."""
    rows = [[t for t, word in zip(text, oracles.maskable(text), strict=True) if word] for text in texts(tokens)]
    keep = [oracles.maskable(text) for text in texts(tokens)]
    word, sentence = (
        [
            [v for v, there in zip(row, kept, strict=False) if there]
            for row, kept in zip(values.tolist(), keep, strict=True)
        ]
        for values in (tokens.word_ids, tokens.sentence_ids)
    )
    return tokens_of(rows, word, sentence, extra=tokens.ids.shape[1] - max(map(len, rows)))


@pytest.mark.parametrize("name", [n for n in RUNS if n not in ("SpanBERT", "BART words")])
@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_runs_fall_on_the_words_as_if_the_signs_were_not_there(name, tokens, seed):
    """Words that are hidden, and gaps of length 0 between words, are those of the text without its signs."""
    stage, alone = RUNS[name], without_signs(tokens)
    found, plain = (begin(t) for t in (tokens, alone))
    found, plain = (stage.build(e, stage.plan(e, generator(seed))) for e in (found, plain))
    for row, text in enumerate(texts(tokens)):
        place = [p for p, word in enumerate(oracles.maskable(text)) if word]
        wanted = [place[p] for p in plain.selected[row].nonzero()[:, 0].tolist()]
        assert found.selected[row].nonzero()[:, 0].tolist() == wanted
        gaps, others = (_gaps(e.spans, row) for e in (found, plain))
        assert [sum(p < gap for p in place) for gap in gaps] == others


def _gaps(spans, row):
    return spans.start[row][spans.length[row] == 0].tolist()


@pytest.mark.parametrize("name", RUNS)
@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_p6_runs_come_from_left_to_right_hold_no_sign_and_end_where_one_stands(name, tokens, seed):
    stage, example = RUNS[name], begin(tokens)
    plan = stage.plan(example, generator(seed))
    spans = stage.build(example, plan).spans
    for row, text in enumerate(texts(tokens)):
        drawn, held = ([p for p in _pairs(s, row) if p[1] >= 0] for s in (plan, spans))
        assert held == sorted(oracles.choose_spans(text, drawn)[0], key=lambda p: p[0])
        end = 0
        for start, length in held:
            assert end <= start
            end = start + length
            assert all(oracles.maskable(text[start:end]))


def _pairs(spans, row):
    return list(zip(spans.start[row].tolist(), spans.length[row].tolist(), strict=True))


@pytest.mark.parametrize("name", BUDGETS)
def test_a_told_plan_with_signs_in_its_runs_says_the_same_again(name):
    tokens = tokens_for(find_objective(name))
    tokens = replace(tokens, ids=tokens.ids.clone())
    tokens.ids[0, [2, 6, 7]] = SPECIALS.sep
    objective, parted = find_objective(name), 0
    objective = objective.turn(hiding(objective, 0.6))
    for seed in range(10):
        first = objective.steps(tokens, generator(seed))
        told = {key: plan_overrides.read(key, value) for key, value in tell(first).items()}
        again = objective.steps(tokens, generator(seed + 100), told)
        for one, other in ((f.example, a.example) for f, a in zip(first, again, strict=True)):
            assert torch.equal(one.selected, other.selected)
            assert torch.equal(one.inputs.ids, other.inputs.ids)
        assert torch.equal(first[-1].example.questions[0].targets, again[-1].example.questions[0].targets)
        parted += int(first[0].example.spans.is_span.sum()) > int((first[0].plan.length >= 0).sum())
    assert parted


def test_a_fragment_goes_on_behind_a_sign_and_the_decoder_reads_the_sign_in_its_place():
    tokens = plain_rows(1, 8)
    tokens.ids[0, 4] = SPECIALS.sep
    plan = ChosenSpans(torch.tensor([[2]]), torch.tensor([[4]]))
    example = find_objective("MASS").stages[0].build(begin(tokens), plan)
    assert _pairs(example.spans, 0) == [(2, 2), (5, 1)]
    written = AskDecoder(target="fragment", add_eos=False).build(example)
    assert written.questions[0].origin.tolist() == [[2, 3, 5]]
    assert written.decoder.origin.tolist() == written.decoder.position_ids.tolist() == [[1, 2, 4]]
    assert written.decoder.ids[0, 2] == SPECIALS.sep


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, rate=st.floats(0.0, 0.9), mean=st.sampled_from((0.5, 1.0, 3.0, 10.0)))
def test_runs_of_whole_words_cut_none_and_hold_a_share_of_the_words(tokens, seed, rate, mean):
    example = begin(tokens)
    stage = ChoosePoissonSpans(mask_ratio=rate, mean_length=mean, whole_words=True)
    chosen = stage.build(example, stage.plan(example, generator(seed))).selected
    for row, text in enumerate(texts(tokens)):
        words, number = oracles.maskable(text), tokens.word_ids[row].tolist()
        starts = [p for p in range(len(text)) if words[p] and not (p and words[p - 1] and number[p - 1] == number[p])]
        of = [sum(s <= p for s in starts) if words[p] else 0 for p in range(len(text))]
        gone = {of[p] for p in chosen[row].nonzero()[:, 0].tolist()}
        assert [p for p in range(len(text)) if of[p] in gone] == chosen[row].nonzero()[:, 0].tolist()
        assert len(gone) == min(len(starts), -int(-(rate * len(starts) - 1e-9) // 1))


def test_runs_without_a_number_of_their_own_stay_in_the_text():
    tokens = tokens_of([[40 + k % 9 for k in range(100)]])
    every_other = torch.arange(100)[None] % 2 == 0
    merged = MergeAdjacent().build(replace(begin(tokens), selected=every_other))
    assert merged.spans.start[merged.spans.is_span].tolist() == list(range(0, 64, 2))
    assert int(merged.selected.sum()) == len(SPECIALS.sentinels)


# moving


@settings(max_examples=30)
@given(tokens=batches(), seed=seeds)
def test_rotation_is_undone_by_some_turn(tokens, seed):
    example = find_objective("rotation").example(tokens, generator(seed))
    for row, text in enumerate(texts(tokens)):
        ids = shown(example.inputs, row)[0]
        assert any(ids[k:] + ids[:k] == text for k in range(max(1, len(text))))


@settings(max_examples=30)
@given(tokens=batches(), seed=seeds)
def test_marks_move_with_the_sentence_they_begin_in(tokens, seed):
    """The mixture reads as the infilling alone does, sentence by sentence in the new order."""
    steps = find_objective("BART mixture").steps(tokens, generator(seed))
    folded, mixed = (next(s for s in steps if type(s.stage).__name__ == n) for n in STAGES)
    for row, text in enumerate(texts(tokens)):
        sentence = tokens.sentence_ids[row].tolist()
        ids, origin, _ = shown(folded.example.inputs, row)
        parts = {}
        for token, place in zip(ids, oracles_noise.homes(oracles.Row(ids, origin)), strict=True):
            parts.setdefault(sentence[place], []).append(token)
        order = dict.fromkeys(sentence[place] for place in mixed.plan[row, : len(text)].tolist())
        assert shown(mixed.example.inputs, row)[0] == [token for n in order for token in parts.get(n, [])]


STAGES = ("SpansToSentinels", "ChangeSentenceOrder")


def test_the_chain_in_words():
    """Two runs and an empty gap are folded, then the sentences are swapped: every mark goes where its words went."""
    wanted = {"spans": "2:2,9:0,11:1", "sentences": "2,1"}
    found = rebuild("BART mixture", TWO_SENTENCES, wanted=wanted).facts()["inputs"]
    assert found == "We [MASK] here now . I [MASK] to join with you today [MASK] .".split()


def test_a_mark_between_two_sentences_belongs_to_the_later_one():
    found = rebuild("BART mixture", TWO_SENTENCES, wanted={"spans": "10:0", "sentences": "2,1"}).facts()["inputs"]
    assert found == "[MASK] We walk here now . I am happy to join with you today .".split()


def test_rotation_by_hand():
    assert rebuild("rotation", wanted={"start": 4}).facts()["inputs"] == "to join with you today I am happy".split()
    with pytest.raises(UserError, match="The start 9 is not in the text; it has 8 words"):
        rebuild("rotation", wanted={"start": 9})


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ["all noises", "BART mixture", "T5 i.i.d.", "gap sentences", "token deletion"])
def test_every_plan_of_a_chain_is_told_under_a_name_of_its_own(name, seed):
    first = story(name, seed=seed)
    again = story(name, seed=seed + 100, wanted=tell(first.steps))
    assert again.facts()["inputs"] == first.facts()["inputs"]
    assert again.facts()["targets"] == first.facts()["targets"]


def test_words_and_sentences_are_edited_apart_in_one_chain():
    wanted = {"sentences": "2,1", "start": "1", "spans": [], "chosen": [], "deleted": "1,10"}
    objective = find_objective("all noises").turn({"shuffle_distance": 1})
    found = rebuild(objective, TWO_SENTENCES, wanted=wanted).facts()
    assert found["inputs"] == "am happy to join with you today . walk here now .".split()
    assert found["plan"]["sentences"] == [2, 1]
    assert found["plan"]["deleted"] == [1, 10]


def test_masked_words_that_move_stay_hidden():
    """A mark that has moved is no moved word: the leak check and a decoder that hides masks still know it."""
    example = find_objective("all noises").example(plain_rows(50, 30), generator(4))
    shown_as_mask = example.inputs.ids == SPECIALS.mask
    places = example.inputs.origin[shown_as_mask & (example.inputs.origin >= 0)]
    rows = (shown_as_mask & (example.inputs.origin >= 0)).nonzero()[:, 0]
    assert len(places) > 50
    assert bool((example.actions[rows, places] == Action.MASKED).all())


# random words in the place of marks


def test_a_tenth_of_the_marks_becomes_a_random_word():
    objective = find_objective("BART infilling").turn({"mask_random": 0.1})
    example = objective.example(plain_rows(2000, 60), generator(5))
    there = example.spans.is_span
    plan = SpansToSentinels(mask_random=0.1).plan(example, generator(6))[there]
    assert_share(int((plan != SPECIALS.mask).sum()), len(plan), 0.1)
    assert_law(Counter(plan[plan != SPECIALS.mask].tolist()), uniform(range(SPECIALS.first_word, SPECIALS.size)))
    action = example.actions
    number = int(((action == Action.MASKED) | (action == Action.RANDOMISED)).sum())
    assert_share(int((action == Action.RANDOMISED).sum()), number, 0.1)
    assert not leaks.check(example).leak


def test_marks_by_hand():
    wanted = {"spans": "3:3", "marks": "walk"}
    facts = rebuild("BART infilling", f"{TWO_SENTENCES}", wanted=wanted).facts()
    assert facts["inputs"][:4] == "I am walk with".split()
    assert facts["actions"][2:5] == ["randomised", "deleted", "deleted"]
    assert facts["plan"]["marks"] == ["walk"]
    with pytest.raises(UserError, match="The plan marks names 2 for 1 spans"):
        rebuild("BART infilling", wanted={"spans": "3:3", "marks": "walk,walk"})


# T5 against the released functions


def official(text, noise, fold_noise):
    """Each run of marked tokens becomes the next sentinel, the others stay (T5's released preprocessor)."""
    out, number = [], 0
    for place, token in enumerate(text):
        if noise[place] != fold_noise:
            out.append(token)
        elif not place or noise[place - 1] != fold_noise:
            out.append(SPECIALS.sentinels[number])
            number += 1
    return out


def pair_of(example, row):
    targets = example.questions[0].targets[row][example.questions[0].loss_mask[row]].tolist()
    return shown(example.inputs, row)[0], closed(targets)


@pytest.mark.parametrize("length", [2, 3, 8, 40, 100])
def test_official_masks_give_what_the_released_functions_give(length):
    example = (
        find_objective("T5")
        .turn({"match_released_code": True})
        .example(plain_rows(50, min(length, 60)), generator(length))
    )
    for row, text in enumerate(texts(example.tokens)):
        noise = example.selected[row].tolist()
        assert pair_of(example, row) == (official(text, noise, True), official(text, noise, False))


@pytest.mark.parametrize("spans", [[(0, 2), (5, 1)], [(0, 1), (3, 2)], [(0, 3)]])
def test_the_released_functions_tear_markers_apart_where_a_text_begins_with_noise(spans):
    """Targets would begin with bare noise and number the gaps from the wrong side; here both say the same number."""
    tokens = plain_rows(1, 8)
    start, length = (torch.tensor([column]) for column in zip(*spans, strict=True))
    stage = find_objective("T5")
    steps = stage.replay(
        tokens, (ChosenSpans(start, length), torch.tensor([SPECIALS.sentinels[: len(spans)]]), None, None)
    )
    inputs, targets = pair_of(steps[-1].example, 0)
    noise = steps[-1].example.selected[0].tolist()
    text = texts(tokens)[0]
    assert inputs == official(text, noise, True)
    assert targets != official(text, noise, False)
    assert official(text, noise, False)[0] == text[0]
    parts = parts_by_sentinel(targets)
    assert [t for token in inputs for t in parts.get(token, [token])] == text


def test_the_figure_of_t5_closes_with_one_more_sentinel():
    settings_ = {"final_sentinel": True}
    facts = rebuild("T5", settings=settings_, wanted={"spans": "2:1,5:2"}).facts()
    assert facts["inputs"] == "I <0> happy to <1> you today".split()
    assert facts["targets"] == "<0> am <1> join with <2> [END]".split()


def test_the_forms_of_t5s_table():
    """Table 3 of the paper: replace with sentinels, drop, and mask in place with the whole text as target."""
    wanted = {"chosen": "3,4,8"}
    iid = rebuild("T5 i.i.d.", wanted=wanted).survey()
    assert iid == {"inputs": "I am <0> join with you <1>", "targets": "<0> happy to <1> today"}
    drop = rebuild("T5 drop", wanted=wanted).survey()
    assert drop == {"inputs": "I am join with you", "targets": "happy to today"}
    place = rebuild("T5 mask in place", wanted=wanted).survey()
    assert place["inputs"] == "I am [MASK] [MASK] join with you [MASK]"
    assert place["targets"] == "I am happy to join with you today"


# fragments


@pytest.mark.parametrize(("length", "size"), [(12, 7), (8, 5)])
def test_mass_with_signs_starts_at_an_end_in_20_percent_each(length, size):
    """With both signs counted: 14 tokens, 7 hidden; the first start has .2 + .6 / 7 = .286 (reference, sec. 9)."""
    plan = ChooseMassSpan(count_specials=True).plan(begin(plain_rows(12_000, length)), generator(21))
    starts = length + 2 - size
    law = {s: 0.6 / starts + (0.2 if s in (0, starts - 1) else 0.0) for s in range(starts)}
    assert_law(Counter(plan.start.flatten().tolist()), law)
    over = plan.start == starts - 1
    assert plan.length[over].unique().tolist() == [size - 1]
    assert plan.length[~over].unique().tolist() == [size]


def test_words_hidden_here_and_there_are_written_from_the_words_before_them():
    facts = rebuild("discrete mask", wanted={"chosen": "1,3,4,8"}).facts()
    assert facts["decoder_inputs"] == "[START] am happy you".split()
    assert facts["targets"] == "I happy to today".split()


@settings(max_examples=60)
@given(tokens=batches(), seed=seeds, share=st.sampled_from((0.2, 0.5, 1.0)), ends=st.sampled_from((0.0, 0.4, 1.0)))
def test_the_decoder_of_a_fragment_counts_positions_without_a_collision(tokens, seed, share, ends):
    """Each word is written from the position before its own; [START] stands alone where it begins the text."""
    example = (
        find_objective("MASS")
        .turn({"span_ratio": share, "edge_prob": ends, "add_eos": True})
        .example(tokens, generator(seed))
    )
    question = example.questions[0]
    for row in range(len(tokens.ids)):
        ids, _, position = shown(example.decoder, row)
        asked = question.origin[row][question.loss_mask[row]].tolist()[:-1]
        begins = ids[:1] == [SPECIALS.start]
        assert begins == (asked[:1] == [0])
        assert position[:-1] == [place - 1 + begins for place in asked]
        assert len(set(position)) == len(position)
        if not any(not word for word in oracles.maskable(texts(tokens)[row])) and position:
            assert position == list(range(position[0], position[0] + len(position)))


def test_words_hidden_here_and_there_at_the_beginning_have_positions_of_their_own():
    example = rebuild("discrete mask", wanted={"chosen": "1,2,4"}).example
    assert example.decoder.position_ids.tolist() == [[0, 1, 3]]
    example = rebuild("MASS", wanted={"spans": "3:3"}).example
    assert example.decoder.position_ids.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("hide", [True, False])
@pytest.mark.parametrize("actions", ["keep,mask,random", "mask,keep,keep", "random,random,mask", "keep,keep,keep"])
def test_mass_shows_kept_words_of_the_fragment_and_the_check_says_which(hide, actions):
    """The released code hides [MASK] from the decoder and leaves kept words in sight: shown on purpose, no leak."""
    wanted = {"spans": "3:3", "actions": actions}
    verdict = rebuild("MASS", f"{TWO_SENTENCES}", wanted=wanted, settings={"hide_masked": hide}).verdict
    kept = tuple(k for k, action in enumerate(actions.split(",")) if action == "keep")
    assert (verdict.leak, verdict.by_design) == (False, kept)
    if len(kept) == 3:
        assert verdict.sentence == "All 3 scored answers are shown on purpose: there is nothing to guess."


def test_masks_alone_hide_a_fragment_whether_the_decoder_sees_them_or_not():
    for hide in (True, False):
        verdict = rebuild("MASS", wanted={"spans": "3:3"}, settings={"hide_masked": hide}).verdict
        assert (verdict.leak, verdict.by_design) == (False, ())


# gap sentences


@settings(max_examples=60)
@given(tokens=batches(), seed=seeds, ratio=st.sampled_from((0.1, 0.3, 0.45, 0.9)))
def test_gap_sentences_have_the_highest_rouge(tokens, seed, ratio):
    example = begin(tokens)
    plan = ChooseGapSentences(gap_sentence_ratio=ratio).plan(example, generator(seed))
    for row, text in enumerate(texts(tokens)):
        wanted = oracles_noise.gap_sentences(text, tokens.sentence_ids[row, : len(text)].tolist(), ratio)
        assert plan[row].nonzero().flatten().tolist() == wanted


def test_rouge_counts_repeats_and_ties_go_to_the_later_sentence():
    """The second sentence shares "a b", the third only "a", however often it says it."""
    tokens = tokens_of([[40, 41, 50, 40, 41, 51, 40, 40, 40]], sentence=[[0, 0, 0, 1, 1, 1, 2, 2, 2]])
    plan = ChooseGapSentences().plan(begin(tokens), generator(0))
    assert oracles_noise.rouge(*(r[0].tolist() for r in (tokens.ids, tokens.sentence_ids))) == {
        0: pytest.approx(2 * 2 / 9),
        1: pytest.approx(2 * 2 / 9),
        2: pytest.approx(2 * 2 / 9),
    }
    assert plan.tolist() == [[False, False, True]]


def test_gap_sentences_in_words():
    text = "a b c . d e . a b d e ."
    facts = rebuild("PEGASUS", text).facts()
    assert facts["inputs"] == "a b c . d e . [MASK]".split()
    assert facts["targets"] == "a b d e . [END]".split()
    facts = rebuild("PEGASUS", text, wanted={"sentences": "1,2"}).facts()
    assert facts["inputs"] == "[MASK] [MASK] a b d e .".split()
    assert facts["targets"] == "a b c . d e . [END]".split()
    with pytest.raises(UserError, match="Sentence 4 is not in the text; it has 3"):
        rebuild("PEGASUS", text, wanted={"sentences": "4"})
    with pytest.raises(UserError, match="needs at least two sentences"):
        rebuild("PEGASUS")


def test_a_text_of_one_sentence_keeps_it():
    example = find_objective("PEGASUS").turn({"add_eos": False}).example(plain_rows(3, 8), generator(0))
    assert not example.selected.any()
    assert not example.questions[0].loss_mask.any()


@pytest.mark.parametrize(("ratio", "count"), [(0.3, 6), (0.05, 1), (0.45, 9), (0.9, 18)])
def test_the_number_of_gap_sentences_is_rounded_down(ratio, count):
    for strategy in ("rouge", "lead", "random"):
        stage = ChooseGapSentences(gap_sentence_ratio=ratio, sentence_selection=strategy)
        taken = stage.plan(begin(sentences_of(20, 30)), generator(1))
        assert taken.sum(1).unique().tolist() == [count]
        assert strategy != "lead" or bool(taken[:, :count].all())


def sentences_of(number, rows):
    text = [40 + k % 20 for k in range(2 * number)]
    return tokens_of([text] * rows, sentence=[[k // 2 for k in range(2 * number)]] * rows, padded=False)


def test_the_stochastic_ratio_is_uniform_from_15_to_45_percent():
    """Of 20 sentences 3 to 8 are taken, each number equally often."""
    stage = ChooseGapSentences(stochastic=True)
    taken = stage.plan(begin(sentences_of(20, 6000)), generator(22)).sum(1)
    assert_law(Counter(taken.tolist()), uniform(range(3, 9)))


def test_random_gap_sentences_have_no_favourite():
    stage = ChooseGapSentences(sentence_selection="random", gap_sentence_ratio=0.5)
    taken = stage.plan(begin(sentences_of(4, 6000)), generator(23))
    assert_law(Counter(map(tuple, taken.nonzero()[:, 1].view(-1, 2).tolist())), uniform(combinations(range(4), 2)))


def test_where_the_choice_is_left_to_chance_scores_are_shaken_by_a_fifth():
    """Every score is multiplied by any number from .8 to 1.2; without chance all texts have the same scores."""
    words = [[40] * 4, [41] * 5, [42] * 9]
    text = [w for one in words for w in one] * 2
    sentence = [k for k, one in enumerate(words) for _ in one]
    tokens = tokens_of([text] * 6000, sentence=[sentence + [k + 3 for k in sentence]] * 6000, padded=False)
    size = words_by_sentence(begin(tokens))
    stage = ChooseGapSentences(stochastic=True)
    score = stage.priority(begin(tokens), size, generator(35))
    plain = oracles_noise.shared(text, sentence + [k + 3 for k in sentence])
    share = score / torch.tensor([plain[k] for k in range(6)])
    assert float(share.min()) >= 0.8
    assert float(share.max()) <= 1.2 + 1e-6
    edges = ((share - 0.8) / 0.04).long().clamp(max=9)
    assert_law(Counter(edges.flatten().tolist()), uniform(range(10)))
    calm = ChooseGapSentences().priority(begin(tokens), size, generator(35))
    assert calm.unique(dim=0).shape[0] == 1


def test_of_sentences_that_share_nothing_the_later_one_is_taken_also_where_scores_are_shaken():
    tokens = tokens_of([[40 + k for k in range(6)]] * 9, sentence=[[k // 2 for k in range(6)]] * 9, padded=False)
    taken = ChooseGapSentences(stochastic=True).plan(begin(tokens), generator(36))
    assert taken.tolist() == [[False, False, True]] * 9


# switches


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
    still = find_objective("all noises").turn(off).example(tokens, generator(37))
    assert torch.equal(still.inputs.ids, tokens.ids)
    assert not still.actions.any()
    for one, value in (("shuffle_ratio", 1.0), ("shuffle_distance", 0), ("rotate_prob", 1.0)):
        moved = find_objective("all noises").turn(off | {one: value}).example(tokens, generator(37))
        assert set(moved.actions.unique().tolist()) == {Action.KEPT, Action.MOVED}
    for one, action in (("ChooseRatio.mask_ratio", Action.MASKED), ("delete_ratio", Action.DELETED)):
        changed = find_objective("all noises").turn(off | {one: 0.3}).example(tokens, generator(37))
        assert set(changed.actions.unique().tolist()) == {Action.KEPT, action}


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.3, 2), (0.5, 2), (0.6, 3), (1.0, 4)])
def test_a_share_of_the_sentences_changes_places_and_the_others_stay(share, count):
    """So many of four sentences, rounded up, are put into any order of their own places."""
    example = begin(sentences_of(4, 12_000))
    stage = ChangeSentenceOrder(shuffle_ratio=share)
    source = stage.build(example, stage.plan(example, generator(38))).inputs.origin[:, ::2] // 2
    law = Counter()
    for places in combinations(range(4), count):
        for order in permutations(places):
            found = list(range(4))
            for place, other in zip(places, order, strict=True):
                found[place] = other
            law[tuple(found)] += 1
    assert_law(Counter(map(tuple, source.tolist())), {k: v / law.total() for k, v in law.items()})


def test_a_text_is_turned_as_often_as_is_said():
    plan = RotateDocument(rotate_prob=0.5).plan(begin(plain_rows(9000, 6)), generator(39))
    assert_law(Counter(plan.tolist()), {k: 1 / 12 + (k == 0) / 2 for k in range(6)})


# end signs and what is graded


def test_the_parts_of_the_multi_task_mixture_close_with_a_sign():
    objective = find_objective("T5 multi-task")
    for example in objective.specimens(tokens_for(objective), generator(40)):
        question = example.questions[0]
        assert int(question.targets[0][question.loss_mask[0]][-1]) == SPECIALS.end


@pytest.mark.parametrize("name", ["T5 drop", "T5 prefix LM", "gap sentences"])
def test_where_there_is_nothing_to_write_no_sign_is_asked_for(name):
    objective = find_objective(name).turn({"add_eos": True} | ({"mask_ratio": 0.0} if name == "T5 drop" else {}))
    example = objective.example(plain_rows(3, 1), generator(41))
    assert not example.questions[0].loss_mask.any()


@pytest.mark.parametrize("name", ["T5 i.i.d.", "T5 drop", "T5 mask in place"])
def test_t5_draws_every_word_alone_and_an_idle_row_costs_nothing(name, tiny):
    example = find_objective(name).example(plain_rows(9000, 8), generator(42))
    assert_share(int(example.selected.sum()), example.selected.numel(), 0.15)
    idle = ~example.selected.any(1)
    assert_share(int(idle.sum()), len(idle), 0.85**8)
    if name != "T5 mask in place":
        assert torch.equal(idle, ~example.questions[0].loss_mask.any(1))
        empty = find_objective(name).turn({"mask_ratio": 0.0}).example(plain_rows(3, 8), generator(43))
        assert total_loss(tiny(empty))[0].item() == 0.0
        tiny.zero_grad()


def test_the_first_part_can_be_graded_too_and_the_check_says_that_it_is_in_sight():
    last = rebuild("seq2seq LM", wanted={"split": 4})
    every = rebuild("seq2seq LM", wanted={"split": 4}, settings={"loss_on": "all"})
    assert last.facts()["graded"] == [0, 0, 0, 1, 1, 1, 1, 0]
    assert every.facts()["graded"] == [1] * 7 + [0]
    assert every.facts()["targets"][:7] == "am happy to join with you today".split()
    assert (last.verdict.leak, every.verdict.leak) == (False, True)


# translation


def test_a_translation_is_written_from_the_other_language_alone():
    facts = rebuild("translation", "How are you", pair="Comment vas-tu").facts()
    assert facts["inputs"] == "How are you".split()
    assert facts["targets"][:2] == "Comment vas-tu".split()
    assert facts["targets"][-1] == "[END]"
    assert facts["decoder_inputs"][:2] == ["[START]", "Comment"]
    assert not facts["leak"]
    with pytest.raises(UserError, match="needs a translation"):
        rebuild("translation", "How are you")


@settings(max_examples=20)
@given(tokens=batches(), seed=seeds)
def test_every_row_writes_its_own_translation(tokens, seed):
    objective = find_objective("translation")
    tokens = suited(objective, tokens)
    example = objective.example(tokens, generator(seed))
    second = tokens.neighbours["translation"]
    for row, text in enumerate(texts(second)):
        inputs, targets = pair_of(example, row)
        assert inputs == texts(tokens)[row]
        assert targets == text
        assert shown(example.decoder, row)[0] == [SPECIALS.start, *text]
    assert bool((example.decoder.language_ids == 1).all()) or not any(map(len, texts(second)))


def test_denoising_reads_either_language_and_says_which():
    objective = find_objective("mBART")
    tokens = suited(objective, plain_rows(2000, 6))
    example = objective.example(tokens, generator(24))
    spoken = example.inputs.language_ids.amax(1)
    assert_share(int(spoken.sum()), 2000, 0.5)
    assert torch.equal(example.decoder.language_ids.amax(1), spoken)
    wanted = {"language": "second", "spans": "1:1"}
    facts = rebuild("mBART", "How are you", pair="Comment vas-tu", wanted=wanted).facts()
    assert facts["inputs"][0] == "[MASK]"
    assert facts["targets"][:2] == "Comment vas-tu".split()
    with pytest.raises(UserError, match="must be one of first, second"):
        rebuild("mBART", "How are you", pair="Comment vas-tu", wanted={"language": "third"})


# laws


@pytest.mark.parametrize("official_", [False, True])
def test_a_rotated_text_begins_at_every_word_equally_often(official_):
    """fairseq draws one number too many, so that the text stays as it is in 2 of n + 1 cases."""
    plan = RotateDocument(match_released_code=official_).plan(begin(plain_rows(9000, 6)), generator(25))
    law = {k: (2 if k == 0 else 1) / 7 for k in range(6)} if official_ else uniform(range(6))
    assert_law(Counter(plan.tolist()), law)


def test_masked_and_deleted_words_have_no_favourite_pair():
    chosen = ChooseRatio(mask_ratio=0.3).plan(begin(plain_rows(9000, 6)), generator(26)).positions
    pairs = Counter(map(tuple, chosen.nonzero()[:, 1].view(-1, 2).tolist()))
    assert_law(pairs, uniform(combinations(range(6), 2)))


def test_iid_choices_of_t5_are_binomial():
    objective = find_objective("T5 i.i.d.").turn({"selection": "iid"})
    chosen = objective.example(plain_rows(9000, 8), generator(27)).selected
    assert_share(int(chosen.sum()), chosen.numel(), 0.15)
    assert_share(int((chosen.sum(1) == 0).sum()), len(chosen), 0.85**8)


@pytest.mark.parametrize("stages", [(ChangeSentenceOrder(), ChangeWordOrder()), (RotateDocument(), ChangeWordOrder())])
def test_a_word_order_after_another_one_is_as_free_as_alone(stages):
    example = begin(plain_rows(12_000, 4))
    for number, stage in enumerate(stages):
        example = stage.build(example, stage.plan(example, generator(28, number)))
    assert_law(Counter(map(tuple, example.inputs.origin.tolist())), uniform(permutations(range(4))))


def test_a_local_shuffle_after_a_turn_moves_words_little_from_where_they_are():
    example = begin(plain_rows(500, 12))
    turned = RotateDocument().build(example, RotateDocument().plan(example, generator(29)))
    stage = ChangeWordOrder(shuffle_distance=3)
    after = stage.build(turned, stage.plan(turned, generator(30)))
    assert int((after.prediction_order - turned.prediction_order).abs().max()) == 2
    assert int((after.prediction_order - example.prediction_order).abs().max()) > 2


def test_subsets_are_uniform_and_sorted():
    found = sampling.subset(torch.full((12_000,), 3), torch.full((12_000,), 6), 3, generator(31))
    assert_law(Counter(map(tuple, found.tolist())), uniform(combinations(range(6), 3)))
    ragged = sampling.subset(torch.tensor([0, 1, 3]), torch.tensor([0, 4, 3]), 3, generator(32))
    assert ragged[0].tolist() == [0, 0, 0]
    assert ragged[1, 1:].tolist() == [4, 4]
    assert ragged[2].tolist() == [0, 1, 2]


def test_places_come_sorted_as_if_drawn_and_sorted():
    """Two numbers below 3: equal pairs have the chance 1/9, the others 2/9."""
    found = sampling.sorted_positions(torch.full((12_000,), 2), torch.full((12_000,), 3), 2, generator(33))
    law = {(a, b): (1 if a == b else 2) / 9 for a in range(3) for b in range(a, 3)}
    assert_law(Counter(map(tuple, found.tolist())), law)


def test_official_spans_of_t5_never_touch_and_end_the_text():
    plan = ChooseSpans(match_released_code=True, noise_density=0.5, mean_length=2.0).plan(
        begin(plain_rows(2000, 20)), generator(34)
    )
    assert bool((plan.start.gather(1, (plan.length > 0).sum(1, keepdim=True) - 1) > 0).all())
    assert bool(((plan.start + plan.length).amax(1) == 20).all())
