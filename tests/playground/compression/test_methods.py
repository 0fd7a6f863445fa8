"""What single methods do: masks, importance, curvature, planks and exits, against plain computations."""

import re
import sys
from copy import deepcopy
from dataclasses import replace
from math import exp, log

import pytest
import torch
from torch import nn

from playground.compression import Pipeline, find_method, methods
from playground.compression.classifier import kept_heads, score_all, uncertainty
from playground.compression.distillation.reading import read
from playground.compression.distillation.students import layer_mapping
from playground.compression.importance import head_importance
from playground.compression.masks import gradual, zero_smallest
from playground.compression.method import Compressed
from playground.compression.methods.dual_train import FewWords, MixedWords, projection_loss, shared_projections
from playground.compression.methods.factorised_embeddings import factorise
from playground.compression.methods.layer_dropping import layers_kept
from playground.compression.methods.mixed_precision import top_eigenvalue
from playground.compression.methods.movement_pruning import TopScores
from playground.compression.methods.theseus import ReplaceModules
from playground.compression.storage import load, save
from playground.compression.training import StepBatch
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.zoo.recipe import BETAS
from tests.compressing import data, quick, state, teacher


def test_the_gradual_schedule_is_cubic_and_ends_exactly():
    assert [gradual(0.8, step, 4) for step in (0, 4, 9)] == [0.0, 0.8, 0.8]
    assert gradual(0.8, 2, 4) == pytest.approx(0.8 * (1 - 0.5**3))


@pytest.mark.parametrize("together", [True, False])
def test_the_smallest_weights_become_zero(together):
    made = deepcopy(teacher())
    names = [f"model.network.encoder.blocks.{k}.mlp.fc{n}.weight" for k in (0, 1) for n in (1, 2)]
    before = {name: made.get_parameter(name).detach().clone() for name in names}
    zero_smallest(made, names, 0.25, together)
    after = torch.cat([made.get_parameter(name).flatten() for name in names])
    assert float((after == 0).float().mean()) == pytest.approx(0.25, abs=1e-3)
    pools = [names] if together else [[name] for name in names]
    for pool in pools:
        gone = torch.cat([before[n][made.get_parameter(n) == 0].abs() for n in pool])
        left = torch.cat([before[n][made.get_parameter(n) != 0].abs() for n in pool])
        assert gone.max() <= left.min()


def test_the_score_of_a_weight_learns_as_movement_pruning_says():
    weight = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)).requires_grad_(True)
    top, target = TopScores(weight), torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    top.sparsity, top.scores.data = 0.5, torch.arange(12.0).view(4, 3)
    masked = top(weight)
    assert torch.equal(masked == 0, torch.arange(12).view(4, 3) < 6)
    (masked * target).sum().backward()
    assert torch.allclose(top.scores.grad, target * weight)
    assert torch.equal(weight.grad, target * top.mask(weight))


def test_head_importance_is_the_mean_slope_text_by_text():
    """Finite differences of a factor on one head, one text at a time."""
    known, made = data(), teacher().double()
    try:
        texts = known.train.pick(torch.arange(3))
        found = head_importance(made, texts)[1][2]
        attn = made.model.network.encoder.layers[1].attn
        wide, slopes = attn.out.in_features // attn.heads, []
        for k in range(3):
            one = texts.pick(torch.tensor([k]))
            values = []
            for factor in (1 - 1e-5, 1 + 1e-5):
                kept = attn.out.weight.data.clone()
                attn.out.weight.data[:, 2 * wide : 3 * wide] *= factor
                with torch.no_grad():
                    values.append(float(one.answer.loss(made(one), one.labels)))
                attn.out.weight.data = kept
            slopes.append(abs(values[1] - values[0]) / 2e-5)
        assert float(found) == pytest.approx(sum(slopes) / 3, rel=1e-3)
    finally:
        teacher().float()


def test_heads_that_are_cut_are_gone_and_the_others_answer_as_with_zeros():
    known, whole = data(), teacher()
    made = Pipeline((find_method("head pruning(chosen=1.2 2.4)"),)).apply(whole, known)
    zeroed = deepcopy(whole)
    for layer, head in ((0, 1), (1, 3)):
        zeroed.model.network.encoder.layers[layer].attn.out.weight.data[:, head * 4 : head * 4 + 4] = 0.0
    assert [block.attn.query.weight.shape for block in made.classifier.model.network.encoder.layers] == [(12, 16)] * 2
    assert torch.allclose(score_all(made.classifier, known.test), score_all(zeroed, known.test), atol=1e-5)
    assert made.curves["heads cut"] == [[1, 2], [2, 4]]


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ("1.9", "There is no head 1.9"),
        ("one", "write heads as layer.head"),
        ("1.1 1.2 1.3 1.4", "every head of layer 1"),
    ],
)
def test_heads_that_cannot_be_cut_are_refused(chosen, sentence):
    with pytest.raises(UserError, match=sentence):
        find_method(f"head pruning(chosen={chosen})").step.apply(Compressed.whole(teacher()).copy(), data(), None)


