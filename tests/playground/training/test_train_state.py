"""What a step asks of its device: a GPU computes beside Python, which must not wait for a value in every step."""

from contextlib import nullcontext
from itertools import islice

import pytest
import torch

from playground import devices
from playground.errors import UserError
from playground.objectives import find_objective
from playground.training import Session, Stepped, loop, train
from playground.training.events import read_losses
from playground.training.loop import prepared
from playground.training.parallel.seeds import Observer, Point, train_seed, train_seeds
from playground.training.parallel.stacked_seeds import SeedStack
from playground.training.store.metrics import Summary, read_rows, recorded
from playground.training.store.runs import Runs
from playground.training.train_state import TrainState
from tests.runs import (
    alone,
    becomes,
    every_entry_or_kind,
    every_objective_or_row,
    learner_of,
    run_of,
    suited_reviews,
    tiny,
)
from tests.second_device import SecondTensor, second_device
from tests.waits import Asked


def asked_in_two_steps(course, kind=torch.Tensor):
    for _ in range(2):
        list(course.step())
    with Asked(kind) as asked:
        for _ in range(2):
            list(course.step())
    return asked.seen


@pytest.mark.parametrize("name", ["RoBERTa", "GPT", "XLNet", "BART", "ELECTRA", "UniLM", "ELMo", "CoVe", "context2vec"])
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
    alone = blocks.learner.batch(blocks.feed.at(3), 3)
    assert torch.equal(first.inputs.ids, alone.inputs.ids) and torch.equal(first.actions, alone.actions)


def test_the_count_finds_what_it_looks_for():
    mask, plain = torch.tensor([True, False]), torch.Tensor.tolist
    with Asked() as asked:
        mask.nonzero(), float(mask[0]), mask[mask], mask.tolist()
    assert asked.seen == {"aten::nonzero": 1, "aten::_local_scalar_dense": 1, "aten::index.Tensor": 1, "tolist": 1}
    assert torch.Tensor.tolist is plain


@pytest.fixture
def beside(monkeypatch):
    """The CPU as a device that computes beside Python, in name only."""
    monkeypatch.setattr(devices, "computes_beside", lambda device: True)


def test_losses_are_read_some_steps_at_once_where_reading_waits(tmp_path, beside):
    run = run_of(steps=24, save_every=16, evaluate_every=100, out=tmp_path)
    plain = [float(e.loss) for e in train(run) if isinstance(e, Stepped)]
    lines, seen, summary = tmp_path / "metrics.jsonl", [], Summary(run)
    for event in recorded(run, train(run)):
        with Asked() as asked:
            summary.read(event)
        assert not asked.seen
        if isinstance(event, Stepped):
            seen.append(lines.read_text(encoding="utf-8").count('"loss"'))
    assert seen == [0] * 9 + [10] * 6 + [16] * 4 + [20] * 4 + [24]
    assert [row["loss"] for row in read_rows(lines) if "loss" in row] == plain
    assert summary.facts()["loss"]["train"] == pytest.approx(sum(plain) / 24)


def test_the_page_the_list_of_runs_and_the_folder_wait_once_for_ten_steps(tmp_path, beside):
    """All that reads the losses of a run on the Train page, after its block of steps is drawn."""
    run = run_of(steps=50, evaluate_every=100, out=tmp_path / "run")
    session, steps = Session(run), []
    events = recorded(run, Runs(tmp_path).recorded("run", run, train(run)))
    for event in events:
        session._read(event)
        if isinstance(event, Stepped) and event.step == 10:
            break
    with Asked() as asked:
        for event in islice(events, 30):
            session._read(event)
            steps.append((event.step, session.rows[-1].step))
    assert steps[0] == (11, 10) and steps[-2:] == [(39, 30), (40, 40)]
    assert asked.seen == {"tolist": 3}


def test_a_session_that_rests_has_all_its_points(beside):
    session = Session(run_of(steps=100))
    for step in (1, 2, 3):
        session.step()
        assert becomes(lambda: session.rests and session.rows[-1].step == step)  # noqa: B023
    session.stop()
    assert [row.step for row in session.rows] == [0, 1, 2, 3]


def test_a_run_that_is_refused_midway_keeps_all_its_points(tmp_path, beside, monkeypatch):
    """On the page, in the list of runs and among the points of a seed."""
    learn, runs = TrainState.learn, Runs(tmp_path)

    def short(self, *how):
        if self.step == 16:
            raise UserError("The memory is too small.")
        return learn(self, *how)

    monkeypatch.setattr(TrainState, "learn", short)
    run = run_of(steps=40)
    session = Session(run, record=lambda run, events: runs.recorded("run", run, events)).start()
    assert becomes(lambda: session.state == "failed") and session.error == "The memory is too small."
    assert [row.step for row in session.rows] == [*range(17)]
    assert [row.step for row in runs.points("run")] == [*range(17)]
    points, seen = train_seed(run, 0), []
    with pytest.raises(UserError):
        seen.extend(each.row.step for some in points for each in some)
    assert seen == [*range(17)]


