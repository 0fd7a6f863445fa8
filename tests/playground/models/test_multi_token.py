"""Multi-token prediction: losses and modules by hand, no look ahead, and a plain LM when heads are dropped."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy, embedding, rms_norm

from playground import leaks
from playground.errors import UserError
from playground.interop import export, open_folder
from playground.models import Architecture, LanguageModel, total_loss, with_required_parts
from playground.models.cost import forward_flops
from playground.models.model import ForwardPass
from playground.models.multi_token import shifted
from playground.models.transformer import SdpaMask
from playground.objectives import find_objective
from playground.objectives.ask import AskFurther
from playground.rng import generator
from playground.training import Stepped, checkpoint, train
from playground.zoo import entries
from playground.zoo.gpt2 import GPT_2_SMALL
from tests.runs import reviews, run_of, tiny
from tests.texts import SPECIALS, plain_rows, tokens_of

PARALLEL, SEQUENTIAL = "multi-token prediction", "sequential multi-token prediction"
each_form = pytest.mark.parametrize("name", [PARALLEL, SEQUENTIAL])
NAMES = ("next word", "2nd next word", "3rd next word", "4th next word")


def deeper(modules):
    """The sequential objective with so many modules; each counts the factor over their number."""
    objective = find_objective(SEQUENTIAL)
    further = tuple(AskFurther(k, "sequential", 0.3, modules) for k in range(1, modules + 1))
    return replace(objective, stages=(*objective.stages[:-1], *further))


def made(objective, tokens=None, **shape):
    """A model with all its parts in double precision, and a batch of the objective."""
    batch = objective.batch(plain_rows(3, 9) if tokens is None else tokens, generator(0))
    plain = Architecture(layers=2, width=16, heads=2, mlp_ratio=1, attention="left to right", **shape)
    model = LanguageModel(with_required_parts(plain, batch), SPECIALS.size, generator(0)).double()
    with torch.no_grad():
        for number, p in enumerate(model.parameters()):
            p.add_(torch.randn(p.shape, generator=generator(number), dtype=p.dtype) * 0.1)
    return model, batch


def scores_of(model, batch):
    """The scores `[b, n, v]` of each target at all positions, 0 where nothing is asked."""
    found = []
    for answer in model(batch):
        whole = answer.scores.new_zeros(*batch.inputs.ids.shape, answer.scores.shape[1])
        whole[answer.rows, answer.positions] = answer.scores
        found.append(whole)
    return found


def naive_loss(batch, scores, weights):
    """The loss from scores, token by token: position p of [START] x_0 x_1 ... has read x_0 to x_{p-1}."""
    total = 0.0
    for ahead, (each, weight) in enumerate(zip(scores, weights, strict=True)):
        losses = [
            cross_entropy(each[row, position][None], batch.tokens.ids[row, position + ahead][None])
            for row, length in enumerate(batch.tokens.lengths.tolist())
            for position in range(length)
            if position + ahead < length
        ]
        total = total + weight * sum(losses) / len(losses)
    return total


ROWS = [range(40, 49), range(41, 46), [50], [51, 52]]
"""Rows of nine, five, one and two words: a short one has no target for the farther heads."""


@pytest.mark.parametrize(
    ("objective", "weights"),
    [(find_objective(PARALLEL), (1, 1, 1, 1)), (find_objective(SEQUENTIAL), (1, 0.3)), (deeper(2), (1, 0.15, 0.15))],
    ids=["parallel", "one module", "two modules"],
)
def test_the_loss_is_the_sum_of_the_means_of_each_distance(objective, weights):
    model, batch = made(objective, tokens_of(ROWS))
    assert tuple(target.name for target in batch.targets) == NAMES[: len(weights)]
    torch.testing.assert_close(total_loss(model(batch))[0], naive_loss(batch, scores_of(model, batch), weights))


@each_form
def test_the_last_positions_have_no_target_for_the_farther_heads(name):
    _, batch = made(find_objective(name), tokens_of(ROWS))
    for ahead, target in enumerate(batch.targets):
        for row, length in enumerate(batch.tokens.lengths.tolist()):
            asked = target.loss_mask[row].nonzero().flatten().tolist()
            assert asked == list(range(max(0, length - ahead)))
            assert target.labels[row, asked].tolist() == batch.tokens.ids[row, ahead:length].tolist()


def test_a_row_of_one_word_has_only_a_next_word():
    model, batch = made(find_objective(PARALLEL), tokens_of([[40]]))
    assert [int(target.loss_mask.sum()) for target in batch.targets] == [1, 0, 0, 0]
    assert bool(total_loss(model(batch))[0].isfinite())


@pytest.mark.parametrize("shape", [{}, {"positions": "learned"}, {"norm_first": False}, {"embedding_size": 8}], ids=str)
def test_a_parallel_head_is_another_last_layer_on_the_same_states(shape):
    """Each head by hand: the trunk without its last layer, the head's own layer, the shared norm and output."""
    model, batch = made(find_objective(PARALLEL), **shape)
    [trunk] = model.network.hidden_states(batch.inputs, model.token_embedding.weight, None, 0, 1)[-1:]
    mask, positions = (
        SdpaMask.of(batch.inputs.attn_mask),
        model.network._positions_in(batch.inputs, batch.inputs.position_ids),
    )
    for answer, block in zip(
        model(batch), [model.network.encoder.blocks[-1], *(b.block for b in model.mtp_blocks)], strict=True
    ):
        states = model.network.encoder.ln_f(block(trunk, mask, positions))
        expected = model.lm_head(states[answer.rows, answer.positions], model.token_embedding.weight)
        torch.testing.assert_close(answer.scores, expected)


