"""A curriculum that is painted: what is drawn is the line that is typed, and the batches that a run reads."""

from dataclasses import replace

import pytest
import torch

from playground.objectives import find_objective
from playground.objectives.curriculum import schedule
from playground.training import Stepped, train
from tests.runs import alone, run_of
from widgets.state.curriculum_editor import CELLS, PRESETS, CurriculumEditorStore


def test_a_dragged_region_is_painted_undone_and_redone():
    draft = CurriculumEditorStore()
    assert draft.line == "LM 70 % then MLM 30 %"
    draft.paint(1, 1, 1, 4)
    assert draft.line == "MLM 20 % then LM 50 % then MLM 30 %"
    draft.paint(0, 1, 19, 25)
    assert draft.line == "MLM 20 % then LM 50 % then MLM 20 % then LM 10 %", "the lower row"
    draft.go_back(-1)
    draft.go_back(-1)
    draft.go_back(-1)
    assert draft.line == "LM 70 % then MLM 30 %" and draft.history.can == {"undo": False, "redo": True}
    draft.go_back(1)
    assert draft.line == "MLM 20 % then LM 50 % then MLM 30 %"
    draft.paint(0, 0, 1, CELLS)
    assert draft.line == "LM" and draft.objective is find_objective("LM")


def test_an_objective_that_goes_leaves_its_cells_to_the_first():
    draft = CurriculumEditorStore(names=["LM", "MLM", "masked diffusion"])
    draft.paint(2, 2, 11, 20)
    assert draft.line == "LM 50 % then masked diffusion 50 %"
    draft.names = ["MLM", "LM"]
    assert draft.line == "MLM"


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_drawn_is_what_the_run_reads(preset):
    draft = CurriculumEditorStore()
    draft.take(preset)
    drawn = draft.shares
    assert drawn.shape == (2, CELLS) and (drawn.sum(0) == 1).all()
    read = schedule(draft.objective.curriculum, CELLS).shares
    order = [part.name for part in draft.objective.parts]
    assert torch.equal(read, drawn[[draft.names.index(name) for name in order]].double())


def test_a_cell_that_is_painted_changes_the_batches_of_its_steps_and_no_others():
    def asked(draft):
        entry = alone(draft.objective)
        run = run_of(entry=replace(entry, recipe=replace(entry.recipe, steps=CELLS)), steps=CELLS)
        return [event.batch.targets[0].name for event in train(run) if isinstance(event, Stepped)]

    draft = CurriculumEditorStore()
    before = asked(draft)
    draft.paint(1, 1, 5, 6)
    after = asked(draft)
    assert before == ["next word"] * 14 + ["hidden words"] * 6
    assert [k for k in range(CELLS) if before[k] != after[k]] == [4, 5]


def test_what_is_offered_can_take_turns():
    assert {"LM", "MLM", "PLM", "masked diffusion"} <= set(CurriculumEditorStore.options())
    for name in CurriculumEditorStore.options():
        draft = CurriculumEditorStore(names=["LM", name] if name != "LM" else ["LM", "MLM"])
        assert draft.objective.curriculum