def test_which_layers_stay():
    assert layers_kept(12, 6, "every second") == [0, 2, 4, 6, 8, 10]
    assert layers_kept(4, 2, "first") == [0, 1]
    assert layers_kept(4, 2, "last") == [2, 3]


def test_a_student_follows_every_second_or_the_last_layers():
    """PKD with 3 layers of 12, as in the paper: 4, 8 and 12, or 10, 11 and 12, here from 0 and for 4 layers."""
    assert [k + 1 for k in layer_mapping(4, 2, "every")] == [2, 4]
    assert [k + 1 for k in layer_mapping(4, 2, "last")] == [3, 4]


@pytest.mark.parametrize(("line", "loss"), [("PKD", "patient"), ("TinyBERT", "hidden_mse")])
def test_the_layers_that_are_mapped_by_hand_are_those_of_the_loss(line, loss, monkeypatch):
    module = sys.modules[type(find_method(line).step).__module__]
    plain, seen = getattr(module, loss), []

    def heard(student, teacher, mapping):
        seen.append(mapping)
        return plain(student, teacher, mapping)

    monkeypatch.setattr(module, loss, heard)
    made = quick(line, mapping="3 1").apply(teacher(4), data(4))
    assert seen
    assert all(mapping == [2, 0] for mapping in seen)
    assert made.layers == ((3,), (1,))


@pytest.mark.parametrize("mapping", ["2", "1 2 3", "2 9", "0 4", "two 4", "", "2,4"])
def test_a_mapping_that_cannot_be_is_refused(mapping):
    with pytest.raises(
        UserError, match=re.escape(f"mapping is {mapping!r}; ") + r".*\(2\).* teacher's 4 .*, like 2 4\.$"
    ):
        layer_mapping(4, 2, mapping)


def test_layers_are_those_of_the_uncompressed_model_also_after_two_methods():
    made = Pipeline((*quick("layer dropping(layers=3)", layers=3).methods, *quick("PKD", layers=1).methods))
    assert made.apply(teacher(4), data(4)).layers == ((3,),)
    made = Pipeline((*quick("layer dropping(dropped=bottom)", layers=2).methods, *quick("Theseus", layers=1).methods))
    assert made.apply(teacher(4), data(4)).layers == ((3, 4),)


def test_a_table_of_low_rank_is_factorised_without_loss():
    known, whole = data(), deepcopy(teacher())
    table = whole.model.token_embedding.weight
    u, s, v = torch.linalg.svd(table.detach(), full_matrices=False)
    table.data = u[:, :4] * s[:4] @ v[:4]
    made = factorise(whole, 4)
    assert torch.allclose(score_all(made, known.test), score_all(whole, known.test), atol=1e-4)
    ours, theirs = (c.model.lm_head(torch.ones(1, 16), c.model.token_embedding.weight) for c in (made, whole))
    assert torch.allclose(ours, theirs, atol=1e-4)
    with pytest.raises(UserError, match="has narrow vectors already"):
        factorise(made, 2)


def test_the_largest_curvature_is_that_of_the_whole_hessian():
    known, whole = data(), deepcopy(teacher()).double()
    name, texts = "model.network.encoder.blocks.1.attn.out.weight", known.train.pick(torch.arange(8))
    weight = whole.get_parameter(name)

    def loss(value):
        scores = torch.func.functional_call(whole, {name: value.view_as(weight)}, (texts,))
        return texts.answer.loss(scores, texts.labels)

    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        hessian = torch.autograd.functional.hessian(loss, weight.detach().flatten())
    largest = max(torch.linalg.eigvalsh(hessian).tolist(), key=abs)
    found = top_eigenvalue(whole.float(), [name], texts, torch.Generator().manual_seed(0), 60)
    assert found == pytest.approx(largest, rel=0.02)


