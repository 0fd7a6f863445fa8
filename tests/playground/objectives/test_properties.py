"""The property catalogue (objectives reference, section 23) for every objective of the catalogue, on any batch."""

from dataclasses import fields, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.answers import TeacherState
from playground.batch import begin
from playground.corpora.corpus import pick
from playground.objectives import find_objective, objectives
from playground.objectives.change.tokens import Corruption
from playground.objectives.choose import (
    ChooseGeometricSpans,
    ChooseMassSpan,
    ChooseNgrams,
    ChooseOrder,
    ChoosePoissonSpans,
    ChooseSpans,
    ChooseTokens,
    ChooseTrigrams,
)
from playground.objectives.steps import acting_on
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from tests.stories import dense, shown
from tests.texts import SPECIALS, batches, plan_of_one, seeds, suited, tokens_of

NAMES = tuple(objectives())
every_objective = pytest.mark.parametrize("name", NAMES)
few = settings(max_examples=3)


def made(name, tokens, seed):
    """The steps of an objective on a batch that has what it needs."""
    objective = find_objective(name)
    return objective.steps(suited(objective, tokens), generator(seed))


# P11: nothing leaks


@every_objective
@settings(max_examples=5)
@given(tokens=batches(longest=40, rows=3), seed=seeds)
def test_p11_no_row_leaks_in_one_layer_or_in_four(name, tokens, seed):
    batch = made(name, tokens, seed)[-1].batch
    for row in range(len(tokens.ids)):
        for layers in (1, 4):
            verdict = leaks.check(batch, layers, row)
            assert (verdict.leak, verdict.leaking, verdict.path) == (False, (), ())


# P13: rows do not know of each other

OF_THE_BATCH = ("GloVe", "DIM", "InfoWord", "sentence matching")
"""What is about a whole batch: one table of all its words, or the number of a row's partner among all rows."""


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_THE_BATCH])
@few
@given(tokens=batches(longest=24, rows=3), seed=seeds)
def test_p13_a_row_is_built_alone_as_in_its_batch(name, tokens, seed):
    objective = find_objective(name)
    tokens = suited(objective, tokens)
    steps = objective.steps(tokens, generator(seed))
    for row in range(len(tokens.ids)):
        plans = tuple(alone_in(s.plan, at, s.batch.selected.shape[1]) for s, at in acting_on(steps, row))
        alone = objective.replay(pick(tokens, torch.tensor([row])), plans)[-1].batch
        for one, whole in zip(alone.with_auxiliary, steps[-1].batch.with_auxiliary, strict=True):
            assert_same_row(one, whole, row)


def assert_same_row(alone, together, row):
    assert shown(alone.inputs, 0) == shown(together.inputs, row)
    assert (alone.decoder is None) or shown(alone.decoder, 0) == shown(together.decoder, row)
    asked = {target.name: target for target in alone.targets}
    assert not any(target.loss_mask[row].any() for target in together.targets if target.name not in asked)
    for one, whole in ((asked[target.name], target) for target in together.targets if target.name in asked):
        assert one.labels[0][one.loss_mask[0]].tolist() == whole.labels[row][whole.loss_mask[row]].tolist()
        assert one.loss_mask[0].nonzero().tolist() == whole.loss_mask[row].nonzero().tolist()
    n = int(alone.inputs.valid.sum())
    masks = [(e.inputs.attn_mask, e.inputs.query_attn_mask) for e in (alone, together)]
    for own, whole in zip(*masks, strict=True):
        assert own is None or dense(own, 0, n, n) == dense(whole, row, n, n)
    if alone.decoder is not None:
        m = int(alone.decoder.valid.sum())
        assert dense(alone.decoder.cross_attn_mask, 0, m, n) == dense(together.decoder.cross_attn_mask, row, m, n)


