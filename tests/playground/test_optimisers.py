"""The optimisers step as torch's do, to the bit, and a training loads none of the large libraries that it can spare."""

import copy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from playground import optimisers

ROOT = Path(__file__).parents[2]

SPARED = "torch._dynamo", "sympy", "sklearn", "scipy.stats", "pandas"

TRAINED = f"""
import sys
import widgets.app.main
from playground.analysis.instrument import instruments
from playground.inventory import inventory
from playground.models.cost import step_flops
from playground.training import Stepped, train
from tests.runs import learner_of, run_of, tiny
assert instruments() and inventory()
for optimiser in ("adamw", "muon"):
    entry = tiny(optimiser=optimiser)
    batches = [event.batch for event in train(run_of(entry=entry, steps=2)) if isinstance(event, Stepped)]
    assert step_flops(learner_of(optimiser=optimiser).model, batches[-1]) > 0
print([name for name in {SPARED} if name in sys.modules])
"""
"""All pages and instruments are found, two models train, and operations are counted."""


@pytest.mark.parametrize(("name", "settings"), [("AdamW", {"fused": True}), ("AdamW", {}), ("Muon", {})])
def test_a_step_is_that_of_torch(name, settings):
    twins = [nn.Linear(6, 6, bias=False)]
    twins.append(copy.deepcopy(twins[0]))
    makers = getattr(optimisers, name), getattr(torch.optim, name)
    ours, theirs = (make(twin.parameters(), lr=0.1, **settings) for make, twin in zip(makers, twins, strict=True))
    for step in range(4):
        for optimiser, twin in ((ours, twins[0]), (theirs, twins[1])):
            optimiser.zero_grad()
            (twin(torch.eye(6)) - step).square().sum().backward()
            optimiser.step()
        theirs.load_state_dict(copy.deepcopy(ours.state_dict()))
        assert torch.equal(twins[0].weight, twins[1].weight)
    assert not any(state.requires_grad for state in ours.state[twins[0].weight].values())


def test_what_trains_and_is_found_loads_no_large_library():
    done = subprocess.run([sys.executable, "-c", TRAINED], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr
