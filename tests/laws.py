"""What several files of tests assert: shares and means of draws, equality of examples, how far gradients reach.

Seeds are fixed, and so is the room: five standard errors (objectives reference, 22b), never a second try.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from math import exp, factorial, sqrt

import torch

from playground.batch import Specials
from playground.models import Architecture, make_model, with_required_parts
from playground.models.model import Network
from playground.models.multi_token import FurtherBlock
from playground.objectives.steps import specimens
from playground.rng import generator
from tests.texts import tokens_for

Z = 5
LAYERS = 2


def assert_share(count, number, share):
    """A count of so many draws is within five standard errors of its share."""
    assert abs(count / number - share) <= Z * sqrt(share * (1 - share) / number), (count / number, share)


def assert_law(counts, expected):
    """Chi square of observed counts against expected shares (a mapping), with five standard deviations of room."""
    number = sum(counts.values())
    assert set(counts) <= set(expected)
    assert abs(sum(expected.values()) - 1) < 1e-9
    chi2 = sum((counts.get(k, 0) - number * p) ** 2 / (number * p) for k, p in expected.items())
    free = len(expected) - 1
    assert chi2 <= free + Z * sqrt(2 * free) + 25, (chi2, free)


def assert_mean(values, expected, rounding=0.0):
    """The mean of draws is within five standard errors of what is expected, which may be rounded."""
    error = values.double().std() / sqrt(len(values))
    mean = float(values.double().mean())
    assert abs(mean - expected) <= Z * error + rounding, (mean, expected)


def uniform(outcomes):
    """The law under which every outcome is equally likely."""
    outcomes = list(outcomes)
    return dict.fromkeys(outcomes, 1 / len(outcomes))


def poisson(mean, most):
    """Poisson's law, with all that is not below `most` in one outcome."""
    law = {k: exp(-mean) * mean**k / factorial(k) for k in range(most)}
    return law | {most: 1 - sum(law.values())}


def leaves(value, path=""):
    """Every tensor of a value by its path, and everything else that is not a container."""
    if isinstance(value, Mapping):
        return {k: v for name, item in value.items() for k, v in leaves(item, f"{path}.{name}").items()}
    if isinstance(value, tuple) and not isinstance(next(iter(value), ""), str):
        return {k: v for number, item in enumerate(value) for k, v in leaves(item, f"{path}.{number}").items()}
    if is_dataclass(value) and not isinstance(value, Specials):
        return {
            k: v
            for f in fields(value)
            if f.compare
            for k, v in leaves(getattr(value, f.name), f"{path}.{f.name}").items()
        }
    return {path: value}


def same(one, other):
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def assert_same(one, other):
    first, second = leaves(one), leaves(other)
    assert first.keys() == second.keys()
    assert [path for path in first if not same(first[path], second[path])] == []


def model_for(objective):
    """Two layers in double precision that can answer the objective; far from zero, so that nothing vanishes."""
    batches = specimens(objective, tokens_for(objective), generator(0))
    shape = with_required_parts(Architecture(layers=LAYERS, width=16, heads=2, mlp_ratio=1), *batches)
    return make_model(replace(shape, init="mimetic"), 100, generator(1)).double()


def watched(monkeypatch, network=Network):
    """The embedded streams that every network reads from now on, by the identity of the stream."""
    seen = {}
    embed = network._embed

    def watch(self, stream, table, **how):
        seen[id(stream)] = embed(self, stream, table, **how).detach().requires_grad_()
        return seen[id(stream)]

    monkeypatch.setattr(network, "_embed", watch)
    return seen


def words_read_later(monkeypatch):
    """The vectors `[b, n, w]` of the words that the modules for further words read from now on, module after module."""
    seen, forward = [], FurtherBlock.forward

    def watch(self, hidden, allowed, positions, token=None, weights=None):
        if token is not None:
            token = token.detach().requires_grad_()
            seen.append(token)
        return forward(self, hidden, allowed, positions, token, weights)

    monkeypatch.setattr(FurtherBlock, "forward", watch)
    return seen


def influences(answer, embedded):
    """Which positions `[k, n]` of a stream have any influence on each scored answer's scores."""
    weights = torch.linspace(1.0, 2.0, answer.scores.shape[1], dtype=torch.float64)
    rows = [
        torch.autograd.grad((score * weights).sum(), embedded, retain_graph=True, allow_unused=True)[0]
        for score in answer.scores
    ]
    return torch.stack([torch.zeros(embedded.shape[1]) if g is None else g[0].abs().sum(-1) for g in rows]) > 0
