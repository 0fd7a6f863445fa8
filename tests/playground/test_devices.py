"""The device of a run by its name, and what makes a GPU compute as the CPU does."""

import re

import pytest
import torch
from safetensors.numpy import save
from safetensors.torch import load
from torch import nn

from playground import devices
from playground.errors import UserError
from tests.runs import ROOT, in_another_process, learner_of
from tests.second_device import SecondTensor, second_device
from tests.waits import Asked

ASKED = """
import torch
from playground import devices
print(torch.backends.cudnn.allow_tf32, torch.are_deterministic_algorithms_enabled())
"""


@pytest.fixture
def two_cards(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


def test_a_card_is_named_by_its_number(two_cards):
    assert devices.pick() == torch.device("cuda")
    assert devices.pick("cuda:1") == torch.device("cuda", 1)


@pytest.mark.parametrize("name", ["cuda:2", "cpu:1", "mps", "cuda:one", "meta"])
def test_a_device_that_is_not_there_is_refused(two_cards, name):
    with pytest.raises(UserError, match=f"Device '{name}' is not on this machine; choose one of: auto, cuda, cpu."):
        devices.pick(name)


def test_a_model_that_somebody_listens_to_is_copied_with_who_listens():
    heard = []
    with second_device() as device:
        model = nn.Linear(2, 2).to(device)
        model.register_forward_hook(lambda *_: heard.append(1))
        copy = devices.on_cpu(model, device)
        assert copy.weight.device.type == "cpu" and copy(torch.ones(2)).shape == (2,) and heard == [1]


def test_a_device_without_numbers_of_64_bits_is_not_used_because_draws_count_with_them(monkeypatch):
    def refused(tensor):
        raise TypeError("Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64.")

    with second_device() as device:
        devices.agrees.cache_clear()
        assert devices.agrees(device.type)
        devices.agrees.cache_clear()
        plain = devices._checked("cpu")
        monkeypatch.setattr(torch.Tensor, "double", refused)
        monkeypatch.setattr(
            devices, "_checked", lambda name, real=devices._checked: plain if name == "cpu" else real(name)
        )
        assert not devices.agrees(device.type)
    devices.agrees.cache_clear()


@pytest.mark.parametrize(("value", "enabled"), [(None, False), ("0", False), ("1", True)])
def test_sums_have_one_order_where_that_is_asked_for_and_fractions_are_whole(monkeypatch, value, enabled):
    monkeypatch.delenv(devices.DETERMINISTIC, raising=False)
    if value is not None:
        monkeypatch.setenv(devices.DETERMINISTIC, value)
    assert in_another_process(ASKED).split() == ["False", str(enabled)]


def test_a_value_of_any_form_is_copied_as_one_and_what_was_the_same_stays_the_same():
    number = torch.arange(6.0, dtype=torch.float64).view(2, 3)
    value = {"a": (number, number.T), "b": [torch.tensor(True), number, torch.zeros(0, dtype=torch.int16)]}
    value["b"].append(torch.arange(5.0))
    value["c"] = torch.arange(3, dtype=torch.int16).expand(4, 3)
    assert devices.on_cpu(value, torch.device("cpu")) is value
    with second_device() as device:
        with Asked(SecondTensor) as asked:
            there = devices.from_cpu(value, device)
            here = devices.on_cpu(there, device)
        assert asked.seen.total() == 2 and there["c"].device == device
        assert devices.on_cpu({}, device) == {}
    assert here["a"][0] is here["b"][1] and here["c"].stride() == (0, 1)
    for one, other in zip((*here["a"], *here["b"], here["c"]), (*value["a"], *value["b"], value["c"]), strict=True):
        assert one.dtype == other.dtype and torch.equal(one, other)
        assert one.data_ptr() % 16 == 0, "a GPU's attention reads 16 bytes at once"


def test_a_model_on_the_cpu_is_another_with_the_same_weights():
    model = learner_of("ELMo").model
    with second_device() as device:
        copy = devices.on_cpu(model.to(device), device)
    assert copy.token_embedding is not model.token_embedding and {p.device.type for p in copy.parameters()} == {"cpu"}
    assert all(torch.equal(copy.state_dict()[name], one.on_cpu) for name, one in model.state_dict().items())


def test_tensors_in_any_order_of_memory_are_written_as_they_are():
    table = torch.arange(12).reshape(3, 4)
    odd = {"turned": table.T, "every other": table[:, ::2], "repeated": torch.ones(1).expand(3), "one": torch.tensor(2)}
    found = load(save(devices.arrays(odd)))
    assert all(torch.equal(found[name], tensor) for name, tensor in odd.items())


def test_every_file_of_tensors_is_written_from_such_arrays():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "playground").rglob("*.py")]
    writers = [text for text in texts if re.search(r"^from safetensors\.\w+ import", text, re.MULTILINE)]
    assert len(writers) >= 4
    assert all(
        "from safetensors.numpy import save" in text and re.search(r"save\w*\(arrays\(|ready = arrays\(", text)
        for text in writers
    )