def test_planks_are_replaced_more_and_more_often_until_all_are():
    step = methods()["Theseus"].step
    assert step.chance(0) == step.base_rate
    assert step.chance(round(step.rise * step.steps)) == 1.0
    made = quick("Theseus").apply(teacher(4), data(4))
    assert made.layers == ((1, 2), (3, 4))
    assert len(made.curves["planks"]) == 3
    assert made.classifier.model.shape.layers == 2
    all_new = Pipeline((find_method("Theseus").turn({"base_rate": 1.0, "steps": 3, "fine_tuning_steps": 0}),))
    assert all(map(all, all_new.apply(teacher(4), data(4)).curves["planks"]))


def test_module_replacing_keeps_what_methods_before_it_recorded():
    made = Pipeline((*quick("head pruning").methods, *quick("Theseus").methods)).apply(teacher(), data())
    assert {"head importance", "planks", "task"} <= set(made.curves)


def test_module_replacing_of_a_model_with_exits_is_refused():
    with pytest.raises(UserError, match="put it after module replacing"):
        quick("early exit, Theseus", layers=2).apply(teacher(), data())


def test_early_exit_from_one_layer_is_refused():
    with pytest.raises(UserError, match="needs a layer below the last one"):
        quick("layer dropping, early exit").apply(teacher(), data())


def test_without_a_replacement_nothing_of_the_successor_learns():
    known, whole = data(4), teacher(4)
    start = Compressed.whole(whole).copy()
    made = ReplaceModules(base_rate=0.0, rise=1.0, steps=1, fine_tuning_steps=0).apply(start, known, torch.Generator())
    for block, first in zip(
        made.classifier.model.network.encoder.layers, whole.model.network.encoder.layers, strict=False
    ):
        assert all(torch.equal(a, b) for a, b in zip(block.parameters(), first.parameters(), strict=True))


def test_layers_must_be_divided_evenly():
    with pytest.raises(UserError, match="layers is 3, which does not divide the 4 layers"):
        quick("Theseus", layers=3).apply(teacher(4), data(4))


def test_sure_texts_leave_early_with_the_answer_of_their_head():
    known, made = data(), quick("early exit").apply(teacher(), data()).classifier
    texts = known.test.pick(torch.arange(20))
    with torch.no_grad():
        early, whole = made.exit_scores(texts)[0], teacher()(texts)
        sure = uncertainty(early)
        for speed in (0.0, float(sure.median()), 1.1):
            made.speed = speed
            leaves = sure < speed
            scores, depths = made(texts), made.depths(texts)
            assert torch.equal(depths, torch.where(leaves, 1, 2))
            assert torch.allclose(scores, torch.where(leaves[:, None], early, whole), atol=1e-5)


def test_an_even_distribution_is_fully_uncertain():
    assert uncertainty(torch.tensor([[0.0, 0.0, 0.0], [50.0, 0.0, 0.0]])).tolist() == pytest.approx(
        [1.0, 0.0], abs=1e-6
    )


def test_words_that_are_left_out_are_read_as_the_unknown_word():
    known, made = data(), quick("smaller vocabulary").apply(teacher(), data()).classifier
    ids, kept = known.test.tokens.ids, made.kept_ids
    assert len(kept) == made.model.token_embedding.num_embeddings == 40
    read = made.remapped(known.test).tokens.ids
    there = torch.isin(ids, kept)
    assert torch.equal(kept[read[there]], ids[there])
    assert bool((read[~there] == known.test.tokens.specials.unknown).all())
    assert not bool(there.all())


def test_a_cnn_is_a_convolution_under_tanh_and_its_maximum_over_time():
    known, made = data(), quick("CNN", width=6).apply(teacher(), data()).classifier
    texts, network = known.test.pick(torch.arange(8)), made.model.network
    assert not bool(texts.tokens.valid.all())
    [layer] = network.encoder.blocks
    radius = layer.offsets.stop - 1
    filters = layer.fc.weight.unflatten(1, (2 * radius + 1, -1)).transpose(1, 2)  # [f, d, 2r + 1]
    for k, length in enumerate(texts.tokens.lengths):
        vectors = network.embedding_projection(made.model.token_embedding(texts.tokens.ids[k, :length]))  # [t, d]
        beyond = layer.boundary.expand(radius, -1)
        padded = torch.cat([beyond, vectors, beyond]).T[None]
        states = torch.conv1d(padded, filters, layer.fc.bias).tanh()[0]  # [f, t]
        assert torch.allclose(made(texts)[k], made.head.score(states.amax(1)), atol=1e-6)


