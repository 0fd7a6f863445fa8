"""Every distillation loss against a plain loop, and against a library's own function where there is one."""

from copy import deepcopy
from dataclasses import replace
from math import exp, log, sqrt

import pytest
import torch
from torch import nn

from playground.compression.distillation import losses
from playground.compression.distillation.reading import read, trace
from playground.corpora.corpus import pick
from tests.compressing import data, teacher

NEAR = {"rel": 1e-5, "abs": 1e-6}


def scores(seed, rows=5, classes=3):
    return torch.randn(rows, classes, generator=torch.Generator().manual_seed(seed))


def softmax(row, temperature=1.0):
    raised = [exp(value / temperature) for value in row]
    return [value / sum(raised) for value in raised]


@pytest.fixture(scope="module")
def readings():
    """A student that is a damaged teacher, the teacher, and their readings of texts of different lengths."""
    known, whole = data(), teacher()
    texts = known.train.pick(torch.arange(6))
    with torch.no_grad():
        ours, theirs = read(_damaged(whole), texts), read(whole, texts)
    assert not bool(theirs.trace.valid.all())
    return ours, theirs


def _damaged(whole):
    other, rng = deepcopy(whole), torch.Generator().manual_seed(1)
    for p in other.parameters():
        p.data.add_(0.1 * torch.randn(p.shape, generator=rng))
    return other


@pytest.mark.parametrize("temperature", [1.0, 2.0, 10.0])
def test_soft_targets(temperature):
    ours, theirs = scores(0), scores(1)
    total = 0.0
    for s, t in zip(ours.tolist(), theirs.tolist(), strict=True):
        p, q = softmax(t, temperature), softmax(s, temperature)
        total += sum(a * log(a / b) for a, b in zip(p, q, strict=True))
    found = float(losses.soft_targets(ours, theirs, temperature))
    assert found == pytest.approx(temperature**2 * total / len(ours), **NEAR)
    library = nn.KLDivLoss(reduction="batchmean")
    soft = library((ours / temperature).log_softmax(-1), (theirs / temperature).softmax(-1)) * temperature**2
    assert found == pytest.approx(float(soft), **NEAR)


def test_soft_targets_differ_from_the_cross_entropy_of_the_survey_only_by_the_teachers_entropy():
    ours, theirs = scores(0), scores(1)
    entropy = -(theirs.softmax(-1) * theirs.log_softmax(-1)).sum(-1).mean()
    survey = nn.functional.cross_entropy(ours, theirs.softmax(-1))
    assert float(losses.soft_targets(ours, theirs, 1.0) + entropy) == pytest.approx(float(survey), **NEAR)


def test_the_gradient_of_soft_targets_does_not_shrink_with_the_temperature():
    slopes = []
    for temperature in (50.0, 200.0):
        ours = scores(0).requires_grad_(True)
        losses.soft_targets(ours, scores(1), temperature).backward()
        slopes.append(float(ours.grad.norm()))
    assert slopes[0] == pytest.approx(slopes[1], rel=0.05)


def test_a_single_score_is_compared_by_its_square():
    ours, theirs = scores(0, classes=1), scores(1, classes=1)
    square = sum((a - b) ** 2 for [a], [b] in zip(ours.tolist(), theirs.tolist(), strict=True)) / len(ours)
    assert float(losses.soft_targets(ours, theirs, 3.0)) == pytest.approx(square, **NEAR)


def test_the_trace_is_what_the_model_computes(readings):
    _, theirs = readings
    known, whole = data(), teacher()
    texts = known.train.pick(torch.arange(6))
    levels = whole.model.hidden_states(texts.tokens)
    for one, other in zip(theirs.trace.states, levels, strict=True):
        assert torch.equal(one, other)
    assert torch.equal(theirs.trace.top, levels[-1])
    assert torch.equal(theirs.scores, whole(texts))
    network, plain = whole.model.network, whole.model._plain(texts.tokens)
    network(plain, whole.model.token_embedding.weight, kept := {})
    weights = kept["encoder"]
    for score, weight, allowed in zip(theirs.trace.attention, weights, theirs.trace.allowed, strict=True):
        soft = score.masked_fill(~allowed, float("-inf")).softmax(-1)
        rows = theirs.trace.valid[:, None, :].expand(soft.shape[:3])
        assert torch.allclose(soft[rows], weight[rows], atol=1e-6)


def test_patient(readings):
    ours, theirs = readings
    mapping, total = [1, 1], []
    for k, t in list(enumerate(mapping))[:-1]:
        for u, v in zip(ours.vectors[k].tolist(), theirs.vectors[t].tolist(), strict=True):
            long, other = sqrt(sum(x * x for x in u)), sqrt(sum(x * x for x in v))
            total.append(sum((x / long - y / other) ** 2 for x, y in zip(u, v, strict=True)))
    assert float(losses.patient(ours, theirs, mapping)) == pytest.approx(sum(total) / len(total), **NEAR)


