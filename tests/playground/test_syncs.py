"""What a step asks of its device: a GPU computes beside Python, which must not wait for a value in every step."""

from collections import Counter

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from playground.training import Stepped, record, train
from playground.training.loop import prepared
from playground.training.record import Summary, recorded
from tests.runs import run_of

ASKING = (
    "aten::_local_scalar_dense aten::nonzero aten::equal aten::is_nonzero aten::masked_select aten::_unique2 "
    "aten::unique_consecutive aten::unique_dim aten::repeat_interleave.Tensor aten::_assert_async"
).split()
"""Operations whose answer, or its shape, must come from the device before Python goes on."""


class Asked(TorchDispatchMode):
    """Counts the operations that wait for the device."""

    def __init__(self):
        super().__init__()
        self.seen = Counter()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        name = operation.name()
        index = args[1] if name.startswith("aten::index") and len(args) > 1 and isinstance(args[1], list) else []
        if name in ASKING or any(i is not None and i.dtype == torch.bool for i in index):
            self.seen[name] += 1
        return operation(*args, **(kwargs or {}))


def asked_in_two_steps(course):
    for _ in range(2):
        list(course.step())
    with Asked() as asked:
        for _ in range(2):
            list(course.step())
    return asked.seen


@pytest.mark.parametrize("name", ["BERT", "GPT", "XLNet", "BART"])
@pytest.mark.parametrize("each", [1, 2])
def test_a_step_between_two_reads_asks_the_device_for_no_value(name, each):
    course = prepared(run_of(name))
    course.learner.turn({"accumulate": each})
    assert (each == 1) == (not asked_in_two_steps(course))


def test_electra_asks_where_its_generator_answers_in_every_step():
    """The batch of a step depends on the weights of that step, so it is not drawn and counted with a block."""
    assert set(asked_in_two_steps(prepared(run_of("ELECTRA")))) == {"aten::nonzero", "aten::_local_scalar_dense"}


def test_the_count_finds_what_it_looks_for():
    mask = torch.tensor([True, False])
    with Asked() as asked:
        mask.nonzero(), float(mask[0]), mask[mask]
    assert asked.seen == {"aten::nonzero": 1, "aten::_local_scalar_dense": 1, "aten::index.Tensor": 1}


class Beside:
    """A device that computes beside Python, in name only."""

    type = "cuda"


def test_losses_are_read_some_steps_at_once_where_reading_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "describe", lambda device: "a GPU")
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