def test_mobilebert_trains_one_layer_after_the_other_on_its_states_and_attention():
    """The transfer alone, against a plain loop over the same batches that reads the model's own attention weights."""
    known, settings = data(), {"layer_steps": 3, "text_steps": 0, "steps": 0}
    step = methods()["MobileBERT"].step
    [begun, made] = (
        replace(step, **settings | some).apply(Compressed.whole(teacher()).copy(), known, torch.Generator())
        for some in ({"layer_steps": 0}, {})
    )
    before, base, rng = state(begun.classifier), known.base.learner, torch.Generator()
    student = begun.classifier.model
    for depth, block in enumerate(student.network.encoder.layers):
        optimiser = torch.optim.AdamW(block.parameters(), lr=6e-3, betas=BETAS, weight_decay=0.01)
        for k in range(3):
            text, size = known.pretraining, base.entry.recipe.batch_size
            rows = pick(text, torch.randint(len(text.ids), (size,), generator=rng))
            base.objective.batch(rows, rng)
            optimiser.param_groups[0]["lr"] = 6e-3 * (1 - k / 3)
            (ours, seen), (theirs, shown) = (_states_and_weights(model, rows) for model in (student, base.model))
            valid, rows_read = rows.valid, rows.valid[:, None, :].expand(seen[depth].shape[:3])
            error = (ours[depth + 1][valid] - theirs[depth + 1][valid]).square().mean()
            p, q = shown[depth][rows_read], seen[depth][rows_read]
            divergence = (torch.xlogy(p, p) - p * q.clamp(min=1e-30).log()).sum() / len(p)
            for name, loss in (("states", error), ("attention", divergence)):
                recorded = made.curves[f"{name} of layer {depth + 1} (text)"][k]
                assert recorded == pytest.approx(loss.item(), rel=1e-3, abs=1e-7), (name, depth, k)
            block.zero_grad()
            (error + divergence).backward()
            torch.nn.utils.clip_grad_norm_(block.parameters(), 1.0)
            optimiser.step()
    after = state(made.classifier)
    assert {name for name in after if not torch.equal(after[name], before[name])} == {
        name for name in after if "encoder.blocks" in name
    }
    assert made.classifier.model.network.encoder.layers[0].mlp.fc1.weight.shape == (16, 16)
    assert made.layers == ((1,), (2,))


def _states_and_weights(model, tokens):
    """The states of every level and the attention weights of every layer."""
    model.network(model._plain(tokens), model.token_embedding.weight, kept := {})
    return model.hidden_states(tokens), kept["encoder"]


def test_dual_train_projects_matrices_of_a_size_with_the_same_two_projections():
    rng = torch.Generator().manual_seed(0)
    pairs = [(torch.randn(4, 6, generator=rng), torch.randn(2, 3, generator=rng)) for _ in range(2)]
    pairs.append((torch.randn(6, 4, generator=rng), torch.randn(3, 2, generator=rng)))
    shared = shared_projections(pairs, rng)
    assert {name: tuple(p.shape) for name, p in shared.items()} == {
        "0 4": (2, 4), "1 6": (3, 6), "0 6": (3, 6), "1 4": (2, 4)
    }  # fmt: skip
    total = 0.0
    for theirs, ours in pairs:
        left, right, big = shared[f"0 {len(theirs)}"], shared[f"1 {len(theirs[0])}"], theirs.tolist()
        for i, row in enumerate(left.tolist()):
            for j, column in enumerate(right.tolist()):
                down = sum(x * big[k][m] * y for k, x in enumerate(row) for m, y in enumerate(column))
                total += (down - float(ours[i, j])) ** 2
    assert projection_loss(pairs, shared).item() == pytest.approx(total, rel=1e-4)


def test_dual_train_reads_rare_words_as_unknown_and_some_words_through_the_student():
    few = FewWords(torch.tensor([0, 2, 3]), 5, 2)
    assert few(torch.arange(5.0)[:, None]).flatten().tolist() == [0, 2, 2, 3, 2]
    student = nn.Embedding(5, 2)
    mixed = MixedWords(student, 4, torch.Generator())
    mixed.drawn, table = torch.tensor([True, False, False, True, False]), torch.randn(5, 4)
    read = mixed(table)
    assert torch.equal(read[[1, 2, 4]], table[[1, 2, 4]])
    assert torch.allclose(read[[0, 3]], student.weight[[0, 3]] @ mixed.up)
    read.sum().backward()
    assert student.weight.grad.any(dim=1).tolist() == mixed.drawn.tolist()


