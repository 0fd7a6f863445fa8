"""What a step asks of its device: a GPU computes beside Python, which must not wait for a value in every step."""

import pytest
import torch

from playground.objectives import find_objective
from playground.training import Stepped, train
from playground.training.loop import prepared
from playground.training.store import metrics
from playground.training.store.metrics import Summary, recorded
from tests.runs import alone, run_of, suited_reviews
from tests.waits import Asked


def asked_in_two_steps(course):
    for _ in range(2):
        list(course.step())
    with Asked() as asked:
        for _ in range(2):
            list(course.step())
    return asked.seen


@pytest.mark.parametrize("name", ["RoBERTa", "GPT", "XLNet", "BART", "ELECTRA"])
@pytest.mark.parametrize("each", [1, 2, 3])
def test_a_step_between_two_reads_asks_the_device_for_no_value(name, each):
    """Also in parts, and where a generator answers: all that must be counted was counted with a block of steps."""
    course = prepared(run_of(name))
    course.learner.turn({"grad_accum_steps": each})
    assert not asked_in_two_steps(course)


@pytest.mark.parametrize("name", ["NSP", "SOP", "TLM"])
@pytest.mark.parametrize("each", [1, 3])
def test_nor_does_one_on_rows_that_end_at_different_places(name, each):
    objective = find_objective(name)
    course = prepared(run_of(entry=alone(objective, grad_accum_steps=each), corpus=suited_reviews(objective)))
    assert course.blocks.at(0).tokens.padded and course.blocks.at(0).inputs.padded
    assert not asked_in_two_steps(course)


def test_a_block_is_where_the_device_is_asked():
    with Asked() as asked:
        prepared(run_of("ELECTRA")).blocks.at(0)
    assert asked.seen["tolist"] and asked.seen["aten::nonzero"]


def test_a_step_of_electra_that_is_taken_again_is_the_same():
    """What was opened for it is still there; the generator's words follow from its weights and the same chance."""
    blocks = prepared(run_of("ELECTRA")).blocks
    first, later, again = blocks.at(3), blocks.at(4), blocks.at(3)
    assert torch.equal(first.inputs.ids, again.inputs.ids) and not torch.equal(first.inputs.ids, later.inputs.ids)
    alone = blocks.learner.example(blocks.feed.at(3), 3)
    assert torch.equal(first.inputs.ids, alone.inputs.ids) and torch.equal(first.actions, alone.actions)


def test_the_count_finds_what_it_looks_for():
    mask, plain = torch.tensor([True, False]), torch.Tensor.tolist
    with Asked() as asked:
        mask.nonzero(), float(mask[0]), mask[mask], mask.tolist()
    assert asked.seen == {"aten::nonzero": 1, "aten::_local_scalar_dense": 1, "aten::index.Tensor": 1, "tolist": 1}
    assert torch.Tensor.tolist is plain


class Beside:
    """A device that computes beside Python, in name only."""

    type = "cuda"


def test_losses_are_read_some_steps_at_once_where_reading_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(metrics, "describe", lambda device: "a GPU")
    run = run_of(steps=24, save_every=16, evaluate_every=100, out=tmp_path)
    plain = [float(e.loss) for e in train(run) if isinstance(e, Stepped)]
    object.__setattr__(run, "device", Beside())
    lines, seen, summary = tmp_path / "metrics.jsonl", [], Summary(run)
    events = recorded(run, (e for e in train(run_of(steps=24, evaluate_every=100))))
    for event in events:
        with Asked() as asked:
            summary.read(event)
        assert not asked.seen
        if isinstance(event, Stepped):
            seen.append(lines.read_text(encoding="utf-8").count('"loss"'))
    assert seen == [0] * 9 + [10] * 6 + [16] * 8 + [16]
    assert lines.read_text(encoding="utf-8").count('"loss"') == 24
    assert summary.facts()["loss"]["train"] == pytest.approx(sum(plain) / 24)