def test_stacked_seeds_stay_side_by_side_where_losses_are_read_some_at_once(beside, monkeypatch):
    taken, gradients = [], SeedStack.gradients
    monkeypatch.setattr(SeedStack, "gradients", lambda self, *how: taken.append(how) or gradients(self, *how))
    points = [each for each in train_seeds(run_of(steps=12), (0, 1), parallelism="vmap") if isinstance(each, Point)]
    assert len(taken) == 12
    for seed in (0, 1):
        steps = [point.row.step for point in points if point.seed == seed and point.row.loss is not None]
        assert steps == [*range(1, 13)]


def test_seeds_that_are_halted_hand_out_all_points_of_the_step_they_are_at(beside, tmp_path):
    observer = Observer.of({0: tmp_path})
    seen = []
    points = observer.controlled(train_seed(run_of(steps=40), 0, observer=observer))
    for number, some in enumerate(points, 1):
        seen += [each.row.step for each in some if each.row.loss is not None]
        if number == 15:  # the start, an evaluation and 13 steps
            observer.halt.set()
    assert seen == [*range(1, 14)]


def test_a_look_is_taken_after_all_steps_so_far_and_not_charged_for_them(beside):
    looked = []
    session = Session(run_of(steps=30), look=lambda learner: looked.append((learner.step, session.rows[-1].step)))
    session.viewer.budget = Always()
    session.viewer.watch()
    session.start()
    assert becomes(lambda: session.state == "done")
    assert len(looked) > 10 and all(step == shown for step, shown in looked)


class Always:
    """A budget that allows everything."""

    allows = True
    spending = nullcontext


@pytest.mark.parametrize(("waits", "seconds"), [(False, 0), (True, 30)])
def test_the_clock_of_a_run_counts_what_the_device_still_had_to_do(monkeypatch, waits, seconds):
    """A device that is done with ten steps ten seconds after it was asked for their losses."""
    now = [0.0]

    def slowly(steps):
        assert len(steps) == 10
        now[0] += 10.0
        read_losses(steps)

    monkeypatch.setattr(devices, "computes_beside", lambda device: waits)
    monkeypatch.setattr(loop, "read_losses", slowly)
    monkeypatch.setattr(loop.time, "perf_counter", lambda: now[0])
    last = [e for e in train(run_of(steps=30)) if isinstance(e, Stepped)][-1]
    assert last.seconds == seconds


@every_entry_or_kind
def test_no_entry_waits_in_a_steady_step(name):
    with second_device() as device:
        assert not asked_in_two_steps(prepared(run_of(entry=tiny(name, steps=100), device=device)), SecondTensor)


@every_objective_or_row
def test_no_objective_waits_in_a_steady_step(name):
    with second_device() as device:
        assert not asked_in_two_steps(prepared(run_of(entry=alone(find_objective(name)), device=device)), SecondTensor)


@pytest.mark.parametrize("name", ["GPT", "Transformer-XL"])
def test_a_mask_that_is_a_flag_is_made_where_the_weights_are(name):
    """With dropout all attention weights are computed, under a mask of cells."""
    entry = tiny(name, model={"dropout": 0.1, "mem_len": 0})
    with second_device() as device:
        assert not asked_in_two_steps(prepared(run_of(entry=entry, device=device)), SecondTensor)


def test_one_answer_of_the_device_says_whether_all_weights_are_sound():
    learner = learner_of()
    for loss in (None, torch.ones(())):
        with Asked() as asked:
            assert learner.sound(loss)
        assert sum(asked.seen.values()) == 1


def test_all_gradients_are_measured_with_one_answer_of_the_device():
    course = prepared(run_of("BART", sizes_every=1))
    assert asked_in_two_steps(course) == {"tolist": 2}


@pytest.mark.parametrize(
    ("name", "counted"), [("BERT", ["hidden words", "pair"]), ("StructBERT", ["hidden words", "word order", "pair"]),
                          ("ELECTRA", ["replaced?"]), ("RoBERTa", ["hidden words"])],
)  # fmt: skip
def test_the_pre_training_loss_is_all_that_trains_without_a_generator(name, counted):
    course = prepared(run_of(entry=tiny(name)))
    learner, text = course.learner, course.held_out
    terms = learner.evaluate(text)
    assert {*counted} == {*terms} - {"hidden words" if name == "ELECTRA" else ""}
    assert learner.pretraining_loss(text) == pytest.approx(sum(terms[each] for each in counted))