def test_dual_train_makes_a_narrow_model_with_few_words_and_leaves_the_base_as_it_is():
    base = data().base.learner.model
    before = state(base)
    made = quick("DualTrain").apply(teacher(), data()).classifier
    assert made.model.token_embedding.weight.shape == (40, 8)
    assert len(made.kept_ids) == 40
    assert all(torch.equal(value, before[name]) for name, value in base.state_dict().items())


@pytest.mark.parametrize("task", ["part of speech", "question answering", "entailment", "similarity"])
def test_soft_targets_compare_the_answers_of_every_task(task):
    """A distribution for each word, for each end of a span, or for each pair of texts; of a number its square."""
    known, whole = data(task=task), teacher(task=task)
    student, texts = deepcopy(whole), known.train.pick(torch.arange(5))
    student.head.score.weight.data.add_(
        torch.randn(student.head.score.weight.shape, generator=torch.Generator().manual_seed(1))
    )
    with torch.no_grad():
        ours, theirs = student(texts), whole(texts)
        found = float(find_method("soft targets").step.loss(StepBatch(student, whole, texts, texts))["soft targets"])
    if task == "question answering":
        ours, theirs = (torch.cat([scores[..., 0], scores[..., 1]]) for scores in (ours, theirs))
    rows = []
    for s, t in zip(ours.double().tolist(), theirs.double().tolist(), strict=True):
        q, p = (_softmax([x / 2.0 for x in row]) for row in (s, t))
        rows.append(
            4 * sum(a * log(a / b) for a, b in zip(p, q, strict=True) if a) if len(s) > 1 else (s[0] - t[0]) ** 2
        )
    assert len(rows) == {"part of speech": int((texts.labels >= 0).sum()), "question answering": 10}.get(task, 5)
    assert found == pytest.approx(0.5 * sum(rows) / len(rows), rel=1e-4)


def _softmax(row):
    raised = [exp(value - max(row)) for value in row]
    return [value / sum(raised) for value in raised]


@pytest.mark.parametrize("task", ["part of speech", "question answering", "entailment"])
@pytest.mark.parametrize("name", ["soft targets", "PKD", "DistilBERT", "BiLSTM", "CNN"])
def test_a_student_learns_tags_spans_and_pairs_from_its_teacher(name, task, tmp_path):
    known = data(task=task)
    made = quick(name).apply(teacher(task=task), known)
    assert made.curves.get("soft targets", made.curves.get("scores"))[0] > 0
    save(tmp_path, made, known.base.words)
    back = score_all(load(tmp_path, known.task).classifier, known.test)
    assert torch.equal(back, score_all(made.classifier, known.test))
    assert 0 <= known.test.answer.measure(back, known.test.labels)["accuracy"] <= 1


def test_where_answers_are_about_words_pkd_compares_the_vectors_of_all_words():
    texts = data(task="part of speech").train.pick(torch.arange(3))
    reading = read(teacher(task="part of speech"), texts)
    states = teacher(task="part of speech").model.hidden_states(texts.tokens)
    assert torch.equal(reading.vectors[0], states[1][texts.tokens.valid])


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("head pruning(chosen=4.1 4.2 3.4), layer dropping(dropped=bottom)", ((0, 1, 2), (2, 3))),
        ("layer dropping(dropped=bottom), head pruning(chosen=2.1 2.2 1.4)", ((0, 1, 2), (2, 3))),
        ("layer dropping(dropped=bottom), head pruning(chosen=1.1), head pruning(chosen=1.1 2.4)", ((2, 3), (0, 1, 2))),
        ("head pruning(chosen=1.1 2.2), soft targets(layers=2, start=first)", ((1, 2, 3), (0, 2, 3))),
        ("head pruning(chosen=1.1 3.2), Theseus(layers=2)", ((1, 2, 3), (0, 1, 2, 3))),
        ("head pruning(chosen=1.1 2.1 3.1 4.1), layer sharing", ((1, 2, 3),) * 4),
    ],
)
def test_heads_keep_their_numbers_through_later_methods_and_in_the_file(line, kept, tmp_path):
    made, known = quick(line, layers=2).apply(teacher(4), data(4)), data(4)
    assert kept_heads(made.classifier.model) == kept
    save(tmp_path, made, known.base.words)
    assert kept_heads(load(tmp_path, known.task).classifier.model) == kept
