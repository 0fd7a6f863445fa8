"""Models obey visibility to the last bit, whichever way attention is computed."""

import base64
from copy import deepcopy
from dataclasses import fields, replace

import pytest
import torch

from playground import leaks
from playground.answers import (
    CooccurrenceTarget,
    InBatchContrast,
    NegativeSampling,
    Replaced,
    SoftTargets,
    TeacherState,
)
from playground.batch import AttentionMask, causal_mask, full_mask, mask_by_level
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import Answer, Architecture, LanguageModel, total_loss, with_required_parts
from playground.models.groups import layer_groups
from playground.models.model import with_merged_embeddings
from playground.models.transformer import Attention, SdpaMask
from playground.objectives import find_objective, objectives
from playground.objectives.change.tokens import Corruption
from playground.objectives.steps import acting_on
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.trace import frames
from tests.texts import SPECIALS, hiding, plain_rows, plan_of_one, suited, tokens_of

NAMES = tuple(objectives())
RAGGED = [list(range(40, 54)), [60, 61, 62], [70], list(range(45, 52)), [80, 81]]
every_objective = pytest.mark.parametrize("name", NAMES)
TOGETHER = ("GloVe", "DIM", "InfoWord", "sentence matching")
row_by_row = pytest.mark.parametrize("name", [n for n in NAMES if n not in TOGETHER])
"""GloVe counts over the whole batch, the others score a row against the others: test_cells.py, test_one_ngram.py."""
OTHER_FORM = {
    "norm_first": False,
    "norm": "rms norm",
    "embedding_norm": True,
    "embedding_size": 8,
    "layer_sharing": "attention",
    "attention_bias": True,
    "scale_attn_weights": False,
    "head_transform": True,
}
"""Norms behind the sub-layers, narrow word vectors and shared attention, with T5's distances."""
FORMS = {"rotary": {}, "learned": {}, "sinusoidal": {}, "relative bias": OTHER_FORM}
every_position = pytest.mark.parametrize("positions", FORMS)


def build(positions="rotary", seed=1, init="mimetic", **knobs):
    """A tiny model in double precision that can answer every objective."""
    shape = Architecture(
        layers=2,
        width=16,
        heads=2,
        mlp_ratio=1,
        positions=positions,
        init=init,
        **FORMS.get(positions, {}),
        **knobs,
    )
    for name in NAMES:
        shape = with_required_parts(shape, ragged(name)[-1].batch)
    return LanguageModel(shape, SPECIALS.size, generator(seed)).double()


@pytest.fixture(scope="module")
def models():
    return {positions: build(positions) for positions in FORMS}


