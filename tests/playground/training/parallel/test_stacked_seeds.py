"""Several seeds as one stack: the curves, checkpoints and endings of seeds that are trained one by one."""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from playground.objectives import find_objective
from playground.training.memory import estimate
from playground.training.parallel import seeds as room
from playground.training.parallel.seeds import Finished, Point, bands, stacks, train_seeds
from playground.training.parallel.stacked import StackedParameters, widened
from tests.runs import alone, run_of, tiny

SEEDS = (0, 1, 2)


@pytest.fixture
def _exactly():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def small(name, **recipe):
    return run_of(entry=replace(tiny(name, **recipe), phases=()), steps=6, evaluate_every=3)


def points(events):
    """Every number on the curves, by seed and step."""
    rows = [(p.seed, p.row) for p in events if isinstance(p, Point)]
    return {(seed, row.step, what): getattr(row, what) for seed, row in rows for what in ("loss", "held_out")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["RoBERTa", "GPT", "GPT-3", "BART", "UniLM"])
@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
@pytest.mark.usefixtures("_exactly")
def test_stacked_seeds_have_the_curves_of_seeds_alone(name, optimiser, tmp_path):
    run = small(name, optimiser=optimiser)
    found = {}
    for way in ("processes", "vmap"):
        events = list(train_seeds(replace(run, out=tmp_path / way), SEEDS, parallelism=way))
        found[way] = points(events)
        assert sorted(e.seed for e in events if isinstance(e, Finished)) == list(SEEDS)
        assert all(e.facts["steps"] == 6 for e in events if isinstance(e, Finished))
        assert bands(e for e in events if isinstance(e, Point))[-1].seeds == 3
    assert found["vmap"] == pytest.approx(found["processes"], abs=1e-10)
    for one in (tmp_path / "processes").glob("*/checkpoint.safetensors"):
        other = load_file(tmp_path / "vmap" / one.parent.name / one.name)
        for key, value in load_file(one).items():
            assert torch.allclose(value.double(), other[key].double(), atol=1e-9), key


@pytest.mark.usefixtures("_exactly")
def test_stacked_seeds_read_their_second_positions():
    run = run_of(entry=replace(tiny("GPT"), objective=find_objective("any-order LM")), steps=3, evaluate_every=3)
    found = [points(train_seeds(run, SEEDS, parallelism=way)) for way in ("processes", "vmap")]
    assert found[1] == pytest.approx(found[0], abs=1e-10)


@pytest.mark.usefixtures("_exactly")
def test_stacked_seeds_read_their_labels():
    early = find_objective("label-aware MLM").parts[0]
    run = run_of(entry=replace(tiny("SentiLR"), objective=early), steps=3, evaluate_every=3)
    found = [points(train_seeds(run, SEEDS, parallelism=way)) for way in ("processes", "vmap")]
    assert found[0] == pytest.approx(found[1], abs=1e-10)


def test_the_points_of_stacked_seeds_come_side_by_side():
    order = [p.seed for p in train_seeds(small("RoBERTa"), (3, 4), parallelism="vmap") if isinstance(p, Point)]
    assert order != sorted(order)
    assert set(order[:4]) == {3, 4}


def test_stacked_seeds_go_on_where_they_were_cut_off(tmp_path):
    run = replace(small("RoBERTa"), out=tmp_path / "cut")
    whole = points(train_seeds(replace(run, out=None), (0, 1), parallelism="vmap"))
    list(train_seeds(replace(run, steps=3), (0,)))
    rest = points(train_seeds(run, (0, 1), resume=True, parallelism="vmap"))
    late = {at: value for at, value in whole.items() if at in rest}
    assert {at for at in rest if at[0] == 0 and at[2] == "loss" and at[1] <= 3} == set(), "seed 0 had three steps"
    assert rest == pytest.approx(late, abs=1e-3)


WHY = {
    "ELECTRA": (small("ELECTRA"), "a second network"),
    "XLNet": (small("XLNet"), "not single tokens"),
    "SentiLR": (small("SentiLR"), "its own part of a mixture"),
    "parts": (small("RoBERTa", grad_accum_steps=2), "come in parts"),
    "by lot": (run_of(entry=alone(find_objective("label-aware MLM"))), "its own part of a mixture"),
    "measured": (replace(small("RoBERTa"), sizes_every=2), "layer by layer"),
}


@pytest.mark.parametrize("case", WHY)
def test_seeds_that_cannot_be_stacked_run_apart_with_a_sentence(case):
    run, said = WHY[case]
    parts, sentence = stacks(run, SEEDS, "vmap")
    assert parts == []
    assert sentence.startswith("The seeds run separately, not stacked: ")
    assert said in sentence


def test_seeds_that_would_not_fit_are_stacked_a_few_at_a_time(monkeypatch):
    run = small("RoBERTa")
    need = estimate(run.entry, len(run.corpus.tokenizer))
    monkeypatch.setattr(room, "available", lambda device: int(2.5 * need / 0.8))
    parts, sentence = stacks(run, range(4), "vmap")
    assert [list(part) for part in parts] == [[0, 1], [2, 3]]
    assert "2 at a time" in sentence
    assert stacks(run, range(4), "auto") == ([], ""), "on a CPU nothing is stacked unless asked for"


def test_parameters_of_lanes_are_views_of_the_stack():
    models = [torch.nn.Linear(3, 2) for _ in range(2)]
    rows = StackedParameters.of(models, ["weight", "bias"])
    assert rows.flat.shape == (2, 8 + 4)
    assert all(p.data_ptr() % 16 == 0 for model in models for p in model.parameters()), "a GPU's attention needs that"
    rows.flat[1] = 7.0
    assert models[1].weight.unique().tolist() == [7.0]
    assert rows.parts["bias"][1].tolist() == [7.0, 7.0]


def test_the_step_of_a_stack_is_that_of_adamw_and_a_rate_of_0_leaves_every_bit():
    models = [torch.nn.Linear(3, 2).double() for _ in range(2)]
    start = models[1].weight.detach().clone()
    alone = torch.nn.Linear(3, 2).double()
    alone.load_state_dict(models[0].state_dict())
    rows = StackedParameters.of(models, ["weight", "bias"])
    adam = torch.optim.AdamW(alone.parameters(), lr=0.1, betas=(0.9, 0.98), weight_decay=0.01)
    for step in range(5):
        slopes = torch.arange(16, dtype=torch.float64).view(2, 8) - 3 * step
        rows.parts["weight"].grad, rows.parts["bias"].grad = slopes[:, :6].view(2, 2, 3), slopes[:, 6:]
        for p, slope in zip(alone.parameters(), slopes[0].split([6, 2]), strict=True):
            p.grad = slope.view(p.shape)
        adam.step()
        gradient, reached = rows.taken()
        rows.adamw(
            gradient,
            reached & torch.tensor([[True], [False]]),
            torch.tensor([0.1, 0.0]),
            torch.tensor([0.01, 0.01], dtype=torch.float64),
        )
    assert torch.allclose(models[0].weight, alone.weight, atol=1e-14)
    assert torch.equal(models[1].weight, start)


def test_what_is_smaller_is_filled_up_behind():
    assert widened([torch.tensor([[1, 2]]), torch.tensor([[3], [4]])], 9).tolist() == [
        [[1, 2], [9, 9]],
        [[3, 9], [4, 9]],
    ]
