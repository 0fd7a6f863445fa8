"""Two texts in a row, a first part that is given, one of two languages: against slow oracles, and what a coin gives."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.batch import begin
from playground.objectives import find_objective
from playground.objectives.arrange import ArrangeLanguage, ArrangePair, SampleTask
from playground.rng import generator
from tests.oracles import masking, pairs, stages
from tests.playground.objectives.test_laws import assert_law, uniform
from tests.playground.objectives.test_stages import assert_row_is_story, plan_of_row, texts
from tests.texts import batches, seeds, suited, tokens_of

VARIANTS = {
    "NSP": {},
    "NSP with a sign between": ("NSP", {"pair_format": "sep"}),
    "SOP": {},
    "SOP with positions from 0 again": ("SOP", {"reset_position_ids": True}),
    "sentence structure": {},
    "translation pairs": {},
    "TLM": {},
    "TLM as two texts": ("TLM", {"pair_format": "bert", "reset_position_ids": False}),
    "MLM + NSP": {},
    "ALBERT": {},
    "StructBERT": {},
    "seq2seq LM": {},
    "BiLM": {},
    "multilingual LM": {},
    "multilingual denoising": {},
    "UniLM seq2seq": {},
}


def variant(name):
    base, knobs = VARIANTS[name] or (name, {})
    return find_objective(base).turn(knobs)


def with_sentences(tokens):
    rows = zip(texts(tokens), tokens.sentence_ids.tolist(), strict=True)
    return [(text, sentence[: len(text)]) for text, sentence in rows]


def plan_for(step, row, length, tokens):
    """What the oracle of a stage must know of one row: its plan, and the second texts where they come in."""
    beside = {name: texts(second) for name, second in tokens.neighbours.items()}
    if isinstance(step.stage, ArrangePair):
        return {"number": int(step.plan[row]), **{name: rows[row] for name, rows in beside.items()}}
    if isinstance(step.stage, ArrangeLanguage):
        both = {"text": tokens, "translation": tokens.neighbours["translation"]}
        return {"second": bool(step.plan[row]), **{k: with_sentences(v)[row] for k, v in both.items()}}
    if isinstance(step.stage, SampleTask):
        return {"number": step.plan.index}
    return plan_of_row(step, row, length)


def begun(tokens):
    labels = [{k: v[r].tolist() for k, v in tokens.labels.items()} for r in range(len(tokens.ids))]
    return [masking.begin(text, known) for text, known in zip(texts(tokens), labels, strict=True)]


@pytest.mark.parametrize("name", VARIANTS)
@settings(max_examples=12)
@given(tokens=batches(longest=24), seed=seeds)
def test_p15_every_stage_equals_its_oracle(name, tokens, seed):
    objective = variant(name)
    tokens = suited(objective, tokens)
    told = {}
    for step in objective.steps(tokens, generator(seed)):
        drawn = step.part == -1
        stories = told.setdefault(max(step.part, 0), begun(tokens))
        for row, story in enumerate(stories):
            plan = plan_for(step, row, len(story.text), tokens)
            stories[row] = stages.act(step.stage, plan, story)
            assert drawn == isinstance(step.stage, SampleTask)
            assert_row_is_story(step.example, row, stories[row])
            assert_halves(step.example, row, stories[row])


def assert_halves(example, row, story):
    """The second half is a segment of its own, from the sign before it on; the text is the two joined."""
    assert example.tokens.ids[row, : len(story.text)].tolist() == story.text
    assert int(example.tokens.lengths[row]) == len(story.text)
    if isinstance(story, pairs.Pair):
        size = len(story.inputs.ids)
        assert example.inputs.segment_ids[row, :size].tolist() == [int(k >= story.turn) for k in range(size)]


@settings(max_examples=40)
@given(tokens=batches(special=False), seed=seeds)
def test_the_language_of_a_word_is_that_of_its_text(tokens, seed):
    objective = find_objective("TLM")
    example = objective.example(suited(objective, tokens), generator(seed))
    for row, length in enumerate(tokens.lengths.tolist()):
        for place, language in zip(example.inputs.origin[row].tolist(), example.inputs.language_ids[row], strict=True):
            assert place < 0 or int(language) == int(place >= length)


@settings(max_examples=20)
@given(tokens=batches(longest=24), seed=seeds)
def test_a_mixture_leaves_the_text_to_the_part_that_it_draws(tokens, seed):
    objective = find_objective("UniLM")
    first, *others = objective.steps(suited(objective, tokens), generator(seed))
    assert isinstance(first.stage, SampleTask)
    assert len(set(first.plan.number.tolist())) == 1
    assert torch.equal(first.example.inputs.ids, begin(tokens).inputs.ids)
    assert tuple(step.stage for step in others) == objective.parts[first.plan.index].stages


# the coin

FAIR = {
    "NSP": 2,
    "SOP": 2,
    "MLM + NSP": 2,
    "ALBERT": 2,
    "translation pairs": 2,
    "sentence structure": 3,
    "StructBERT": 3,
}
"""How many outcomes a pair has, each as likely as the others (reference, section 22b)."""


@pytest.mark.parametrize("name", FAIR)
def test_every_outcome_of_a_pair_is_as_likely_as_the_others(name):
    objective = find_objective(name)
    tokens = suited(objective, tokens_of([[40, 41, 42, 43, 44, 45]] * 9000, padded=False))
    question = objective.example(tokens, generator(1)).questions[-1]
    outcomes = question.targets[question.loss_mask]
    assert len(outcomes) == 9000
    assert len(question.kind.classes) == FAIR[name]
    assert_law(Counter(outcomes.tolist()), uniform(range(FAIR[name])))


def test_a_text_is_read_in_either_language_as_often():
    objective = find_objective("multilingual denoising")
    tokens = suited(objective, tokens_of([[40, 41, 42, 43, 44, 45]] * 9000, padded=False))
    second = ArrangeLanguage().plan(begin(tokens), generator(2))
    assert_law(Counter(second.tolist()), uniform((False, True)))


@settings(max_examples=30)
@given(shares=st.lists(st.sampled_from((0.0, 1.0, 2.0, 3.0)), min_size=1, max_size=4).filter(any), seed=seeds)
def test_a_part_without_a_share_is_never_drawn(shares, seed):
    stage = SampleTask(tuple(shares), ((),) * len(shares))
    parts = {stage.plan(begin(tokens_of([[40]])), generator(seed, k)).index for k in range(5)}
    assert all(shares[part] > 0 for part in parts)


def test_parts_are_drawn_by_their_shares():
    stage, example = SampleTask((3.0, 0.0, 1.0), ((),) * 3), begin(tokens_of([[40]], padded=False))
    rng = generator(3)
    found = Counter(stage.plan(example, rng).index for _ in range(4000))
    assert_law(found, {0: 0.75, 2: 0.25})


@settings(max_examples=30)
@given(tokens=batches(), seed=seeds)
def test_what_is_written_begins_after_the_last_given_word(tokens, seed):
    """All see the first part, and its last word is asked for the first word of the second (reference, section 7)."""
    steps = find_objective("seq2seq LM").steps(tokens, generator(seed))
    (question,) = steps[-1].example.questions
    first = next(step.plan for step in steps if step.verb == "choose").tolist()
    for row, text in enumerate(texts(tokens)):
        graded = question.loss_mask[row].nonzero().flatten().tolist()
        assert graded == list(range(max(first[row] - 1, 0), len(text) - 1))
        assert question.targets[row, graded].tolist() == text[first[row] :]
