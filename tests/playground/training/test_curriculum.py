"""Objectives that change while a model learns: objectives/curriculum.py, and the feed that reads its schedule."""

from dataclasses import replace

import pytest
import torch

from playground.errors import UserError
from playground.objectives import find_objective, objectives
from playground.objectives.bind import at_step
from playground.objectives.curriculum import Stretch, schedule
from playground.objectives.mixture import mixed, mixture
from playground.training import Stepped, checkpoint, train
from playground.training.loop import prepared
from tests.runs import alone, losses, run_of, same_weights

CURRICULA = [name for name, objective in objectives().items() if objective.curriculum]
each_curriculum = pytest.mark.parametrize("name", CURRICULA)
STEPS = 12


@pytest.fixture(autouse=True)
def _no_painted_schedule():
    """A schedule that a test has changed is not that of the next one."""
    yield
    schedule.cache_clear()


def run_with(objective, steps=STEPS, **values):
    entry = alone(objective)
    return run_of(entry=replace(entry, recipe=replace(entry.recipe, steps=steps)), steps=steps, **values)


def trained(run):
    """The batch of every step."""
    return [event.batch for event in train(run) if isinstance(event, Stepped)]


def asked(batch):
    return [target.name for target in batch.targets]


def the_same(one, other):
    return torch.equal(one.inputs.ids, other.inputs.ids) and asked(one) == asked(other)


def test_the_published_schedules():
    assert set(CURRICULA) == {"MLM from 30 to 15 %", "GPT-BERT", "AntLM", "CLM then MLM"}
    shares = {name: schedule(objectives()[name].curriculum, 24).shares for name in CURRICULA}
    assert shares["AntLM"].tolist() == [[1.0] * 4 + [0.0] * 16 + [1.0] * 4, [0.0] * 4 + [1.0] * 16 + [0.0] * 4]
    assert shares["CLM then MLM"].tolist() == [[1.0] * 12 + [0.0] * 12, [0.0] * 12 + [1.0] * 12]
    assert shares["GPT-BERT"].tolist() == [[15 / 16] * 24, [1 / 16] * 24]
    for name in ("GPT-BERT", "MLM from 30 to 15 %"):
        rates = schedule(objectives()[name].curriculum, 24).knobs["mask_ratio"].tolist()
        assert rates == pytest.approx([0.3 + (0.15 - 0.3) * step / 24 for step in range(24)])


@each_curriculum
def test_a_curriculum_fits_its_objective(name):
    """Every stretch has a share for each part and names knobs that are there; these are not turned by hand."""
    objective = objectives()[name]
    free = replace(objective, curriculum=())
    for stretch in objective.curriculum:
        assert len(stretch.shares) == len(objective.parts)
        for knob, first, last in stretch.moves:
            assert free.turn({knob: first}) != free.turn({knob: last})
            with pytest.raises(UserError, match=f"has no knob '{knob}'"):
                objective.turn({knob: first})


def test_a_knob_keeps_its_value_where_no_stretch_moves_it():
    moving = (Stretch(0.25), Stretch(0.5, moves=(("mask_ratio", 0.4, 0.2),)), Stretch(0.25))
    assert schedule(moving, 8).knobs["mask_ratio"].tolist() == pytest.approx([0.4, 0.4, 0.4, 0.35, 0.3, 0.25, 0.2, 0.2])
    assert schedule(moving, 8).at(99) == ((), {"mask_ratio": pytest.approx(0.2)}), "the last step goes on"


def test_a_knob_of_one_stage_of_several_moves_alone():
    """ALBERT's n-grams beside BERT's words: the name of the stage says whose share moves."""
    parts = ((0.5, find_objective("n-gram masking")), (0.5, find_objective("MLM")))
    moves = (("ChooseNgrams.mask_ratio", 0.4, 0.2),)
    both = replace(mixture("both", parts, idea="", loss="", source=""), curriculum=(Stretch(1.0, (0.5, 0.5), moves),))
    assert not any("mask_ratio" in name for name in both.knobs)
    late = [next(s for s in part.stages if s.verb == "choose").mask_ratio for part in at_step(both, 5, 10).parts]
    assert late == pytest.approx([0.3, 0.15])