def test_patient_follows_a_last_layer_that_is_mapped_to_a_lower_one(readings):
    ours, theirs = readings
    total = [
        sum((x / norm(own) - y / norm(other)) ** 2 for x, y in zip(own, other, strict=True))
        for k, t in enumerate([1, 0])
        for own, other in zip(ours.vectors[k].tolist(), theirs.vectors[t].tolist(), strict=True)
    ]
    assert float(losses.patient(ours, theirs, [1, 0])) == pytest.approx(sum(total) / len(total), **NEAR)


def norm(vector):
    return sqrt(sum(x * x for x in vector))


def _mean_square(one, other):
    return sum((x - y) ** 2 for x, y in zip(one, other, strict=True)) / len(one)


def test_embeddings_and_states(readings):
    ours, theirs = (reading.trace for reading in readings)

    def plain(k, t):
        positions = theirs.valid.nonzero().tolist()
        u, v = ([x for b, n in positions for x in trace.states[level][b, n].tolist()] for trace, level in
                ((ours, k), (theirs, t)))  # fmt: skip
        return _mean_square(u, v)

    assert float(losses.state_mse(ours, theirs, 0, 0)) == pytest.approx(plain(0, 0), **NEAR)
    assert float(losses.hidden_mse(ours, theirs, [1, 0])) == pytest.approx(plain(1, 2) + plain(2, 1), **NEAR)


def test_attention(readings):
    ours, theirs = (reading.trace for reading in readings)
    total = 0.0
    for k, t in enumerate([1, 1]):
        cells = theirs.allowed[t].expand_as(theirs.attention[t]).nonzero().tolist()
        u, v = (
            [float(scores[b, h, q, m]) for b, h, q, m in cells] for scores in (ours.attention[k], theirs.attention[t])
        )
        total += _mean_square(u, v)
    assert float(losses.attention_mse(ours, theirs, [1, 1])) == pytest.approx(total, rel=1e-4)


def test_attention_in_bands_counts_the_pairs_that_both_layers_allow(readings):
    ours, theirs = (reading.trace for reading in readings)
    band = theirs.allowed[1].clone()
    band[..., 1:, 0] = False
    other = replace(theirs, allowed=(theirs.allowed[0], band))
    total = 0.0
    for k, t in enumerate([1, 0]):
        cells = (ours.allowed[k] & other.allowed[t]).expand_as(other.attention[t])
        total += float((ours.attention[k] - other.attention[t])[cells].square().mean())
    assert float(losses.attention_mse(ours, other, [1, 0])) == pytest.approx(total, rel=1e-4)
    assert float(losses.attention_mse(ours, other, [1, 0])) != pytest.approx(
        float(losses.attention_mse(ours, theirs, [1, 0])), rel=1e-4
    )
    assert float(losses.attention_transfer(ours, other)) != pytest.approx(
        float(losses.attention_transfer(ours, theirs)), rel=1e-4
    )


def _divergence(ours, theirs, trace):
    rows = []
    for b in range(ours.shape[0]):
        length = int(trace.valid[b].sum())
        for h in range(ours.shape[1]):
            for q in range(length):
                p, s = softmax(theirs[b, h, q, :length].tolist()), softmax(ours[b, h, q, :length].tolist())
                rows.append(sum(x * log(x / y) for x, y in zip(p, s, strict=True)))
    return sum(rows) / len(rows)


def test_minilm(readings):
    ours, theirs = (reading.trace for reading in readings)
    for layer in (0, -1):
        plain = _divergence(ours.attention[layer], theirs.attention[layer], theirs)
        assert float(losses.attention_transfer(ours, theirs, layer)) == pytest.approx(plain, rel=1e-4)
    assert losses.attention_transfer(ours, theirs) == losses.attention_transfer(ours, theirs, 1)
    relations = []
    for trace_ in (ours, theirs):
        values, wide = trace_.values[-1], trace_.values[-1].shape[-1]
        relations.append(torch.einsum("bhnd,bhmd->bhnm", values, values) / sqrt(wide))
    plain = _divergence(*relations, theirs)
    assert float(losses.value_relation(ours, theirs)) == pytest.approx(plain, rel=1e-4)


def test_a_student_that_is_its_teacher_has_nothing_to_learn(readings):
    _, theirs = readings
    same = theirs.trace
    found = [
        losses.soft_targets(theirs.scores, theirs.scores, 2.0),
        losses.patient(theirs, theirs, [0, 1]), losses.hidden_mse(same, same, [0, 1]),
        losses.attention_mse(same, same, [0, 1]), losses.attention_transfer(same, same),
        losses.value_relation(same, same),
    ]  # fmt: skip
    assert torch.stack(found).abs().max() < 1e-6


def test_plain_text_has_a_trace_too():
    known = data()
    some = pick(known.pretraining, torch.arange(2))
    made = trace(known.base.learner.model, some)
    assert torch.equal(made.top, known.base.learner.model.features(some))
    assert [state.shape for state in made.states] == [made.top.shape] * 3
