"""What an objective promises is what runs: its model has the parts of its formula, its direction and its data."""

import re
from dataclasses import replace
from functools import cache

import pytest
import torch

from playground import leaks
from playground.analysis.generation import Generation, cannot_write, write
from playground.errors import UserError
from playground.models import total_loss
from playground.models.word_vectors import StaticNetwork
from playground.objectives import find_objective, objectives
from playground.objectives.steps import specimens
from playground.rng import generator
from playground.training import properties
from playground.training.loop import Run, prepared
from playground.zoo import entries, entry_for, entry_named
from playground.zoo.entry import WORD_VECTORS
from tests.runs import every_entry_or_kind, is_a_sentence
from tests.texts import small_corpus

NAMES = tuple(dict.fromkeys((*entries(), *objectives())))
every_name = pytest.mark.parametrize("name", NAMES)
COUNTED = "GloVe"

HIDING = set(
    "BERT mBERT ALBERT BART BioBERT ERNIE GPT-BERT InfoWord MASS PEGASUS RoBERTa SciBERT SenseBERT SentiLR SpanBERT "
    "StructBERT T5 UniLM WKLM XLM XLM-R mBART ModernBERT NeoBERT GLM data2vec".split()
) | {"ERNIE 2.0"}
"""The entries that show the network they keep a mask token or a sentinel; ELECTRA's masks are its generator's."""

TAUGHT_EVERYWHERE = set(
    "NNLM word2vec GloVe fastText TagLM ELMo flair GPT ULMFiT CTRL GPT-2 Grover Rosita Transformer-XL ELECTRA".split()
) | {"Dai and Le", "GPT-3", "sigma-GPT"}
"""The entries of which every position carries a loss."""


@cache
def course(name):
    """A small run as the command line, the page and a notebook begin it."""
    return course_of(entry_named(name))


def course_of(entry):
    entry = replace(entry, model=replace(entry.model, width=16, heads=2), recipe=replace(entry.recipe, batch_size=32))
    return prepared(Run(entry=entry, corpus=small_corpus(entry.corpus), seed=0, device=torch.device("cpu")))


@cache
def batches_of(name):
    """One batch of everything that it asks, in each of its phases."""
    made = course(name)
    each = zip(made.learner.objectives, made.phases, strict=True)
    return [batch for objective, phase in each for batch in specimens(objective, phase.held_out, generator(0))]


def parts(name):
    return [part for batch in batches_of(name) for part in batch.with_auxiliary]


@every_name
def test_every_weight_of_its_model_is_taught(name):
    """No part stands idle: a transformer behind word vectors, a second network that nothing trains, a head too many.

    Where nothing asks for words the output layer is kept for the tasks that write.
    """
    model = course(name).learner.model
    model.zero_grad(set_to_none=True)
    for batch in batches_of(name):
        total_loss(model(batch))[0].backward()
    idle = [n for n, p in model.named_parameters() if p.grad is None or not bool(p.grad.any())]
    if name == "translation through one vector":  # attention to a single key is 1, whatever query and key are
        idle = [n for n in idle if not any(part in n for part in ("cross_attn.query", "cross_attn.key", "ln_cross"))]
    model.zero_grad(set_to_none=True)
    heads = {target.kind.head for part in parts(name) if part.network != "generator" for target in part.targets}
    assert [n for n in idle if not n.startswith("lm_head.") or "vocabulary" in heads] == []


@pytest.mark.parametrize("name", entries())
def test_an_entry_declares_every_part_that_its_objective_needs(name):
    assert course(name).learner.entry.model == course(name).run.entry.model


@every_name
def test_it_reads_a_plain_text_from_where_it_read_in_training(name):
    """From the left alone, from the right alone, or from both sides, as the masks of its own network say."""
    model = course(name).learner.model
    shape = model.shape
    seen = [sides(part.inputs) for part in parts(name) if model.network_of(part) is model.network and part.targets]
    left, right = (any(side) for side in zip(*seen, strict=True))
    if shape.kind == "static":
        return
    assert (
        shape.attention
        == {(True, True): "bidirectional", (True, False): "left to right", (False, True): "right to left"}[left, right]
    )


def sides(stream):
    """Whether some position sees one to its left, and one to its right."""
    cells = (
        stream.attn_mask.dense().expand(len(stream.ids), -1, -1) & stream.valid[:, :, None] & stream.valid[:, None, :]
    )
    if stream.query_attn_mask is not None:
        cells = cells | (stream.query_attn_mask.dense() & stream.valid[:, :, None] & stream.valid[:, None, :])
    return bool(cells.tril(-1).any()), bool(cells.triu(1).any())


@every_name
def test_it_has_as_many_networks_as_it_trains(name):
    model = course(name).learner.model
    trained = {part.network for part in parts(name) if part.targets}
    assert (model.shape.directions == 2) == ({"main", "backward"} <= trained)
    assert bool(model.shape.generator_ratio) == ("generator" in trained)
    assert bool(model.shape.decoder_layers) == any(part.decoder is not None for part in parts(name))


