"""The device of a run by its name, and what makes a GPU compute as the CPU does."""

import pytest
import torch

from playground import devices
from playground.errors import UserError
from tests.runs import in_another_process

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


@pytest.mark.parametrize(("value", "enabled"), [(None, False), ("0", False), ("1", True)])
def test_sums_have_one_order_where_that_is_asked_for_and_fractions_are_whole(monkeypatch, value, enabled):
    monkeypatch.delenv(devices.DETERMINISTIC, raising=False)
    if value is not None:
        monkeypatch.setenv(devices.DETERMINISTIC, value)
    assert in_another_process(ASKED).split() == ["False", str(enabled)]
