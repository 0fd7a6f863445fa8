"""Every entry trains where its run says: no tensor is left behind on the CPU and none is made there."""

from contextlib import nullcontext
from math import isfinite

import pytest
import torch

from playground.models.model import Network
from playground.rng import generator
from playground.training import data
from playground.training.loop import prepared
from tests.runs import each_kind, every_entry_or_kind, run_of
from tests.second_device import MixedDevices, second_device


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Batches are cut from a block of two steps: each operation of that device goes by way of Python."""
    monkeypatch.setattr(data, "STEPS", 2)


@every_entry_or_kind
def test_an_entry_trains_and_is_looked_into_on_another_device_than_the_cpu(name):
    with second_device() as device:
        state = prepared(run_of(name, device=device))
        [stepped] = state.step()
        assert isfinite(float(stepped.loss))
        model = state.learner.model.eval()
        assert {p.device for p in model.parameters()} == {device}
        assert model.features(state.blocks.feed.evaluation(8)).device == device
        assert all(weights.device == device for weights in model.attention(stepped.example).values())


@each_kind
def test_it_learns_there_what_it_learns_on_the_cpu(name):
    here, there = [], []
    for losses, device in ((here, second_device()), (there, nullcontext(torch.device("cpu")))):
        with device as where:
            state = prepared(run_of(name, device=where))
            stepped, evaluated = *state.step(), *state.evaluate()
            losses += [float(stepped.loss), evaluated.held_out]
    assert there == pytest.approx(here, abs=1e-4)


@each_kind
def test_a_constant_that_is_made_on_the_cpu_in_a_forward_pass_is_found(name, monkeypatch):
    embed = Network._finish
    monkeypatch.setattr(Network, "_finish", lambda self, x, *how: embed(self, x, *how) + torch.zeros(x.shape[-1]))
    with second_device() as device, pytest.raises(MixedDevices, match=r"aten::add of meta .*, cpu"):
        list(prepared(run_of(name, device=device)).step())


def test_numbers_and_indices_may_come_from_the_cpu_and_nothing_else():
    with second_device() as device:
        there, here = torch.arange(6, device=device), torch.arange(6)
        assert (there * torch.tensor(2)).tolist() == [0, 2, 4, 6, 8, 10]
        assert there[here[:2]].device == there.to(device).device == here.to(device).device == device
        assert torch.equal(there.cpu(), here)
        for mixed in (lambda: there + here, lambda: here[there], lambda: torch.cat([there, here])):
            with pytest.raises(MixedDevices):
                mixed()
        with pytest.raises(MixedDevices, match="rand on cpu by a generator of meta"):
            torch.rand(3, generator=generator(0, device=device.type))
        with pytest.raises(MixedDevices, match="rand on meta by a generator of cpu"):
            torch.rand(3, generator=generator(0), device=device)