@pytest.mark.parametrize("modules", [1, 2, 3])
def test_a_sequential_module_reads_the_one_before_and_the_next_token(modules):
    """h' = M [RMSNorm(h); RMSNorm(Emb(x))], one block, by hand and position by position (DeepSeek-V3, eq. 21-23)."""
    model, batch = made(deeper(modules))
    table, inputs = model.token_embedding.weight, batch.inputs
    hidden = model.network(inputs, table)
    mask, positions = SdpaMask.of(inputs.attn_mask), model.network._positions_in(inputs, inputs.position_ids)
    width, length = model.shape.width, inputs.ids.shape[1]
    for ahead, (answer, module) in enumerate(zip(model(batch)[1:], model.mtp_blocks, strict=True), 1):
        joined = torch.zeros_like(hidden)
        for position in range(length):
            token = embedding(inputs.ids[:, min(position + ahead, length - 1)], table)
            parts = (
                rms_norm(hidden[:, position], (width,), module.ln_hidden.weight),
                rms_norm(token, (width,), module.ln_token.weight),
            )
            joined[:, position] = torch.cat(parts, dim=1) @ module.projection.weight.T
        hidden = module.ln_f(module.block(joined, mask, positions))
        expected = model.lm_head(hidden[answer.rows, answer.positions], table)
        torch.testing.assert_close(answer.scores, expected)


def changed_at(model, batch, position):
    """For each target, the positions whose scores change when one token of the input does."""
    before = scores_of(model, batch)
    ids = batch.inputs.ids.clone()
    ids[:, position] = 60 + (ids[:, position] + 1) % 3
    after = scores_of(model, replace(batch, inputs=replace(batch.inputs, ids=ids)))
    return [(a != b).any(-1).any(0) & (a.abs().sum((0, 2)) > 0) for a, b in zip(before, after, strict=True)]


@pytest.mark.parametrize(
    ("objective", "further"), [(find_objective(PARALLEL), 0), (deeper(3), 1)], ids=["parallel", "sequential"]
)
def test_no_head_sees_its_answer_and_the_leak_check_knows_what_it_sees(objective, further):
    """Input position s shows word s - 1. Module k reads up to position p + k and predicts the word that comes next."""
    model, batch = made(objective)
    length = batch.inputs.ids.shape[1]
    for position in range(length):
        for ahead, (target, moved) in enumerate(zip(batch.targets, changed_at(model, batch, position), strict=True)):
            scored = target.loss_mask.any(0)
            expected = torch.arange(length) >= position - further * ahead
            assert torch.equal(moved & scored, expected & scored), (position, ahead)
            reach, _ = leaks.answering(batch, target, 2)
            assert torch.equal(reach[:, position] & scored, expected & scored)
            shown = target.origin[0] == position - 1  # the positions whose answer this one shows
            assert not bool((moved & scored & shown).any())
    assert not leaks.check(batch).leak


