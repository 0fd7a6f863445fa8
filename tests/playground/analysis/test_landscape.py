"""Slices of a loss whose shape is known."""

import pytest
import torch

from playground.analysis.instrument import instrument_named
from playground.analysis.landscape import (
    filter_normalised,
    flat,
    less,
    line,
    moved,
    principal_plane,
    random_direction,
    random_plane,
    surface,
)  # fmt: skip
from playground.rng import generator
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import run_of, tiny


def weights(seed=0):
    rng = generator(seed, "weights")
    return torch.randn(6, 4, generator=rng).double(), torch.randn(6, generator=rng).double()


def bowl(at):
    """A loss whose value is the squared distance from some weights."""
    return lambda w: float((flat(w) - flat(at)).square().sum())


def test_every_filter_is_as_long_as_that_of_the_weights_and_biases_rest():
    own = weights()
    direction = random_direction(own, generator(1))
    torch.testing.assert_close(direction[0].norm(dim=1), own[0].norm(dim=1))
    assert not bool(direction[1].any())
    scaled = filter_normalised((100 * direction[0], direction[1]), own)
    torch.testing.assert_close(scaled[0], direction[0])


def test_a_scaled_layer_gives_the_same_slice():
    """The point of filter normalisation: a network of the same function with larger weights looks the same."""
    own = weights()
    rng = generator(3).get_state()
    generators = [generator(0), generator(0)]
    for one in generators:
        one.set_state(rng)
    small, large = random_direction(own, generators[0]), random_direction((7 * own[0], own[1]), generators[1])
    torch.testing.assert_close(7 * small[0], large[0])


def test_a_line_through_a_bowl_is_a_parabola():
    start, end = weights(0), weights(1)
    way = less(end, start)
    length = float(flat(way).square().sum())
    found = line(bowl(end), start, way, (-0.5, 0.0, 0.5, 1.0, 1.5))
    assert found == pytest.approx([length * (1 - a) ** 2 for a in (-0.5, 0.0, 0.5, 1.0, 1.5)])


def test_a_path_in_two_dimensions_lies_in_its_plane():
    end, first, second = weights(0), weights(1), weights(2)
    path = [moved(end, (1 - k / 5, first), ((1 - k / 5) ** 2, second)) for k in range(6)]
    plane = principal_plane(path)
    assert plane.share == pytest.approx(1.0)
    assert plane.path[-1].tolist() == pytest.approx([0, 0], abs=1e-9)
    for one, at in zip(path, plane.path.tolist(), strict=True):
        back = moved(plane.centre, (at[0], plane.first), (at[1], plane.second))
        torch.testing.assert_close(flat(back), flat(one))
    lost = random_plane(path, generator(0))
    assert 0 <= lost.share < 0.7


def test_a_surface_is_the_loss_at_its_points():
    end = weights(0)
    plane = random_plane([weights(1), end], generator(0))
    for a, b, loss in surface(bowl(end), plane, (-1.0, 0.0, 0.5), (0.0, 1.0)):
        wanted = (a * flat(plane.first) + b * flat(plane.second)).square().sum()
        assert loss == pytest.approx(float(wanted), abs=1e-9)


def test_both_starts_are_cut_on_the_same_axes():
    run = run_of(entry=tiny("RoBERTa"))
    subject = of_learner(TrainState.new(run.entry, run.corpus.tokenizer.words, 0, run.device), run.corpus, "RoBERTa")
    instrument = instrument_named("loss landscape")
    found = instrument.look(subject, type(instrument.settings)(labels=16, steps=8, texts=8, points=3))
    along, aside, *squares, path = found.tables
    for pair in (squares[:2], squares[2:]):
        assert pair[0].columns["x"] == pair[1].columns["x"] and pair[0].columns["y"] == pair[1].columns["y"]
    for table in (along, aside):
        columns = [name for name in table.columns if name == "position"]
        group = table.columns["of"]
        points = {name: [[c for c, g in zip(table.columns[k], group, strict=True) if g == name] for k in columns]
                  for name in set(group)}  # fmt: skip
        assert len({str(value) for value in points.values()}) == 1
    ends = [k for k, at in enumerate(along.columns["position"]) if at == 0.75 and "unseen" in along.columns["of"][k]]
    assert ends and all(loss > 0 for loss in along.columns["loss"])
    assert path.columns["x"][-1] == pytest.approx(0, abs=1e-6)