def test_p13_holds_next_to_a_row_of_special_tokens_alone():
    """Signs of another row part spans and so add columns to the plan of a batch, which are empty for this row."""
    objective = find_objective("PEGASUS large")
    tokens = suited(objective, tokens_of([[7], [SPECIALS.sep, SPECIALS.mask]], extra=1))
    steps = objective.steps(tokens, generator(0))
    for row in range(2):
        plans = tuple(alone_in(s.plan, row, s.batch.selected.shape[1]) for s in steps)
        alone = objective.replay(pick(tokens, torch.tensor([row])), plans)[-1].batch
        assert_same_row(alone, steps[-1].batch, row)


def alone_in(plan, row, width):
    """The plan of one row; parts of a plan that are no tensors are of all rows, the order of draws is of all."""
    if plan is None or isinstance(plan, Corruption | torch.Tensor):
        return plan_of_one(plan, row, width)
    kept = {f.name: getattr(plan, f.name) if f.compare else None for f in fields(plan)}
    return replace(plan, **{k: v[row : row + 1] if isinstance(v, torch.Tensor) else v for k, v in kept.items()})


# P17: longer texts never have fewer targets


def begun(length):
    """A text of so many words with padding behind it."""
    return begin(tokens_of([[40 + k % 15 for k in range(length)]], extra=1))


def chosen_by(stage):
    def count(length):
        batch = begun(length)
        return int(stage.build(batch, stage.plan(batch, generator(0))).selected.sum())

    return count


def spans_of(stage, which):
    return lambda length: int(stage.counts(torch.tensor([length]), sentinels=32)[which])


def trigrams(length):
    return int((ChooseTrigrams().plan(begun(length), generator(0)).length > 0).sum())


COUNTS = {
    "tokens": chosen_by(ChooseTokens()),
    "tokens without special ones": chosen_by(ChooseTokens(mask_ratio=0.5, num_special_tokens=0)),
    "n-grams": chosen_by(ChooseNgrams()),
    "T5 gone": spans_of(ChooseSpans(), 0),
    "T5 runs": spans_of(ChooseSpans(), 1),
    "T5 gone officially": spans_of(ChooseSpans(match_released_code=True), 0),
    "T5 runs officially": spans_of(ChooseSpans(match_released_code=True), 1),
    "T5 many short runs": spans_of(ChooseSpans(noise_density=0.9, mean_length=1.0), 1),
    "T5 half in short runs": spans_of(ChooseSpans(noise_density=0.5, mean_length=1.5), 1),
    "BART": chosen_by(ChoosePoissonSpans()),
    "MASS": chosen_by(ChooseMassSpan()),
    "SpanBERT": chosen_by(ChooseGeometricSpans()),
    "PLM": chosen_by(ChooseOrder()),
    "StructBERT": trigrams,
}


@pytest.mark.parametrize("what", COUNTS)
def test_p17_a_longer_text_never_has_fewer_targets(what):
    counts = [COUNTS[what](length) for length in range(201)]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[200] > counts[20] > 0


# P18: other names for the words

BY_ID = ("RTD", "RTD with [MASK] alone")
"""Without a generator words are drawn by their id, so another name is another word."""

MASKS_ONLY = {"mask_replace_prob": 1.0, "random_replace_prob": 0.0}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in BY_ID])
@few
@given(tokens=batches(longest=30, rows=3), seed=seeds)
def test_p18_other_names_for_the_words_change_nothing_else(name, tokens, seed):
    """Nothing but masks is put in; partners of a match are numbered by how their words sort, so they may differ."""
    objective = find_objective(name)
    knobs = {knob: value for knob, value in MASKS_ONLY.items() if knob in objective.knobs}
    tokens, objective = suited(objective, tokens), objective.turn(knobs)
    mapping = torch.arange(SPECIALS.size)
    mapping[FIRST_WORD:] = mapping[FIRST_WORD:].flip(0)
    assert_renamed(objective, tokens, renamed(tokens, mapping), mapping, seed)