def batch(name, extra=0):
    sentence = [[k // 3 for k in range(len(r))] for r in RAGGED]
    return suited(find_objective(name), tokens_of(RAGGED, sentence=sentence, extra=extra))


def ragged(name, seed=0, extra=0):
    objective = find_objective(name)
    knobs = hiding(objective, 0.4)
    return objective.turn(knobs).steps(batch(name, extra), generator(seed))


def scores(model, batch, **options):
    """Scores by question, row and place."""
    answers = model.forward(batch, **options)
    return {
        (a.target.name, int(r), int(p)): s
        for a in answers
        for r, p, s in zip(a.rows, a.positions, a.scores.detach(), strict=True)
    }


def assert_close(first, second):
    assert first.keys() == second.keys()
    assert len(first) > 0
    for key, values in first.items():
        torch.testing.assert_close(values, second[key], rtol=1e-9, atol=1e-9)


# two ways to attend


@every_objective
@every_position
def test_the_fast_way_and_the_way_with_weights_agree(name, positions, models):
    batch = ragged(name)[-1].batch
    assert_close(scores(models[positions], batch), scores(models[positions], batch, attn_weights={}))


@every_objective
@pytest.mark.parametrize("shape", ["ragged", "even"])
def test_attention_rows_sum_to_one_or_nothing_and_blocked_cells_are_zero(name, shape, models):
    """The very weights that carry the answers are exactly 0 wherever visibility is shut."""
    even = find_objective(name).batch(suited(find_objective(name), plain_rows(2, 12)), generator(2))
    batch = ragged(name, extra=2)[-1].batch if shape == "ragged" else even
    weights = models["rotary"].attention(batch)
    for matrix, attn_mask in masks(batch).items():
        cells = attn_mask.dense()[None, :, None].expand_as(weights[matrix])
        assert bool((weights[matrix][~cells] == 0).all()), matrix
        assert bool((weights[matrix][cells] > 0).all()), matrix
        sums = weights[matrix].sum(-1)
        assert bool(torch.where(cells.any(-1), (sums - 1).abs() < 1e-12, sums == 0).all()), matrix
    assert weights.keys() == masks(batch).keys()


def masks(batch):
    inputs, decoder = batch.inputs, batch.decoder
    if inputs.query_attn_mask is not None:
        return {"content": inputs.attn_mask, "query": inputs.query_attn_mask}
    own = {"encoder": inputs.attn_mask}
    return own if decoder is None else own | {"decoder": decoder.attn_mask, "cross": decoder.cross_attn_mask}


@every_objective
def test_the_numbers_of_a_record_are_these_weights_over_its_states(name, models):
    """Weights and states of a row have the same shape, padding left out."""
    steps = ragged(name, extra=1)
    batch = steps[-1].batch
    named = replace(batch, tokens=replace(batch.tokens, vocabulary=tuple(f"w{k}" for k in range(SPECIALS.size))))
    weights = models["rotary"].attention(batch)
    for row in (0, 1, 3):
        drawn = frames.matrices(named, leaks.check(batch, row=row), row)
        for matrix in drawn:
            n, m = matrix["shape"]
            own = (weights[matrix["name"]][:, row] * 255).round().to(torch.uint8)
            told = frames.attention(own, matrix["shape"], layers=[0, 99])
            assert (told["layers"], told["heads"]) == own.shape[:2]
            assert set(told["data"]) == {"0", str(len(own) - 1)}, "only the layers that are asked for"
            for layer, data in told["data"].items():
                assert base64.b64decode(data) == own[int(layer), :, :n, :m].contiguous().numpy().tobytes()


@pytest.mark.parametrize("tapped", [True, False])
def test_a_reader_that_may_see_nobody_gets_exactly_nothing(tapped):
    torch.manual_seed(0)
    look = Attention(8, 2)
    x = torch.randn(1, 4, 8, requires_grad=True)
    cells = torch.tensor([[[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]], dtype=torch.bool)
    out = look(x, x, SdpaMask(cells[:, None], False), weights=[] if tapped else None)
    assert bool((out[0, [1, 3]] == 0).all())
    assert bool((out[0, [0, 2]] != 0).any())
    out.sum().backward()
    assert bool(torch.isfinite(x.grad).all())
    assert bool((x.grad[0, 3] == 0).all())


@every_position
def test_a_permutation_without_context_starts_from_nothing(positions, models):
    """The first word of the order sees nobody: its score is the same whatever the text."""
    objective = find_objective("PLM").turn({"partial_prediction_k": 1.0})
    steps = objective.steps(plain_rows(1, 5), generator(3))
    rank = steps[-1].batch.prediction_order[0]
    first = int((rank == 0).nonzero())
    other = objective.replay(tokens_of([[90, 91, 92, 93, 94]], padded=False), tuple(s.plan for s in steps))
    one, two = (scores(models[positions], s[-1].batch) for s in (steps, other))
    key = ("hidden words", 0, first)
    assert torch.equal(one[key], two[key])
    assert bool(torch.isfinite(one[key]).all())
    assert all(not torch.equal(one[k], two[k]) for k in one if k != key)


# padding, rows, forms


@row_by_row
@every_position
def test_padding_and_other_rows_never_change_an_answer(name, positions, models):
    """Each row alone, without padding around it, gets the scores that it gets in the batch."""
    steps = ragged(name, extra=3)
    together = scores(models[positions], steps[-1].batch)
    for row, length in enumerate(steps[-1].batch.tokens.lengths.tolist()):
        alone = build_alone(name, steps, row, length)
        found = {(q, row, p): s for (q, _, p), s in scores(models[positions], alone).items()}
        assert found.keys() == {k for k in together if k[1] == row}
        for key, values in found.items():
            torch.testing.assert_close(values, together[key], rtol=1e-9, atol=1e-9)


def build_alone(name, steps, row, length):
    """The same row from the same plans, cut to its own length."""
    tokens = trimmed(pick(batch(name), torch.tensor([row])))
    objective = find_objective(name)
    objective = objective.turn(hiding(objective, 0.4))
    part = steps[0].stage.describe_plan(steps[0].batch, steps[0].plan, row) if objective.parts else {}
    width = objective.steps(tokens, generator(0), part)[-1].batch.tokens.ids.shape[1]
    alone = objective.replay(tokens, tuple(cut(s, at, width) for s, at in acting_on(steps, row)))[-1].batch
    assert alone.tokens.lengths.tolist() == [length]
    return alone


def trimmed(tokens):
    """One row without its padding, its second texts alike."""
    length = int(tokens.lengths)
    own = {k: getattr(tokens, k)[:, :length] for k in ("ids", "word_ids", "sentence_ids")}
    labels = {k: v[:, :length] for k, v in tokens.labels.items()}
    neighbours = {k: trimmed(v) for k, v in tokens.neighbours.items()}
    return replace(tokens, **own, labels=labels, neighbours=neighbours, padded=False)


def cut(step, row, length):
    """The plan of a step for one row alone, as wide as that row."""
    plan = plan_of_one(step.plan, row, step.batch.selected.shape[1])
    if plan is None or isinstance(plan, Corruption):
        return plan
    if isinstance(plan, torch.Tensor):
        return plan[:, :length] if plan.ndim == 2 and plan.shape[1] == step.batch.selected.shape[1] else plan
    per_token = ("positions", "rank", "segment", "time", "noise")
    values = {f.name: getattr(plan, f.name) for f in fields(plan)}
    return replace(plan, **{k: v[:, :length] if k in per_token else v for k, v in values.items()})


def reordered(step, order):
    """The plan of a step for the same rows in another order."""
    plan, width = step.plan, step.batch.selected.shape[1]
    if step.rows is not None:
        order = [step.rows.tolist().index(row) for row in order.tolist() if row in step.rows]
    if plan is None:
        return None
    if isinstance(plan, torch.Tensor):
        return plan[order]
    if not isinstance(plan, Corruption):
        return replace(plan, **{f.name: getattr(plan, f.name)[order] if f.compare else None for f in fields(plan)})
    rows = [plan_of_one(plan, int(row), width) for row in order]
    positions = torch.cat([row.positions + number * width for number, row in enumerate(rows)])
    return Corruption(positions, torch.cat([row.action for row in rows]), torch.cat([row.words for row in rows]))


@row_by_row
def test_the_order_of_rows_does_not_matter(name, models):
    steps = ragged(name)
    order = torch.tensor([3, 0, 4, 2, 1])
    tokens = pick(batch(name), order)
    plans = tuple(reordered(step, order) for step in steps)
    objective = find_objective(name)
    other = objective.turn(hiding(objective, 0.4)).replay(tokens, plans)[-1].batch
    first = scores(models["rotary"], steps[-1].batch)
    second = {(q, int(order[r]), p): s for (q, r, p), s in scores(models["rotary"], other).items()}
    assert_close(first, second)


@pytest.mark.parametrize("name", ["LM", "MLM"])
def test_a_promise_a_level_and_a_painted_mask_are_the_same(name, models):
    """The short way of "causal" and "full" gives what the general mask gives."""
    batch = find_objective(name).batch(plain_rows(2, 9), generator(4))
    attn_mask = batch.inputs.attn_mask
    assert attn_mask.form == {"LM": "causal", "MLM": "full"}[name]
    levels = replace(attn_mask, form="levels")
    open_ = torch.zeros(2, 9, dtype=torch.long)
    painted = AttentionMask(open_, open_, overrides=attn_mask.dense())
    first = scores(models["rotary"], batch)
    for other in (levels, painted):
        seen = replace(batch, inputs=replace(batch.inputs, attn_mask=other))
        assert_close(first, scores(models["rotary"], seen))
        assert_close(first, scores(models["rotary"], seen, attn_weights={}))


def test_a_decoder_with_a_promise_writes_as_with_a_mask(models):
    batch = find_objective("BART").batch(plain_rows(2, 9), generator(5))
    assert batch.decoder.attn_mask.form == "causal"
    plain = replace(batch.decoder, attn_mask=replace(batch.decoder.attn_mask, form="levels"))
    assert_close(scores(models["rotary"], batch), scores(models["rotary"], replace(batch, decoder=plain)))


def test_a_painted_query_mask_is_obeyed(models):
    batch = find_objective("PLM").turn({"partial_prediction_k": 2.0}).batch(plain_rows(2, 8), generator(6))
    query = batch.inputs.query_attn_mask
    shut = replace(query, overrides=torch.zeros(1, 8, 8, dtype=torch.bool))
    blind = replace(batch, inputs=replace(batch.inputs, query_attn_mask=shut))
    renamed = replace(blind, inputs=replace(blind.inputs, ids=blind.inputs.ids + 3))
    assert_close(scores(models["rotary"], blind), scores(models["rotary"], renamed))
    open_ = replace(query, overrides=torch.ones(1, 8, 8, dtype=torch.bool))
    same = replace(batch, inputs=replace(batch.inputs, query_attn_mask=open_))
    assert_close(scores(models["rotary"], batch), scores(models["rotary"], same))
    assert_close(scores(models["rotary"], same), scores(models["rotary"], same, attn_weights={}))


@every_position
def test_the_position_of_a_word_matters(positions, models):
    """Two words swapped far from the gap change its answer, so positions are really read."""
    batch = (
        find_objective("MLM")
        .turn({"mask_replace_prob": 1.0, "random_replace_prob": 0.0})
        .batch(plain_rows(1, 12), generator(7))
    )
    free = (~batch.selected[0]).nonzero().flatten()[:2]
    ids = batch.inputs.ids.clone()
    ids[0, free] = ids[0, free.flip(0)]
    swapped = replace(batch, inputs=replace(batch.inputs, ids=ids))
    first, second = scores(models[positions], batch), scores(models[positions], swapped)
    assert all(not torch.allclose(first[k], second[k], rtol=1e-6, atol=1e-9) for k in first)


@every_position
def test_the_blind_stream_knows_its_position(positions, models):
    """Two queries that see the same two words answer differently, since they stand elsewhere."""
    batch = find_objective("PLM").turn({"partial_prediction_k": 3.0}).batch(plain_rows(1, 9), generator(9))
    cells = torch.zeros(1, 9, 9, dtype=torch.bool)
    cells[:, :, (~batch.selected[0]).nonzero().flatten()[:2]] = True
    query = replace(batch.inputs.query_attn_mask, query_level=torch.full((1, 9), 99), overrides=cells)
    same = replace(batch, inputs=replace(batch.inputs, query_attn_mask=query))
    found = list(scores(models[positions], same).values())
    assert len(found) == 3
    assert not torch.allclose(found[0], found[1], rtol=1e-6, atol=1e-9)
    assert not torch.allclose(found[1], found[2], rtol=1e-6, atol=1e-9)


# scored places


@every_objective
def test_only_scored_positions_have_scores_and_the_same_as_everywhere(name, models):
    """Scoring every position and taking the scored ones afterwards gives the same."""
    batch = ragged(name)[-1].batch
    everywhere = replace(
        batch, targets=tuple(replace(target, loss_mask=stream_of(batch, target).valid) for target in batch.targets)
    )
    few, all_ = scores(models["rotary"], batch), scores(models["rotary"], everywhere)
    own = [
        target for target in batch.targets if not target.kind.compares_rows
    ]  # a match is scored against the other answers
    scored = {(q.name, *position) for q in own for position in map(tuple, q.loss_mask.nonzero().tolist())}
    assert scored <= few.keys() <= all_.keys()
    for key in scored:
        torch.testing.assert_close(few[key], all_[key], rtol=1e-9, atol=1e-9)


def stream_of(batch, target):
    return batch.decoder if target.stream == "decoder" else batch.inputs


@every_objective
def test_answers_know_their_position_and_target(name, models):
    batch = ragged(name)[-1].batch
    for answer in models["rotary"].forward(batch):
        target = answer.target
        scored = target.loss_mask.nonzero().tolist()
        found = list(zip(answer.rows.tolist(), answer.positions.tolist(), strict=True))
        assert sorted(found) == list(map(tuple, scored))
        if not isinstance(target.kind, InBatchContrast | SoftTargets | TeacherState):  # theirs: test_one_ngram.py ...
            assert answer.labels.tolist() == [int(target.labels[position]) for position in found]


@every_objective
def test_the_loss_of_a_batch_is_the_mean_of_all_its_answers(name, models):
    answers = models["rotary"].forward(ragged(name)[-1].batch)
    total, terms = total_loss(answers)
    by_hand = 0.0
    for answer in answers:
        each = torch.stack([one_loss(answer, k) for k in range(len(answer.labels))])
        assert answer.losses().tolist() == pytest.approx(each.tolist(), rel=1e-5)
        mean = each.mean().item()
        if (words := answer.target.mean_over) is not None:
            counts = answer.target.loss_weights[answer.rows, answer.positions].tolist()
            mean = sum(count * loss for count, loss in zip(counts, each.tolist(), strict=True)) / int(words.sum())
        assert terms[answer.target.name].item() == pytest.approx(mean, rel=1e-5)
        by_hand += answer.target.weight * mean
    assert total.item() == pytest.approx(by_hand, rel=1e-5)


def one_loss(answer: Answer, k: int):
    """Minus the logarithm of the probability of what is right, written out."""
    s, target = answer.scores[k], answer.labels[k]
    match answer.target.kind:
        case TeacherState(loss_beta=beta):
            apart = (s - target).abs().tolist()
            return torch.tensor(sum(d * d / 2 / beta if d < beta else d - beta / 2 for d in apart))
        case SoftTargets():
            return -(target * (s.exp() / s.exp().sum()).log()).sum()
        case NegativeSampling() as contrast:
            return one_contrast(s, contrast, answer, k)
        case CooccurrenceTarget() as count:
            seen = count.counts[answer.rows[k], answer.positions[k]]
            return min(1.0, float(seen / count.x_max) ** count.alpha) * (s[0] - seen.log()) ** 2
    target = int(target)
    if isinstance(answer.target.kind, Replaced):
        p = 1 / (1 + (-s[0]).exp())
        return -(p if target else 1 - p).log()
    return -(s.exp()[target] / s.exp().sum()).log()


def one_contrast(s, contrast, answer, k):
    """The right word's score against those of its own wrong words, one after the other."""
    drawn = contrast.negatives[answer.rows[k], answer.positions[k]].tolist()
    wrong = [j for j, word in enumerate(drawn, 1) if word >= 0]
    if contrast.loss == "hinge":
        return sum((torch.clamp(1 - s[0] + s[j], min=0) for j in wrong), torch.zeros(()))
    if contrast.loss == "nce":
        ids = torch.tensor([int(answer.labels[k]), *drawn])
        s = s - torch.tensor(max(1, len(wrong))).log() - contrast.log_noise_prob[ids]
    return -s[0].sigmoid().log() - sum((1 - s[j].sigmoid()).log() for j in wrong)


# weights


def same_weights(first, second):
    one, two = first.state_dict(), second.state_dict()
    return one.keys() == two.keys() and all(torch.equal(one[k], two[k]) for k in one)


@every_position
@pytest.mark.parametrize("init", ["mimetic", "normal"])
def test_a_seed_decides_the_weights_and_global_chance_does_not(positions, init):
    torch.manual_seed(0)
    first = build(positions, seed=5, init=init)
    torch.manual_seed(1)
    torch.rand(7)
    assert same_weights(first, build(positions, seed=5, init=init))
    assert not same_weights(first, build(positions, seed=6, init=init))


@every_position
def test_groups_share_out_all_parameters(positions):
    model = build(positions)
    groups = layer_groups(model)
    names = [n for group in groups.values() for n in group]
    assert sorted(names) == sorted(n for n, _ in model.named_parameters())
    assert len(names) == len(set(names))
    assert list(groups)[:3] == ["embeddings", "encoder layer 1", "encoder layer 2"]
    assert list(groups).index("decoder layer 2") < list(groups).index("heads")
    assert list(groups).index("generator encoder layer 1") > list(groups).index("heads")
    assert "token_embedding.weight" in groups["embeddings"]
    assert all("generator" in n for g, members in groups.items() if g.startswith("generator") for n in members)


def test_groups_stand_from_the_bottom_up_also_beyond_nine_layers():
    model = LanguageModel(Architecture(layers=11, width=8, heads=1), SPECIALS.size, generator(0))
    assert list(layer_groups(model)) == ["embeddings", *(f"encoder layer {k}" for k in range(1, 12)), "heads"]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.5, 1.0])
def test_the_generator_is_as_wide_as_said_in_whole_heads(share):
    shape = Architecture(width=64, heads=4, generator_ratio=share)
    assert shape.generator_width % (2 * shape.heads) == 0
    assert abs(shape.generator_width - 64 * share) <= 8


def of_electra(**knobs):
    """A model with a narrow generator and learned positions, and the example that it trains on."""
    shape = Architecture(layers=1, width=16, heads=2, mlp_ratio=1, positions="learned", segments=2, languages=2)
    batch = ragged("RTD")[-1].batch
    model = LanguageModel(with_required_parts(replace(shape, **knobs), batch), SPECIALS.size, generator(0)).double()
    return model, batch


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_generator_and_detector_have_one_word_position_and_segment_embedding(share):
    """As in ELECTRA's released code: added as wide as the table, and only then made narrow for the generator."""
    model, batch = of_electra(generator_ratio=share, tie_generator="embeddings")
    small, whole, stream = model.generator, model.network, batch.inputs
    own = {
        name
        for name, _ in small.named_parameters()
        if name.split(".")[0] in ("position_embedding", "segment_embedding", "language_embedding")
    }
    assert own == set()
    wide = model.token_embedding(stream.ids) + whole.position_embedding(stream.position_ids)
    wide = wide + whole.segment_embedding(stream.segment_ids) + whole.language_embedding(stream.language_ids)
    torch.testing.assert_close(whole._embed(stream, model.token_embedding.weight), wide)
    narrowed = wide if share == 1.0 else small.embedding_projection(wide)
    torch.testing.assert_close(small._embed(stream, model.token_embedding.weight), narrowed)


TIED = ("none", "table", "embeddings", "gradient-disentangled", "all")


@pytest.mark.parametrize("tied", TIED)
def test_the_generators_loss_reaches_the_positions_that_it_shares(tied):
    model, batch = of_electra(generator_ratio=1.0, tie_generator=tied)
    names, replaced = model(batch)
    assert (names.target.name, replaced.target.name) == ("hidden words", "replaced?")
    names.mean().backward()
    reached = {name for name, p in model.named_parameters() if p.grad is not None and bool(p.grad.any())}
    assert ("network.position_embedding.weight" in reached) is (tied in ("embeddings", "all"))
    assert ("network.encoder.ln_f.weight" in reached) is (tied == "all")
    assert ("token_embedding.weight" in reached) is (tied in ("table", "embeddings", "all"))
    assert ("generator_token_embedding.weight" in reached) is (tied in ("none", "gradient-disentangled"))


def disentangled(share=0.5):
    """A model with gradient-disentangled tables whose differences are not 0, and its batch."""
    model, batch = of_electra(generator_ratio=share, tie_generator="gradient-disentangled")
    deltas = {name: p for name, p in model.named_parameters() if name.endswith("delta")}
    assert set(deltas) == {"token_embedding.delta", "network.position_embedding.delta"}
    assert not any(p.any() for p in deltas.values())
    with torch.no_grad():
        for p in deltas.values():
            p.normal_(generator=generator(1, "deltas"))
    return model, batch


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_each_gradient_disentangled_table_has_the_gradient_of_one_loss(share):
    """The forward pass reads the sum; the gradient of each loss on the other's table is exactly 0 (GDES, sec. 3.3)."""
    model, batch = disentangled(share)
    words, places = model.generator_token_embedding.weight, model.generator.position_embedding.weight
    differences = (model.token_embedding.delta, model.network.position_embedding.delta)
    torch.testing.assert_close(model.token_embedding.weight, words + differences[0])
    hidden, replaced = (answer.mean() for answer in model(batch))
    ours, theirs = (words, places), differences
    for loss, own, other in ((hidden, ours, theirs), (replaced, theirs, ours)):
        found = torch.autograd.grad(loss, (*own, *other), retain_graph=True, allow_unused=True)
        assert all(g is not None and bool(g.any()) for g in found[:2])
        assert not any(g is not None and bool(g.any()) for g in found[2:])


def test_merged_embeddings_read_the_same_and_leave_the_model_as_it_was():
    model, batch = disentangled()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    merged = with_merged_embeddings(model)
    for one, other in zip(model(batch), merged(batch), strict=True):
        torch.testing.assert_close(one.scores, other.scores)
    assert merged.shape.tie_generator == "none" and not any("delta" in name for name in merged.state_dict())
    merged.load_state_dict(LanguageModel(merged.shape, SPECIALS.size, generator(0)).double().state_dict())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert with_merged_embeddings(merged) is merged


@pytest.mark.parametrize("tied", TIED)
def test_shared_weights_are_listed_once_and_stay_shared_in_a_copy(tied):
    model, batch = of_electra(generator_ratio=1.0, tie_generator=tied)
    names = list(model.state_dict())
    assert names == [name for name, _ in model.named_parameters()]
    assert any(name.startswith("generator") for name in names) is (tied != "all")
    assert ("generator.position_embedding.weight" in names) is (tied not in ("embeddings", "all"))
    twin = deepcopy(model)
    apart = tied == "gradient-disentangled"
    table = twin.network.position_embedding
    with torch.no_grad():
        (table.delta if apart else table.weight).add_(1.0)
    moved = not torch.equal(twin.propose(batch), model.propose(batch))
    assert moved is (tied in ("embeddings", "all"))
    if apart:  # the twin adds its difference to its own generator's table
        before = table.weight.detach().clone()
        with torch.no_grad():
            twin.generator.position_embedding.weight += 1.0
        torch.testing.assert_close(table.weight, before + 1.0)


def test_one_network_for_both_has_one_width():
    with pytest.raises(
        UserError, match=r"tie_generator is all, but the generator is 32 wide and the model 64; set generator_ratio"
    ):
        Architecture(generator_ratio=0.5, tie_generator="all")
    assert with_required_parts(Architecture(tie_generator="all"), ragged("RTD")[-1].batch).generator_ratio == 1.0


# proposals and features


def test_proposals_are_words_for_the_chosen_positions_of_the_text(models):
    """A wrapped text is shifted by [CLS]; the scores belong to the chosen places of the text all the same."""
    model = models["rotary"]
    tokens = tokens_of(RAGGED)
    objective = find_objective("RTD").turn({"mask_ratio": 0.4, "add_special_tokens": True})
    steps = objective.steps(tokens, generator(8))
    before = next(s for s in reversed(steps) if s.verb == "ask" and s.batch.generator is None).batch
    proposed = model.propose(before)
    assert proposed.shape == (int(before.selected.sum()), SPECIALS.size)
    assert bool((proposed[:, :FIRST_WORD] == float("-inf")).all())
    answer = model.forward(steps[-1].batch)[0]
    assert (answer.rows.tolist(), (answer.positions - 1).tolist()) == tuple(
        x.tolist() for x in before.selected.nonzero(as_tuple=True)
    )
    overrides = answer.scores[:, FIRST_WORD:].detach()
    torch.testing.assert_close(proposed[:, FIRST_WORD:], overrides, rtol=1e-9, atol=1e-9)


SEEN_FROM = {
    "bidirectional": [True] * 10,
    "left to right": [False] * 4 + [True] * 6,
    "right to left": [True] * 5 + [False] * 5,
}


def heard(read):
    """Which positions of ten know another vector after the fifth word has changed, by each vector that is read."""
    tokens = tokens_of([list(range(40, 50))], padded=False)
    other = replace(tokens, ids=tokens.ids.clone().index_fill_(1, torch.tensor([4]), 90))
    return (read(tokens) != read(other)).any(-1)[0].tolist()


@pytest.mark.parametrize("reads", SEEN_FROM)
@every_position
def test_features_are_read_as_in_pre_training(reads, positions):
    """A changed word is known where the model could see it in training, and nowhere else."""
    shape = Architecture(layers=2, width=16, heads=2, mlp_ratio=1, attention=reads, positions=positions)
    model = LanguageModel(shape, SPECIALS.size, generator(0))
    assert heard(model.features) == SEEN_FROM[reads]
    padded = tokens_of([[40, 41, 42], list(range(50, 60))])
    torch.testing.assert_close(model.features(padded)[0, :3], model.features(tokens_of([[40, 41, 42]]))[0])


def test_two_directions_stand_side_by_side_at_every_level():
    """ELMo (arXiv:1802.05365, sec. 3.2): the token layer and two states of each of L layers, 2L + 1 vectors."""
    model = build(attention="left to right")
    assert (model.shape.directions, model.shape.features_width) == (2, 32)
    assert heard(lambda t: model.features(t)[..., :16]) == SEEN_FROM["left to right"]
    assert heard(lambda t: model.features(t)[..., 16:]) == SEEN_FROM["right to left"]
    tokens = tokens_of([list(range(40, 50))], padded=False)
    levels = model.hidden_states(tokens)
    assert [level.shape for level in levels] == [(1, 10, 32)] * 4
    assert torch.equal(*levels[0].chunk(2, -1)), "the token layer is one vector"
    assert torch.equal(levels[-1], model.features(tokens))
    for first in range(3):
        again = model.hidden_states(tokens, levels[first], first)
        assert all(torch.equal(a, b) for a, b in zip(again, levels[first:], strict=True))


def test_the_last_norm_of_a_stack_belongs_to_its_highest_layer():
    groups = layer_groups(build())
    norms = {name: group for group, names in groups.items() for name in names if name.endswith("coder.ln_f.weight")}
    assert norms == {
        "network.encoder.ln_f.weight": "encoder layer 2",
        "backward_network.encoder.ln_f.weight": "encoder layer 2",
        "network.decoder.ln_f.weight": "decoder layer 2",
        "generator.encoder.ln_f.weight": "generator encoder layer 2",
    }
    assert not [name for name in groups["heads"] if ".encoder." in name or ".decoder." in name]


# visibility itself


def test_levels_say_who_sees_whom():
    real = torch.tensor([[True, True, True, False]])
    level = torch.tensor([[1, 0, 2, 0]])
    cells = mask_by_level(level, level, real).dense()[0]
    assert cells.long().tolist() == [[1, 1, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 0]]
    assert causal_mask(real, True).dense()[0].long().tolist() == [
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [1, 1, 1, 0],
        [1, 1, 1, 0],
    ]
    assert full_mask(real, True).dense()[0].long().tolist() == [[1, 1, 1, 0]] * 4