def test_lengths_that_are_not_the_whole_run_are_refused():
    with pytest.raises(UserError, match=r"lengths of a curriculum are \[0.5, 0.4\]; their sum must be 1"):
        schedule((Stretch(0.5), Stretch(0.4)), 10)


@pytest.mark.parametrize("step", [0, 5, 11])
def test_one_cell_of_the_schedule_changes_one_batch(step):
    """The feed reads the very tensor: what is painted is what trains."""
    objective = find_objective("CLM then MLM")
    before = trained(run_with(objective))
    cells = schedule(objective.curriculum, STEPS).shares
    cells[:, step] = cells[:, step].flip(0)
    after = trained(run_with(objective))
    assert [k for k in range(STEPS) if not the_same(before[k], after[k])] == [step]
    assert asked(after[step]) != asked(before[step])


def test_one_value_of_a_moving_knob_changes_one_batch():
    objective = find_objective("MLM from 30 to 15 %")
    before = trained(run_with(objective))
    schedule(objective.curriculum, STEPS).knobs["mask_ratio"][4] = 1.0
    after = trained(run_with(objective))
    assert [k for k in range(STEPS) if not the_same(before[k], after[k])] == [4]
    assert after[4].selected.equal(after[4].maskable)


def test_antlm_trains_each_objective_in_its_stretch():
    """The attention mask changes with the objective (arXiv:2412.03275)."""
    batches = trained(run_with(find_objective("AntLM")))
    assert [asked(batch) for batch in batches] == [["next word"]] * 2 + [["hidden words"]] * 8 + [["next word"]] * 2
    ahead = [bool(batch.inputs.attn_mask.dense().triu(1).any()) for batch in batches]
    assert ahead == [False] * 2 + [True] * 8 + [False] * 2


def test_the_rate_of_gpt_bert_falls():
    """Of 64 words in a row .3 - .15 k/n are hidden in step k of n (released code, mask_p_start and mask_p_end)."""
    run = run_with(find_objective("GPT-BERT"))
    run = replace(run, entry=replace(run.entry, recipe=replace(run.entry.recipe, seq_len=64)))
    rates = []
    for batch in trained(run):
        hidden = batch.targets[0].loss_mask.sum(1)
        rates.append(float((hidden[hidden > 0] / batch.tokens.lengths[hidden > 0]).mean()))
    assert rates == pytest.approx([0.3 - 0.15 * step / STEPS for step in range(STEPS)], abs=1 / 64)


@each_curriculum
@pytest.mark.parametrize("stop", [5, 6])
def test_it_goes_on_exactly_across_a_change(name, stop, tmp_path):
    run = run_with(find_objective(name))
    whole = list(train(run))
    list(train(replace(run, steps=stop, out=tmp_path)))
    rest = list(train(run, checkpoint.load(tmp_path).learner))
    assert losses(rest) == losses(whole)[stop:]
    assert same_weights(rest[0].learner.model, whole[0].learner.model)


def test_with_more_steps_the_stretches_move_and_later_batches_are_drawn_again():
    state = prepared(run_with(find_objective("CLM then MLM")))
    for _ in range(5):
        list(state.step())
    assert asked(state.blocks.at(6)) == ["hidden words"]
    state.learner.turn({"steps": 24})
    assert asked(state.blocks.at(6)) == ["next word"]


def test_a_curriculum_goes_on_within_a_sum_and_within_a_mixture():
    antlm = find_objective("AntLM")
    summed = mixed("sum", ((1.0, antlm), (0.5, find_objective("SOP"))), idea="", loss="", source="")
    nested = mixture("nested", ((1.0, antlm),), idea="", loss="", source="")
    for step, shares in ((0, (1.0, 0.0)), (8, (0.0, 1.0))):
        assert at_step(summed, step, 24).stages[0].shares == shares
        assert at_step(nested, step, 24).parts[0].stages[0].shares == shares