def test_a_module_that_read_one_token_too_many_would_be_a_leak():
    _, batch = made(find_objective(SEQUENTIAL))
    further = batch.targets[1]
    spoilt = replace(further, kind=replace(further.kind, ahead=2))
    assert leaks.check(replace(batch, targets=(batch.targets[0], spoilt))).leak


@each_form
def test_without_its_further_layers_it_is_a_plain_language_model(name, tmp_path):
    """What is written, read and exported is the model of the next word, with the same weights and scores."""
    model, batch = made(find_objective(name))
    plain = LanguageModel(
        replace(model.shape, mtp_num_layers=0, mtp_sequential=False), SPECIALS.size, generator(0)
    ).double()
    kept = {n: v for n, v in model.state_dict().items() if not n.startswith("mtp_blocks.")}
    plain.load_state_dict(kept)
    lm = find_objective("LM").batch(batch.tokens, generator(0))
    assert torch.equal(plain(lm)[0].scores, model(batch)[0].scores)
    assert torch.equal(plain.features(batch.tokens), model.features(batch.tokens))


@pytest.mark.parametrize("name", ["multi-token GPT", "DeepSeek-V3"])
def test_it_trains_and_goes_on_exactly_from_a_checkpoint(name, tmp_path):
    whole = [e for e in train(run_of(entry=tiny(name), steps=6)) if isinstance(e, Stepped)]
    assert set(whole[0].terms) == set(NAMES[: 4 if "GPT" in name else 2])
    list(train(run_of(entry=tiny(name), steps=3, out=tmp_path)))
    learner = checkpoint.load(tmp_path).learner
    assert learner.model.shape.mtp_num_layers == len(whole[0].terms) - 1
    before = deepcopy(learner.model.mtp_blocks.state_dict())
    rest = [e for e in train(run_of(entry=tiny(name), steps=6), learner) if isinstance(e, Stepped)]
    assert [float(e.loss) for e in rest] == [float(e.loss) for e in whole[3:]]
    after = learner.model.mtp_blocks.state_dict()
    assert all(not torch.equal(before[n], after[n]) for n in before if n.endswith("weight"))


def test_its_export_is_a_gpt_2(tmp_path):
    small = replace(GPT_2_SMALL, layers=2, width=16, heads=2, max_position_embeddings=64)
    corpus = reviews()
    batch = find_objective(PARALLEL).batch(plain_rows(2, 8), generator(0))
    model = LanguageModel(with_required_parts(small, batch), len(corpus.tokenizer), generator(0))
    assert export(model, corpus.tokenizer, tmp_path / "out").name == "GPT-2"
    again = open_folder(tmp_path / "out").model
    kept = {n for n in model.state_dict() if not n.startswith("mtp_blocks.")}
    assert set(again.state_dict()) == kept and again.shape.mtp_num_layers == 0


@each_form
def test_its_further_layers_are_priced(name):
    model, batch = made(find_objective(name))
    lm = find_objective("LM").batch(batch.tokens, generator(0))
    layer = sum(p.numel() for n, p in model.mtp_blocks[0].named_parameters() if p.dim() == 2)
    extra = forward_flops(model, batch) - forward_flops(model, lm)
    assert extra >= len(model.mtp_blocks) * 2 * layer * batch.inputs.ids.numel()


def test_both_forms_at_once_and_other_networks_are_refused():
    batches = [find_objective(name).batch(plain_rows(2, 8), generator(0)) for name in (PARALLEL, SEQUENTIAL)]
    with pytest.raises(UserError, match="in two forms"):
        with_required_parts(Architecture(), *batches)
    with pytest.raises(UserError, match="set kind to transformer"):
        with_required_parts(Architecture(kind="lstm", attention="left to right"), batches[0])
    model, _ = made(find_objective("LM"))
    with pytest.raises(UserError, match="mtp_num_layers to 1"):
        model(batches[0])


def test_ids_further_on_end_with_the_last_one():
    ids = torch.tensor([[1, 2, 3]])
    assert [shifted(ids, number).tolist()[0] for number in (1, 2, 3, 5)] == [[2, 3, 3], [3, 3, 3], [3, 3, 3], [3, 3, 3]]


def test_the_states_of_a_head_are_computed_once():
    model, batch = made(find_objective(SEQUENTIAL))
    reading = ForwardPass(model, batch)
    assert reading.states_ahead(batch, 1) is reading.states_ahead(batch, 1)
    assert entries()["DeepSeek-V3"].objective.name == SEQUENTIAL
