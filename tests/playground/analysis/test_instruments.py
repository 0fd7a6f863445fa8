"""Instruments against a known truth: planted heads, closed masks, finite differences, states put back."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from playground import leaks
from playground.analysis.cloze import with_gap
from playground.analysis.finding import Bars, Finding, Table
from playground.analysis.gradients import sensitivity_of_answers, sensitivity_of_text
from playground.analysis.instrument import instrument_named, instruments
from playground.analysis.instruments.explanation import _change, permuted
from playground.analysis.instruments.head_importance import importances
from playground.analysis.instruments.meters import exponent
from playground.analysis.instruments.sensitivity import open_pairs
from playground.analysis.instruments.tug_of_war import cosine, gradients, shared_as
from playground.analysis.interventions import row_losses
from playground.analysis.probing import items, reading
from playground.analysis.probing.reading import probing_texts
from playground.corpora.tinyworld import generate
from playground.errors import UserError
from playground.models.taps import head_names, tapped
from playground.rng import generator
from playground.slicing import rows
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import KINDS, reviews, run_of, tiny


def subject_of(name="RoBERTa", **model):
    run = run_of(entry=tiny(name, {"layers": 2} | model))
    return of_learner(TrainState.new(run.entry, run.corpus.tokenizer.words, 0, run.device), run.corpus)


def look(subject, name, **settings):
    instrument = instrument_named(name)
    return instrument.look(subject, replace(instrument.settings, **settings))


def plant(model, head, weights):
    """Let one head have fixed attention weights `[n, m]` made from the number of positions."""
    attention = model.network.encoder.blocks[0].attn
    attention.weight_taps.append(lambda each: torch.cat([
        weights(each.shape[-1]).expand_as(each[:, :1]) if k == head else each[:, k : k + 1]
        for k in range(each.shape[1])
    ], dim=1))  # fmt: skip


def previous(length):
    return torch.eye(length).roll(-1, dims=1).tril() + torch.nn.functional.one_hot(torch.tensor(0), length) * (
        torch.arange(length) == 0
    ).float().unsqueeze(1)


def test_a_planted_previous_word_head_is_found_and_only_it():
    subject = subject_of()
    plant(subject.model, 1, previous)
    table = look(subject, "attention").tables[1].columns
    named = {(layer, head): p for layer, head, p in zip(table["layer"], table["head"], table["pattern"], strict=True)}
    assert named[1, 2] == "previous word"
    assert [position for position, pattern in named.items() if pattern == "previous word"] == [(1, 2)]
    grid = look(subject, "attention").tables[0].columns
    planted = (grid["layer"].codes == 0) & (grid["head"].codes == 1)
    length = round(planted.sum() ** 0.5)
    assert np.allclose(grid["weight"][planted].reshape(length, length), previous(length).numpy())


@pytest.mark.parametrize("name", [*KINDS, "word2vec", "UniLM"])
def test_what_has_no_influence_is_what_the_masks_close(name):
    subject = subject_of(name)
    model = subject.model.eval()
    tokens = subject.sentence()
    for level in range(len(subject.levels)):
        influence = sensitivity_of_text(model, tokens, level)
        assert torch.equal(influence != 0, open_pairs(model, tokens, level)), level
    if model.shape.char_cnn:
        return
    batch = rows(subject.batch(1), 0, 1)
    for part in batch.with_auxiliary:
        for question in part.targets:
            influence, scored = sensitivity_of_answers(model, part, question), question.loss_mask[0]
            reach, _ = leaks.answering(part, question, model.shape.layers)
            assert torch.equal((influence != 0)[scored], reach[scored]), question.name


def test_an_influence_is_the_norm_of_the_jacobian():
    subject = subject_of()
    model, tokens = subject.model.eval(), subject.sentence()
    [below] = model.hidden_states(tokens, last=0)
    exact = torch.autograd.functional.jacobian(lambda x: model.hidden_states(tokens, x, 0, 2)[-1][0], below.detach())
    assert torch.allclose(sensitivity_of_text(model, tokens, 2), exact[:, :, 0].square().sum((1, 3)).sqrt(), atol=1e-5)


def test_the_importance_of_a_head_is_the_slope_of_the_loss():
    subject = subject_of()
    model, batch = subject.model.eval().double(), subject.batch(4)
    heads, step = head_names(model), 1e-4
    found = importances(model, batch, heads)
    for head, importance in zip(heads, found, strict=True):
        with torch.no_grad(), tapped(model, head) as taps:
            taps.change(head, lambda value: value * (1 + step))
            above = row_losses(model, batch)
            taps.change(head, lambda value: value * (1 - step))
            slope = (above - row_losses(model, batch)) / (2 * step)
        assert float(importance) == pytest.approx(float(slope.abs().mean()), rel=1e-3, abs=1e-9)


def test_the_last_state_of_the_gap_brings_everything_back_and_a_state_beside_it_nothing():
    found = look(subject_of(), "activation patching")
    grid = found.tables[0].columns
    last = [r for layer, r in zip(grid["layer"], grid["restored"], strict=True) if layer == "layer2"]
    assert sorted(round(value, 4) for value in last) == [0.0] * (len(last) - 1) + [1.0]


def test_permuted_weights_are_the_same_weights_on_keys_that_may_be_seen():
    weights = torch.rand(3, 6, 6, generator=generator(0, "w")).tril()
    dealt = permuted(weights, generator(0, "permutation"))
    assert torch.equal(dealt.sort(-1).values, weights.sort(-1).values)
    assert torch.equal(dealt == 0, weights == 0)
    assert not torch.equal(dealt, weights)


def test_the_change_is_the_median_also_of_an_even_number_of_permutations(monkeypatch):
    subject = subject_of()
    batch = with_gap(subject.model.shape, subject.sentence(), torch.tensor([0]))
    before, near, far = (torch.tensor([row]) for row in ([0.5, 0.5], [0.4, 0.6], [0.1, 0.9]))
    answers = iter((near.log(), far.log()))
    monkeypatch.setattr("playground.analysis.instruments.explanation.log_chances", lambda *_: next(answers))
    assert float(_change(subject, batch, before, 2)) == pytest.approx((0.1 + 0.4) / 2)


def test_nothing_switched_off_changes_nothing_and_a_whole_network_without_parts_guesses():
    subject = subject_of()
    same = look(subject, "switch off", parts="").numbers[0]
    assert same.value == same.baselines["all on"]
    everything = " ".join(f"layer{k}.{part}" for k in (1, 2) for part in ("attention", "mlp"))
    other = look(subject, "switch off", parts=everything).numbers[0]
    assert other.value != same.value
    with pytest.raises(UserError, match="2 heads"):
        look(subject, "switch off", parts="layer1.head3")


def test_the_only_head_that_gives_anything_is_the_only_one_that_is_missed():
    subject = subject_of()
    for k, block in enumerate(subject.model.network.encoder.blocks):
        with torch.no_grad():
            wide = block.attn.out.weight.shape[1] // subject.model.shape.heads
            block.attn.out.weight[:, : wide if k == 0 else None] = 0  # layer1.head2 is left
    found = look(subject, "heads one by one").tables[0].columns
    moved = [head for head, change in zip(found["head"], found["change"], strict=True) if abs(change) > 1e-9]
    assert moved == ["layer1.head2"]


def test_a_cost_that_is_a_power_of_the_length_has_this_exponent():
    lengths = [32, 64, 128]
    assert exponent(lengths, [5.0 * n**2 for n in lengths]) == pytest.approx(2)
    assert exponent(lengths, [0.1 * n for n in lengths]) == pytest.approx(1)


def test_parameters_are_counted_and_each_belongs_to_one_layer():
    subject = subject_of()
    found = look(subject, "meters", longest=32)
    assert found.number("parameters") == sum(p.numel() for p in subject.model.parameters())
    assert sum(found.tables[0].columns["parameters"]) == found.number("parameters")


def test_sentences_keep_the_words_and_the_heads_of_their_corpus():
    subject = subject_of()
    tokens, corpus = subject.sentences(20), subject.corpus
    assert subject.sentences(20) is tokens
    assert bool((tokens.ids[tokens.valid] >= corpus.tokenizer.specials.unknown).all())
    assert (tokens.labels["head"].where(tokens.valid, 0) < tokens.lengths[:, None]).all()
    roots = (tokens.labels["head"] < 0) & tokens.valid
    assert bool((roots.sum(1) >= 1).all())
    states = subject.states(tokens)
    assert subject.states(tokens) is states
    assert len(states) == len(subject.levels)


def test_a_table_is_drawn_by_columns_that_it_has():
    with pytest.raises(ValueError, match="lacks"):
        Table("t", {"a": [1]}, Bars("a", "b"))
    with pytest.raises(ValueError, match="lengths"):
        Table("t", {"a": [1], "b": []}, Bars("a", "b"))


def test_a_line_that_is_not_a_number_is_null_in_json():
    table = Table("t", {"a": [1]}, lines={"chain": float("nan")})
    assert Finding("None.", tables=(table,)).facts()["tables"][0]["lines"] == {"chain": None}


def test_uniform_attention_of_a_left_to_right_model_is_over_the_words_before():
    """A head that spreads its attention over all it may see has the entropy of uniform attention and no pattern."""
    subject = subject_of("GPT", layers=1)
    for head in range(2):
        plant(subject.model, head, lambda n: torch.ones(n, n).tril() / torch.arange(1, n + 1)[:, None])
    found = look(subject, "attention")
    entropy = found.numbers[0]
    assert entropy.value == pytest.approx(entropy.baselines["uniform attention"], abs=1e-5)
    assert set(found.tables[1].columns["pattern"]) == {"none"}


def test_switch_off_answers_where_the_corpus_has_no_probes():
    run = run_of(entry=tiny("RoBERTa"), corpus=generate("kinds", 0, 20_000))
    subject = of_learner(TrainState.new(run.entry, run.corpus.tokenizer.words, 0, run.device), run.corpus)
    found = look(subject, "switch off", parts="layer1.mlp")
    assert len(found.numbers) == 1 and not found.tables


def test_an_answer_that_is_no_word_of_the_text_is_refused():
    clean, corrupted = "the plot was [MASK] .", "the film was [MASK] ."
    assert look(subject_of(), "activation patching", clean=clean, corrupted=corrupted, answer="great").numbers
    with pytest.raises(UserError, match="no word 'xylophone'"):
        look(subject_of(), "activation patching", clean=clean, corrupted=corrupted, answer="xylophone")


def test_every_row_and_question_of_an_instrument_is_said():
    for instrument in instruments().values():
        assert instrument.question.endswith(("?", "."))
        assert instrument.rows
        assert instrument.source


def test_a_note_says_where_fewer_sentences_are_read_than_were_asked_for():
    subject = replace(subject_of(), corpus=reviews(1_000))
    there = len(subject.sentences(400).ids)
    assert there < 400
    for _ in range(2):  # also where the sentences are known already
        found = look(subject, "attention as explanation", count=400)
        assert found.notes == (f"{there} held-out sentences of 3 to 32 tokens are read instead of 400.",)
    assert not look(subject, "attention as explanation", count=there).notes


def test_a_probe_says_where_there_are_fewer_different_sentences_also_where_they_are_known():
    subject = subject_of()
    number = len(probing_texts(subject, 2_000).tokens.ids)
    probing_texts(subject, 2_000)
    line = f"{number:,} different held-out sentences of 3 to 32 tokens are read instead of 2,000."
    assert subject.lacking == [line] * 2


def test_a_probe_says_how_many_items_of_rare_classes_it_leaves_out(monkeypatch):
    for module in (items, reading):
        monkeypatch.setattr(module, "FEWEST", 40)
    subject = subject_of()
    texts = probing_texts(subject, 60)
    label = texts.tokens.labels["pos"]
    counts = torch.bincount(label[label >= 0])
    rare = int(counts[counts < 40].sum())
    assert rare > 0
    said = f"part of speech: {rare} of {int(counts.sum())} items are left out, as their classes have fewer than 40."
    assert said in look(subject, "probing classifier", count=60, task="part of speech").notes


# the tug of war


def test_two_losses_with_opposite_gradients_have_a_cosine_of_minus_1():
    table = torch.randn(7, 3, generator=generator(0)).double().requires_grad_()
    aim = torch.randn(7, 3, generator=generator(1)).double()
    [down], [up], [across] = (
        gradients(loss, [table]) for loss in ((table * aim).sum(), -(table * aim).sum() * 3, 0 * table.sum())
    )
    assert cosine(down, up) == pytest.approx(-1.0, abs=1e-12)
    assert cosine(down, down) == pytest.approx(1.0, abs=1e-12)
    assert cosine(down, across) == 0.0


@pytest.mark.parametrize("tied", ["none", "table", "embeddings", "gradient-disentangled"])
def test_a_table_that_is_not_shared_has_the_gradient_of_one_loss(tied):
    found = look(subject_of("ELECTRA", tie_generator=tied), "tug of war", texts=8, steps=0)
    columns = found.tables[0].columns
    size = dict(zip(zip(columns["loss"], columns["table"], strict=True), columns["gradient"], strict=True))
    if tied in ("table", "embeddings"):
        assert size.keys() == {("MLM", "shared"), ("RTD", "shared")} and all(size.values())
        return
    own, other = {"none": ("generator", "discriminator"), "gradient-disentangled": ("E_G", "E_Δ")}[tied]
    assert size["MLM", own] > 0 and size["RTD", other] > 0
    assert size["MLM", other] == size["RTD", own] == 0.0
    assert "no tug of war" in found.headline


@pytest.mark.parametrize(("tied", "ways"), [
    ("none", 2), ("table", 3), ("embeddings", 3), ("gradient-disentangled", 2), ("all", 1),
])  # fmt: skip
def test_the_curves_of_the_cosine_start_together_and_leave_the_model_as_it_was(tied, ways):
    ratio = 1.0 if tied == "all" else 0.5
    subject = subject_of("ELECTRA", tie_generator=tied, generator_ratio=ratio)
    if tied == "gradient-disentangled":
        torch.nn.init.normal_(subject.model.token_embedding.delta, std=0.1, generator=generator(0))
    before = {name: weight.clone() for name, weight in subject.model.state_dict().items()}
    found = look(subject, "tug of war", texts=8, steps=2)
    columns = found.tables[-1].columns
    curves = dict.fromkeys(columns["generator shares"])
    for way in curves:
        shared = zip(columns["step"], columns["cosine"], columns["generator shares"], strict=True)
        curves[way] = {step: value for step, value, of in shared if of == way}
    assert len(curves) == ways
    for curve in curves.values():
        assert curve.keys() == {0, 1, 2} and curve[0] == pytest.approx(found.numbers[0].value, abs=1e-5)
        assert len(set(curve.values())) == 3
    assert all(torch.equal(weight, before[name]) for name, weight in subject.model.state_dict().items())
    assert look(subject, "tug of war", texts=8, steps=2).tables[-1].columns == columns


@pytest.mark.parametrize("way", ["none", "gradient-disentangled"])
def test_a_model_answers_the_same_whatever_its_generator_shares(way):
    for tied in ("table", "embeddings", "none", "gradient-disentangled"):
        subject = subject_of("ELECTRA", tie_generator=tied)
        model = shared_as(subject.model, way)
        assert model.shape.tie_generator == way
        batch = subject.batch(4)
        for one, other in zip(subject.model(batch), model(batch), strict=True):
            torch.testing.assert_close(one.scores, other.scores, atol=1e-5, rtol=0)


def test_the_cosine_is_that_of_the_gradients_of_two_steps():
    """Against two backward passes of the whole model."""
    subject = subject_of("ELECTRA")
    found, batch, flat = look(subject, "tug of war", texts=8, steps=0), subject.batch(8), []
    for number in range(2):
        subject.model.zero_grad()
        subject.model(batch)[number].mean().backward()
        flat.append(subject.model.token_embedding.weight.grad.flatten().double())
    subject.model.zero_grad()
    expected = float(flat[0] @ flat[1] / (flat[0].norm() * flat[1].norm()))
    assert found.numbers[0].value == pytest.approx(expected, abs=1e-5)


def test_a_model_without_a_generator_has_no_tug_of_war():
    with pytest.raises(UserError, match="MLM trains no generator"):
        look(subject_of(), "tug of war")