@pytest.mark.parametrize("name", NAMES)
@few
@given(tokens=batches(longest=30, rows=3), seed=seeds)
def test_special_tokens_may_stand_anywhere_in_the_vocabulary(name, tokens, seed):
    """As in folders of transformers: BERT's stand at 0 and from 100, GPT-2's is the last one. Random words too."""
    objective = find_objective(name)
    if "random_words_from" in objective.knobs and objective.knobs["random_words_from"].default == "vocabulary":
        objective = objective.turn({"random_words_from": "words"})
    tokens = suited(objective, tokens)
    scattered = torch.arange(1, SPECIALS.size, 2)[: FIRST_WORD - 1].tolist()
    others = [k for k in range(SPECIALS.size) if k not in scattered]
    mapping = torch.tensor([*scattered, others[-1], *others[:-1]])  # the unknown word stands last
    roles = {role: int(mapping[number]) for role, number in SPECIALS.roles.items()}
    signs = tuple(mapping[list(SPECIALS.sentinels)].tolist())
    moved = replace(SPECIALS, ids=tuple(scattered), roles=roles, sentinels=signs)
    assert_renamed(objective, tokens, renamed(tokens, mapping, moved), mapping, seed)


def assert_renamed(objective, tokens, others, mapping, seed):
    first = objective.batch(tokens, generator(seed))
    other = objective.batch(others, generator(seed))
    for one, two in zip(first.with_auxiliary, other.with_auxiliary, strict=True):
        assert torch.equal(two.actions, one.actions)
        assert torch.equal(two.inputs.origin, one.inputs.origin)
        assert torch.equal(two.inputs.ids, mapping[one.inputs.ids])
        if one.decoder is not None:
            assert torch.equal(two.decoder.ids, mapping[one.decoder.ids])
        for asked, again in zip(one.targets, two.targets, strict=True):
            assert torch.equal(again.loss_mask, asked.loss_mask)
            if not asked.kind.compares_rows:
                overrides = mapping[asked.labels] if asked.kind.names_words or is_state(asked) else asked.labels
                assert torch.equal(again.labels, overrides)


def is_state(target):
    """Whether its labels are the words whose states are asked for."""
    return isinstance(target.kind, TeacherState)


def renamed(tokens, mapping, specials=SPECIALS):
    neighbours = {name: renamed(second, mapping, specials) for name, second in tokens.neighbours.items()}
    return replace(tokens, ids=mapping[tokens.ids], neighbours=neighbours, specials=specials)


@few
@given(tokens=batches(longest=30, rows=3), seed=st.integers(0, 99))
def test_p18_a_detector_given_its_words_does_not_care_for_their_names(tokens, seed):
    """What RTD's generator drew, renamed like the text, gives the same labels."""
    steps = find_objective("RTD").turn(MASKS_ONLY).steps(tokens, generator(seed))
    mapping = torch.arange(SPECIALS.size)
    mapping[FIRST_WORD:] = mapping[FIRST_WORD:].flip(0)
    plans = [mapping[s.plan] if s.verb == "propose" else s.plan for s in steps]
    again = find_objective("RTD").turn(MASKS_ONLY).replay(renamed(tokens, mapping), tuple(plans))[-1].batch
    assert torch.equal(again.inputs.ids, mapping[steps[-1].batch.inputs.ids])
    assert torch.equal(again.targets[0].labels, steps[-1].batch.targets[0].labels)


# languages

TOLD_BY_KNOB = ("multilingual LM", "multilingual BiLM", "multilingual MLM", "translation through one vector")


@every_objective
@settings(max_examples=5)
@given(tokens=batches(longest=20), seed=seeds)
def test_every_stage_keeps_the_language_of_every_word(name, tokens, seed):
    """Whatever a stage does to the positions, each speaks the language of the word that stands there."""
    objective = find_objective(name)
    objective = objective.turn({"language_embeddings": True}) if name in TOLD_BY_KNOB else objective
    several = replace(tokens, labels={"language": tokens.word_ids % 3})
    text = suited(objective, several)
    if "translation" not in objective.needs:
        text = replace(text, labels={**text.labels, **several.labels})
    for step in objective.steps(text, generator(seed)):
        for part in step.batch.with_auxiliary:
            language = part.tokens.labels["language"]
            for stream in filter(None, (part.inputs, part.decoder)):
                rows, here = (stream.origin >= 0).nonzero(as_tuple=True)
                assert torch.equal(stream.language_ids[rows, here], language[rows, stream.origin[rows, here]])