@pytest.mark.parametrize("name", entries())
def test_a_word_changes_no_answer_that_the_masks_do_not_let_it_reach(name):
    """The closure of the masks is drawn and checked for leaks; the network, whatever its kind, keeps to it bit by bit.

    Answers that compare the rows of a batch depend on all of it, and a generator's are those of another network. The
    mean over a window of word vectors is a difference of running sums, which are rounded.
    """
    model, moved = course(name).learner.model.eval(), 0
    rounding = 1e-5 if model.shape.kind == "static" else 0.0
    for part in parts(name):
        alone = replace(
            part,
            auxiliary=() if part.teacher is None else (part.teacher,),
            targets=tuple(target for target in part.targets if not target.kind.compares_rows),
        )
        row, positions = 0, part.inputs.valid[0].nonzero().flatten().tolist()
        before = model(alone)
        for position in positions[:: max(1, len(positions) // 5)]:
            ids = alone.inputs.ids.clone()
            ids[row, position] = (
                ids[row, position] + 1 if ids[row, position] + 1 < len(model.token_embedding.weight) else 40
            )
            after = model(replace(alone, inputs=replace(alone.inputs, ids=ids)))
            for one, other in zip(before, after, strict=True):
                reach = leaks.answering(part, one.target, model.shape.layers, row)[0][:, position]
                changed = ((one.scores - other.scores).abs() > rounding).flatten(1).any(1) & (one.rows == row)
                assert bool(reach[one.positions[changed]].all()), (one.target.name, position)
                moved += int(changed.sum())
    model.train()
    assert moved or all(target.kind.compares_rows for part in parts(name) for target in part.targets)


@every_entry_or_kind
def test_what_is_measured_of_an_entry_is_what_its_parts_promise(name, monkeypatch):
    """Its architecture says in which direction it reads and whether it writes; here the numbers of its model say it."""
    for much, less in {"BATCHES": 16, "WARM_UP": 1, "STEPS": 1}.items():
        monkeypatch.setattr(properties, much, less)
    entry = entries()[name]
    shape, found = entry.model, properties.measured(course_of(replace(entry, phases=())))
    one_sided = shape.kind == "static" or (shape.attention == "left to right" and shape.directions == 1)
    assert found.right_context == (not one_sided)
    writes = not cannot_write(shape, entry.objective)
    assert writes == (found.generates or name == "XLNet"), "whose orders are drawn and seldom that of the text"
    assert (found.mismatch > 0) == (name in HIDING)
    assert 0 < found.taught <= 1 and (found.taught == 1) == (name in TAUGHT_EVERYWHERE)
    assert found.step_ms > 0 and found.taught_us > 0 and found.parameters > 1000


@pytest.mark.parametrize("name", entries())
def test_it_writes_or_says_in_a_sentence_why_not(name):
    made = course(name)
    learner, specials = made.learner, made.run.corpus.tokenizer.specials
    text, how = made.held_out.ids[0, :4].tolist(), Generation(max_new_tokens=2)
    if why := cannot_write(learner.model.shape, learner.objective):
        assert is_a_sentence(why)
        with pytest.raises(UserError, match=re.escape(why)):
            write(learner.model, learner.objective, text, specials, how)
        return
    training = learner.model.training
    [written] = write(learner.model, learner.objective, text, specials, how)
    assert 1 <= len(written.ids) <= 2 and written.log_prob < 0 and learner.model.training == training


def test_the_two_directions_of_elmo_share_their_words_and_nothing_else():
    """ "Two language models that never mix": the loss of each direction leaves the other network alone."""
    model, [batch] = course("BiLM").learner.model, batches_of("BiLM")
    for answer in model(batch):
        model.zero_grad(set_to_none=True)
        answer.mean().backward(retain_graph=True)
        taught = {n.split(".")[0] for n, p in model.named_parameters() if p.grad is not None and bool(p.grad.any())}
        assert len({"network", "backward_network"} & taught) == 1
        assert {"token_embedding", "lm_head"} <= taught


@pytest.mark.parametrize("name", [n for n, o in objectives().items() if o.group == WORD_VECTORS])
def test_word_vectors_are_two_tables_and_nothing_else(name):
    """u_o . v_c: one vector for a word as centre, one as neighbour; only counts have biases (GloVe, eq. 8)."""
    model = course_of(entry_for(find_objective(name))).learner.model
    assert isinstance(model.network, StaticNetwork)
    weights = {n for n, p in model.named_parameters() if p.dim() == 2}
    assert weights == {"token_embedding.weight", "lm_head.out.weight"}
    biases = {n for n, p in model.named_parameters() if p.dim() == 1}
    assert biases == ({"lm_head.bias"} if name == COUNTED else set())


def is_known(need, rows):
    """Whether rows of text have what an objective needs."""
    if need.startswith("label:"):
        return bool((rows.labels[need.removeprefix("label:")] >= 0).any())
    if need == "translation":
        other = rows.neighbours["translation"]
        return not bool((rows.labels["language"][:, :1] == other.labels["language"][:, :1]).any())
    return need not in ("pair", "distance") or {"next", "other"} <= set(rows.neighbours)


@every_name
def test_its_data_is_what_the_card_says(name):
    """Every label and second text that it needs is in its default corpus, and known of some row."""
    made = course(name)
    for objective, phase in zip(made.learner.objectives, made.phases, strict=True):
        for need in objective.needs:
            assert is_known(need, phase.held_out), need
    assert any(bool(target.loss_mask.any()) for part in parts(name) for target in part.targets)
