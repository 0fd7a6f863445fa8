"""Each part of a model against a plain loop, or against what its paper says of it."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from playground.analysis.cloze import with_gap, words_seen
from playground.batch import AttentionMask, causal_mask, full_mask, mask_by_level, stream
from playground.errors import UserError
from playground.interop.family import families
from playground.models import Architecture, LanguageModel, total_loss, with_required_parts
from playground.models.characters import CharacterCNN
from playground.models.dropout import Dropout, dropping
from playground.models.positions import RelativePositions, distance_buckets, sinusoids
from playground.models.reading_order import ReadingOrder
from playground.models.recurrent import RecurrentStack
from playground.models.transformer import Attention, SdpaMask, attend
from playground.objectives import find_objective, objectives
from playground.objectives.see.painted import AttentionMaskOverride
from playground.rng import generator
from playground.slicing import gathered, split_rows
from playground.training import checkpoint
from playground.training.accumulation import in_parts
from playground.training.loop import prepared, train
from playground.training.train_state import optimisers
from playground.zoo.recipe import Recipe
from tests.runs import run_of, tiny
from tests.texts import SPECIALS, hiding, suited, tokens_of

ROWS = [list(range(40, 49)), [60, 61, 62], [70]]
REAL = torch.tensor([[k < len(row) for k in range(9)] for row in ROWS])
LEVEL = torch.arange(9).expand(3, -1)
DIRECTIONS = {
    "left to right": causal_mask(REAL, padded=True),
    "right to left": mask_by_level(-LEVEL, -LEVEL, REAL),
    "bidirectional": full_mask(REAL, padded=True),
}
every_direction = pytest.mark.parametrize("reads", DIRECTIONS)
every_cell = pytest.mark.parametrize("kind", ["lstm", "gru"])


def made(shape, name="MLM", words=()):
    """A model in double precision with the parts that an objective needs, and a ragged batch for it."""
    objective = find_objective(name)
    text = suited(objective, tokens_of(ROWS))
    batch = objective.turn(hiding(objective, 0.4)).batch(text, generator(0))
    return LanguageModel(with_required_parts(shape, batch), SPECIALS.size, generator(1), words).double(), batch


def parameters(**shape):
    return sum(p.numel() for p in LanguageModel(Architecture(**shape), 50, generator(0)).parameters())


def test_a_model_knows_whether_hidden_words_are_predicted_one_position_early():
    """By its batches; a next word that is not hidden says nothing, nor does what a decoder writes."""
    names = [name for name in objectives() if not {"translation", "answer"} & set(objectives()[name].needs)]
    early = [name for name in names if made(Architecture(layers=1, width=8, heads=2), name)[0].shape.predicts_ahead]
    assert early == ["MNTP", "GPT-BERT"]


# bands


def test_every_second_layer_attends_to_a_band_and_the_others_to_all_that_the_mask_opens():
    """Padded or not, under any mask and in either stack: an odd layer sees at most 2 positions to a side."""
    cases = {"LM": "left to right", "backward LM": "right to left", "MLM": "bidirectional", "PLM": "bidirectional"}
    for name, reads in (cases | {"MASS": "bidirectional"}).items():
        shape = Architecture(layers=3, width=16, heads=2, attention=reads, positions="learned")
        plain, batch = made(shape, name)
        banded = LanguageModel(replace(plain.shape, attention_window=3), SPECIALS.size, generator(1)).double()
        band = (LEVEL[0][:, None] - LEVEL[0]).abs() < 3
        for matrix, weights in banded.attention(batch).items():
            stream = batch.decoder if matrix == "decoder" else batch.inputs
            mask = stream.query_attn_mask if matrix == "query" else stream.attn_mask
            for number, layer in enumerate(weights if matrix != "cross" else ()):
                n = len(layer[0, 0])
                allowed = mask.dense() & band[:n, :n] if number % 2 else mask.dense()
                real = stream.valid[:, None, :, None]
                assert torch.equal((layer > 0) & real, allowed[:, None].expand(layer.shape) & real), (name, matrix)


def test_layers_in_bands_are_a_plain_loop():
    """One head by hand: layer 1 attends to all to the left, layer 2 to the two positions before and to itself."""
    shape = Architecture(layers=2, width=8, heads=1, attention="left to right", positions="learned", attention_window=3)
    model, _ = made(shape, "LM")
    full = replace(tokens_of([list(range(40, 49))]), padded=False)
    [embedded, *_], expected = model.hidden_states(full), model.features(full)
    x = embedded[0]
    for number, block in enumerate(model.network.encoder.layers):
        seen = block.ln_1(x)
        q, k, v = (part(seen) for part in (block.attn.query, block.attn.key, block.attn.value))
        rows = []
        for i in range(9):
            first = max(0, i - 2) if number else 0
            scores = torch.stack([q[i] @ k[j] / math.sqrt(8) for j in range(first, i + 1)])
            rows.append(scores.softmax(0) @ v[first : i + 1])
        x = block.add_mlp(x + block.attn.out(torch.stack(rows)))
    torch.testing.assert_close(expected[0], model.network.encoder.ln_f(x))
    torch.testing.assert_close(model.hidden_states(full)[-1], expected)


def test_layers_in_bands_are_those_of_gpt_neo():
    """The class of transformers whose layers alternate: its scores are divided by nothing, its queries have no bias."""
    hf = pytest.importorskip("transformers")
    config = hf.GPTNeoConfig(
        vocab_size=SPECIALS.size, hidden_size=16, num_layers=4, num_heads=2, attention_types=[[["global", "local"], 2]],
        window_size=3, max_position_embeddings=32, resid_dropout=0, embed_dropout=0, attention_dropout=0,
        attn_implementation="eager",
    )  # fmt: skip
    theirs = hf.GPTNeoModel(config).double().eval()
    shape = Architecture(
        layers=4, width=16, heads=2, attention="left to right", positions="learned", max_position_embeddings=32,
        attention_window=3, activation="gelu tanh", scale_attn_weights=False, lm_head=False,
    )  # fmt: skip
    model = LanguageModel(shape, SPECIALS.size, generator(0)).double().eval()
    network = model.network
    pairs = [(theirs.wte, model.token_embedding), (theirs.wpe, network.position_embedding)]
    pairs.append((theirs.ln_f, network.encoder.ln_f))
    for own, block in zip(theirs.h, network.encoder.layers, strict=True):
        attn = own.attn.attention
        pairs += [(own.ln_1, block.ln_1), (own.ln_2, block.ln_2)]
        pairs += [(own.mlp.c_fc, block.mlp.fc1), (own.mlp.c_proj, block.mlp.fc2)]
        pairs += [(attn.q_proj, block.attn.query), (attn.k_proj, block.attn.key)]
        pairs += [(attn.v_proj, block.attn.value), (attn.out_proj, block.attn.out)]
    with torch.no_grad():
        for own, part in pairs:
            noise = [torch.randn(p.shape, generator=generator(n)) for n, p in enumerate(part.parameters())]
            for each, value in zip(part.parameters(), noise, strict=True):
                each.copy_(value * 0.5)
            own.load_state_dict(part.state_dict(), strict=not hasattr(own, "bias") or part.bias is not None)
        text = tokens_of([list(range(40, 49))])
        torch.testing.assert_close(model.features(text), theirs(text.ids).last_hidden_state)


def test_bands_need_layers_that_attend_to_the_positions_of_a_row():
    with pytest.raises(UserError, match="attention_window is 8, but the kind is gru"):
        Architecture(kind="gru", attention_window=8)
    with pytest.raises(UserError, match="mem_len is 8, but attention_window is 8, which bands the positions of a row"):
        Architecture(attention_window=8, mem_len=8)


# positions


def test_sinusoids_are_sines_and_cosines_by_turns():
    """Vaswani et al. 2017, sec. 3.5: sin(pos / 10000^(2i / d)) at 2i, the cosine at 2i + 1."""
    vectors = sinusoids(torch.arange(6), 8)
    for position in range(6):
        for i in range(4):
            angle = position / 10_000 ** (2 * i / 8)
            assert vectors[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-6)
            assert vectors[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_t5_tells_near_distances_apart_and_far_ones_in_growing_steps():
    """Half of the 32 buckets for each side in an encoder, all for the left in a decoder; from 128 on all is one."""
    near = torch.arange(-7, 8)
    assert distance_buckets(near, both_sides=True).tolist() == [7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23]
    assert distance_buckets(-torch.arange(16), both_sides=False).tolist() == list(range(16))
    assert distance_buckets(torch.tensor([1, 5, 300]), both_sides=False).tolist() == [0, 0, 0]
    far = distance_buckets(-torch.arange(16, 400), both_sides=False)
    assert far.diff().min() >= 0 and far[0] == 16 and far[-1] == 31
    assert set(distance_buckets(-torch.tensor([128, 200, 399]), both_sides=False).tolist()) == {31}


def test_relative_positions_are_the_four_terms_of_transformer_xl():
    """(q + u) . k + (q + v) . W r(i - j), over the root of a head's width, cell by cell (sec. 3.3, eq. 5)."""
    torch.manual_seed(0)
    attn = Attention(8, 2, relative=True).double()
    for parameter in attn.parameters():
        nn.init.normal_(parameter)
    position = torch.tensor([[0, 1, 2, 3, 4], [0, 1, 2, 0, 1]])
    q, k = torch.randn(2, 2, 2, 5, 4).double()
    encoding = RelativePositions.of(position, position, 8)
    turned, same, bias = encoding(attn, q, k)
    scores = turned @ same.transpose(-1, -2) / 2 + bias
    speed = 10_000 ** (-torch.arange(0, 8, 2) / 8)
    for row in range(2):
        for head in range(2):
            for i in range(5):
                for j in range(5):
                    angle = (position[row, i] - position[row, j]) * speed
                    r = attn.position(torch.cat([angle.sin(), angle.cos()]).double())[4 * head : 4 * head + 4]
                    content = (q[row, head, i] + attn.content_bias[head]) @ k[row, head, j]
                    bias_of_position = (q[row, head, i] + attn.position_bias[head]) @ r
                    assert float(scores[row, head, i, j].detach()) == pytest.approx(
                        float((content + bias_of_position).detach()) / 2, abs=1e-5
                    )


@pytest.mark.parametrize("name", ["LM", "MLM", "PLM"])
def test_relative_positions_see_distances_only(name):
    """A text further on in a document is read as at its beginning."""
    model, batch = made(Architecture(width=16, heads=2, positions="relative", norm_first=False), name)
    later = replace(batch.inputs, position_ids=batch.inputs.position_ids + 37)
    for one, other in zip(model(batch), model(replace(batch, inputs=later)), strict=True):
        torch.testing.assert_close(one.scores, other.scores, atol=1e-5, rtol=1e-5)


def test_a_term_of_the_scores_leaves_a_query_without_keys_at_zero():
    q, k, v = torch.randn(3, 1, 2, 4, 8)
    nobody = SdpaMask(torch.zeros(1, 1, 4, 4, dtype=torch.bool), False)
    assert not attend(q, k, v, nobody, bias=torch.randn(1, 2, 4, 4)).any()


def test_relative_positions_and_a_decoder_do_not_go_together():
    with pytest.raises(UserError, match="positions is relative, but the model has a decoder"):
        Architecture(positions="relative", decoder_layers=2)


# norms, biases, sharing


def test_norms_behind_the_sub_layers_are_those_of_the_transformer_of_pytorch():
    shape = Architecture(
        layers=1, width=16, heads=2, norm_first=False, attention_bias=True, positions="sinusoidal", norm_eps=1e-5
    )
    model = LanguageModel(shape, 50, generator(0)).double()
    [block], x = model.layers, torch.randn(2, 6, 16).double()
    theirs = nn.TransformerEncoderLayer(16, 2, 64, 0.0, "gelu", batch_first=True).double()
    names = {"linear1": block.mlp.fc1, "linear2": block.mlp.fc2, "norm1": block.ln_1, "norm2": block.ln_2}
    with torch.no_grad():
        for name, part in names.items():
            theirs.get_submodule(name).load_state_dict(part.state_dict())
        parts = (block.attn.query, block.attn.key, block.attn.value)
        theirs.self_attn.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.self_attn.out_proj.load_state_dict(block.attn.out.state_dict())
        nn.init.zeros_(theirs.self_attn.in_proj_bias)
    torch.testing.assert_close(block(x, SdpaMask(None, False)), theirs(x))


@pytest.mark.parametrize(
    ("activation", "curve"),
    [
        ("swiglu", lambda x: x / (1 + math.exp(-x))),
        ("geglu", lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    ],
)
def test_a_gated_mlp_is_a_plain_loop(activation, curve):
    """arXiv:2002.05202, eq. 6."""
    shape = Architecture(layers=1, width=8, heads=2, mlp_ratio=1.5, activation=activation, mlp_bias=False)
    mlp = LanguageModel(shape, 50, generator(0)).double().layers[0].mlp
    x = torch.randn(8, dtype=torch.double)
    gate, line, back = (part.weight.tolist() for part in (mlp.gate, mlp.fc1, mlp.fc2))
    product = lambda row: sum(w * v for w, v in zip(row, x.tolist(), strict=True))  # noqa: E731
    inner = [curve(product(g)) * product(w) for g, w in zip(gate, line, strict=True)]
    expected = [sum(w * v for w, v in zip(row, inner, strict=True)) for row in back]
    torch.testing.assert_close(mlp(x), torch.tensor(expected, dtype=torch.double))


def test_the_top_of_a_stack_with_norms_behind_is_its_last_layer():
    before, behind = (LanguageModel(Architecture(norm_first=first), 50, generator(0)) for first in (True, False))
    assert (before.top_hidden_state, behind.top_hidden_state) == (3, 2)
    text = tokens_of(ROWS)
    model = LanguageModel(Architecture(norm_first=False), SPECIALS.size, generator(0))
    assert torch.equal(model.hidden_states(text)[-1], model.features(text))


@pytest.mark.parametrize(("sharing", "own"), [("none", 12), ("attention", 8), ("mlp", 4), ("all", 0)])
def test_what_layers_share_is_one_weight_that_is_saved_once(sharing, own):
    """Of 12 d^2 in a layer attention has 4, the MLP 8; a shared sub-layer brings its norm along."""
    layers = [parameters(width=64, heads=2, layers=n, layer_sharing=sharing) for n in (1, 2)]
    assert (layers[1] - layers[0]) // 64**2 == own
    model = LanguageModel(Architecture(layers=3, layer_sharing=sharing), 50, generator(0))
    assert sum(value.numel() for value in model.state_dict().values()) == sum(p.numel() for p in model.parameters())


def test_a_shared_layer_learns_from_every_depth():
    model, batch = made(Architecture(width=16, heads=2, layers=3, layer_sharing="all"))
    total_loss(model(batch))[0].backward()
    first, _, third = model.network.encoder.layers
    assert first.mlp.fc1.weight is third.mlp.fc1.weight
    assert bool(first.mlp.fc1.weight.grad.any())


def test_residual_matrices_start_smaller_the_deeper_the_stack():
    """GPT-2, sec. 2.3: divided by the root of the number of residual connections."""
    deep, flat = (LanguageModel(Architecture(layers=8, init=init), 50, generator(0)) for init in ("scaled", "normal"))
    for one, other in zip(deep.layers, flat.layers, strict=True):
        torch.testing.assert_close(one.attn.out.weight * 4, other.attn.out.weight)
        torch.testing.assert_close(one.mlp.fc2.weight * 4, other.mlp.fc2.weight)
        torch.testing.assert_close(one.mlp.fc1.weight, other.mlp.fc1.weight)


# dropout


def test_dropout_zeroes_its_share_keeps_the_mean_and_draws_from_the_given_generator():
    drop, x = Dropout(0.25), torch.ones(200, 200)
    assert drop(x) is x
    with dropping(drop, generator(0)):
        once = drop(x)
    with dropping(drop, generator(0)):
        assert torch.equal(drop(x), once)
    assert float((once == 0).float().mean()) == pytest.approx(0.25, abs=0.01)
    assert float(once.mean()) == pytest.approx(1.0, abs=0.02)
    assert drop(x) is x


@pytest.mark.parametrize("kind", ["transformer", "lstm"])
def test_a_run_with_dropout_is_the_same_again_and_goes_on_bit_for_bit(kind, tmp_path):
    """Whatever the global chance of PyTorch; and a step after loading is the same step."""
    parts = {"kind": kind, "dropout": 0.3, "weight_drop": 0.3 if kind == "lstm" else 0.0}

    def run(folder):
        made = run_of(steps=4, out=tmp_path / folder)
        return replace(made, entry=replace(made.entry, model=replace(made.entry.model, **parts)))

    for seed, folder in enumerate(("one", "other")):
        torch.manual_seed(seed)
        list(train(run(folder)))
    one, other = (checkpoint.load(tmp_path / folder).learner for folder in ("one", "other"))
    for weight, same in zip(one.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(weight, same)
    batch = one.batch(checkpoint.load(tmp_path / "one").corpus.held_out)
    first, second = (learner.learn(batch)[1] for learner in (one, other))
    assert float(first) == float(second)
    assert one.evaluate(checkpoint.load(tmp_path / "one").corpus.held_out) == other.evaluate(
        checkpoint.load(tmp_path / "other").corpus.held_out
    )


# recurrence


@every_cell
@every_direction
def test_recurrence_reads_each_row_as_the_layer_of_pytorch_alone(kind, reads):
    """Padding and the other rows change nothing, in either direction."""
    shape = Architecture(kind=kind, layers=1, width=16, heads=2, attention=reads)
    stack = RecurrentStack(shape, 1, 16).double()
    x, [layer] = torch.randn(3, 9, 16).double(), stack.blocks
    states = stack.hidden_states(x, DIRECTIONS[reads], None, 0, 1)[-1]
    for row, words in enumerate(ROWS):
        text = x[row : row + 1, : len(words)]
        sides = []
        if reads != "right to left":
            sides.append(layer.forward_rnn(text)[0])
        if reads != "left to right":
            sides.append(layer.backward_rnn(text.flip(1))[0].flip(1))
        torch.testing.assert_close(states[row, : len(words)], torch.cat(sides, -1)[0])


@every_cell
@every_direction
def test_what_a_recurrent_state_depends_on_is_what_its_mask_allows(kind, reads):
    """The gradient of each state by each word is exactly 0 outside the mask, after two layers, and not inside."""
    model, _ = made(Architecture(kind=kind, width=16, heads=2, attention=reads))
    inputs = replace(stream(tokens_of(ROWS).ids, LEVEL, REAL), attn_mask=DIRECTIONS[reads])
    x = torch.randn(3, 9, 16).double().requires_grad_()
    states = model.network.encoder.hidden_states(x, inputs.attn_mask, None, 0, 2)[-1]
    allowed = DIRECTIONS[reads].dense().expand(3, -1, -1)
    for row, words in enumerate(ROWS):
        for position in range(len(words)):
            [gradient] = torch.autograd.grad(states[row, position].sum(), x, retain_graph=True)
            reached = gradient.abs().sum(-1) > 0
            assert torch.equal(reached[row, : len(words)], allowed[row, position, : len(words)])
            assert not reached[[k for k in range(3) if k != row]].any()


@every_cell
def test_two_texts_side_by_side_are_read_apart_where_the_mask_says_so(kind):
    """InferSent: what stands in the second text never changes a state of the first."""
    model, batch = made(Architecture(kind=kind, width=16, heads=2), "InferSent")
    order = ReadingOrder.of(batch.inputs.attn_mask, len(batch.inputs.ids))
    segments = batch.inputs.segment_ids
    for number, positions in enumerate(order.rows):
        assert len(set(segments.flatten()[positions].tolist())) == 1, number
    assert all(bool(answer.scores.isfinite().all()) for answer in model(batch))


@pytest.mark.parametrize("each", [1, 3])
@pytest.mark.parametrize("name", ["ELMo", "CVT", "InferSent", "CoVe", "context2vec"])
def test_an_order_that_is_known_for_a_block_is_that_of_each_mask(name, each):
    blocks = prepared(run_of(name)).blocks
    for step in (0, 1):
        for part in (p for whole in in_parts(blocks.at(step), each) for p in whole.with_auxiliary):
            own, query = part.inputs.attn_mask, part.inputs.query_attn_mask
            for mask, inner in ((own, None), (query, own), (part.decoder and part.decoder.attn_mask, None)):
                if mask is None or (mask is own and query is not None):
                    continue
                assert mask.stretches is not None or mask.form in ("full", "causal")
                known = ReadingOrder.of(mask, len(part.inputs.ids), inner)
                asked = ReadingOrder.of(replace(mask, stretches=None, form="levels"), len(part.inputs.ids), inner)
                for one, other in zip(vars(known).values(), vars(asked).values(), strict=True):
                    assert torch.equal(torch.as_tensor(one), torch.as_tensor(other))


def test_a_mask_by_hand_that_recurrence_cannot_obey_is_refused_in_training():
    entry = tiny("ULMFiT")
    entry = entry.with_overrides((AttentionMaskOverride("encoder", closes=(-2,)),))
    with pytest.raises(UserError, match="this attention mask allows something else"):
        list(train(run_of(entry=entry)))


def test_context2vec_meets_the_word_before_from_the_left_and_the_next_from_the_right():
    """Melamud et al. 2016, sec. 2: the word itself changes nothing, and each other word of its text does."""
    model, batch = made(Architecture(kind="lstm", layers=1, width=16, heads=2, two_streams=True), "context2vec")
    network, table = model.network, model.token_embedding.weight
    positions = LEVEL[:, :9]

    def states(ids):
        return network.query_stream(replace(batch.inputs, ids=ids), positions, table)

    ids, before = batch.inputs.ids, states(batch.inputs.ids)
    for position in range(len(ROWS[0])):
        other = ids.clone()
        other[0, position] = 77
        changed = (states(other) - before).abs().sum(-1) > 0
        assert not changed[0, position]
        assert changed[0, [k for k in range(len(ROWS[0])) if k != position]].all()
        assert not changed[1:].any()


@pytest.mark.parametrize("name", ["seq2seq LM", "PLM", "UniLM"])
def test_a_mask_that_recurrence_cannot_obey_is_refused_in_a_sentence(name):
    model, batch = made(Architecture(kind="lstm", width=16, heads=2), name)
    with pytest.raises(UserError, match="kind to transformer"):
        model(batch)


def test_a_network_of_one_direction_refuses_what_it_would_have_to_see_on_the_other_side():
    model, batch = made(Architecture(kind="lstm", width=16, heads=2, attention="left to right"))
    with pytest.raises(UserError, match="set attention to bidirectional"):
        model(batch)
    with pytest.raises(UserError, match="this attention mask"):
        ReadingOrder.of(
            AttentionMask(LEVEL, LEVEL, overrides=torch.eye(9, dtype=torch.bool)[None] | (LEVEL[0] == 3)), 3
        )


def test_recurrence_has_a_decoder_that_attends_to_what_was_read():
    model, batch = made(Architecture(kind="lstm", width=16, heads=2), "translation")
    weights = model.attention(batch)
    assert set(weights) == {"cross"}
    allowed = batch.decoder.cross_attn_mask.dense()
    assert not weights["cross"][0, :, 0].masked_select(~allowed).any()
    readers = allowed.any(-1).expand(3, -1)
    torch.testing.assert_close(weights["cross"][0, :, 0].sum(-1), readers.double())


def test_the_one_vector_of_a_text_feeds_its_decoder_at_every_step():
    """LASER (arXiv:1812.10464, fig. 1): beside each word and, through a linear layer, as the initial states."""
    shape = Architecture(kind="lstm", width=16, heads=2, max_pooling=True, decoder_layers=1, languages=2)
    model, batch = made(shape, "translation through one vector")
    network, table, decoder = model.network, model.token_embedding.weight, batch.decoder
    read = network(batch.inputs, table)[:, 0]
    rnn, [initial] = network.decoder.blocks[0].forward_rnn, network.decoder.initial
    told = network.language_embedding.weight[decoder.language_ids]
    fed = torch.cat([table[decoder.ids] + told, read[:, None].expand(-1, decoder.ids.shape[1], -1)], dim=-1)
    begins = tuple(part.contiguous()[None] for part in initial(read).chunk(2, dim=-1))
    states = network.decode(decoder, batch.inputs, table)
    torch.testing.assert_close(states[decoder.valid], rnn(fed, begins)[0][decoder.valid])


def test_recurrent_layers_take_no_adapters():
    model, _ = made(Architecture(kind="gru", width=16, heads=2))
    with pytest.raises(UserError, match="kind=gru"):
        _ = model.layers


def test_adapters_of_a_layer_that_is_used_again_are_used_again():
    shape = Architecture(width=16, heads=2, layers=3)
    numbers = {
        sharing: len(LanguageModel(replace(shape, layer_sharing=sharing), 50, generator(0)).layers)
        for sharing in ("none", "all")
    }
    assert numbers == {"none": 3, "all": 1}


# letters


def test_words_that_are_spelt_alike_are_alike_and_the_spelling_decides():
    torch.manual_seed(0)
    words = CharacterCNN(32, ["walks", "walked", "xyz", "walks"])()
    assert torch.equal(words[0], words[3])
    near, far = ((words[0] - words[k]).norm() for k in (1, 2))
    assert near < far
    with pytest.raises(UserError, match="give the vocabulary"):
        CharacterCNN(32, [])


def test_vectors_made_of_letters_are_read_and_learn():
    words = [f"w{k}" for k in range(SPECIALS.size)]
    model, batch = made(Architecture(width=16, heads=2, char_cnn=True), words=words)
    total_loss(model(batch))[0].backward()
    assert all(bool(p.grad.any()) for p in model.network.characters.parameters() if p.dim() > 1)


def test_vectors_made_of_letters_begin_as_in_elmo_and_their_matrices_are_trained_by_muon():
    words = [f"w{k}" for k in range(SPECIALS.size)]
    model, _ = made(Architecture(width=16, heads=2, char_cnn=True), words=words)
    characters = model.network.characters
    assert set(characters.gate.bias.tolist()) == {-2.0}, "the highway carries most of what comes in"
    assert all(0.04 < float(c.weight.abs().max()) <= 0.05 for c in characters.convolutions)
    muon, adamw = optimisers(model, Recipe())
    trained = {id(p) for group in muon.param_groups for p in group["params"]}
    assert {id(layer.weight) for layer in (characters.gate, characters.highway, characters.projection)} <= trained
    assert id(characters.letter_embedding.weight) not in trained
    assert id(characters.letter_embedding.weight) in {id(p) for group in adamw.param_groups for p in group["params"]}


# sliding windows and window networks


@pytest.mark.parametrize("words", [1, 4])
@pytest.mark.parametrize(("name", "reads"), [("LM", "left to right"), ("backward LM", "right to left")])
def test_a_transformer_reads_plain_texts_and_gaps_with_the_sliding_window_that_it_trained_with(name, reads, words):
    batch = find_objective(name).turn({"sliding_window": words}).batch(tokens_of(ROWS[:1]), generator(0))
    shape = with_required_parts(Architecture(layers=1, width=8, heads=2, attention=reads), batch)
    assert shape.layer_window == words
    model = LanguageModel(shape, SPECIALS.size, generator(1)).double()
    [(_, plain)] = model._readings(tokens_of(ROWS[:1]))
    assert torch.equal(plain.attn_mask.dense(), batch.inputs.attn_mask.dense())
    gap, *_ = with_gap(shape, tokens_of(ROWS[:1]), torch.tensor([5])).with_auxiliary
    assert torch.equal(gap.inputs.attn_mask.dense(), batch.inputs.attn_mask.dense())
    assert sum(words_seen(shape, 5, 9)) == min(words, 5 if reads == "left to right" else 3)


@pytest.mark.parametrize(("name", "window"), [("LM", 0), ("LM", 64), ("MLM", 0)])
def test_a_window_that_hides_nothing_is_none(name, window):
    objective = find_objective(name)
    objective = objective.turn({"sliding_window": window}) if window else objective
    shape = Architecture(attention="bidirectional" if name == "MLM" else "left to right")
    assert with_required_parts(shape, objective.batch(tokens_of(ROWS), generator(0))).layer_window == 0


def test_a_model_takes_the_window_of_another_objective_when_it_is_trained_on():
    shape = Architecture(attention="left to right", sliding_window=3)
    assert with_required_parts(shape, find_objective("LM").batch(tokens_of(ROWS), generator(0))).layer_window == 0


def test_a_window_network_is_that_of_nnlm():
    """Bengio et al. 2003, eq. 1 without its direct way: U tanh(d + H [x_i-3; ...; x_i]) + b, with two tables."""
    shape = Architecture(
        kind="window", layers=1, width=8, heads=2, attention="left to right", tie_word_embeddings=False
    )
    model, batch = made(shape, "window LM")
    [layer], table = model.network.encoder.blocks, model.token_embedding.weight
    assert model.shape.window_radius == 3 and layer.fc.in_features == 4 * 8
    torch.nn.init.normal_(layer.boundary)
    [answer] = model(batch)
    for row, position, scores in zip(answer.rows, answer.positions, answer.scores, strict=True):
        ids = batch.inputs.ids[row]
        beside = [table[ids[at]] if at >= 0 else layer.boundary for at in range(int(position) - 3, int(position) + 1)]
        hidden = torch.tanh(layer.fc.weight @ torch.cat(beside) + layer.fc.bias)
        torch.testing.assert_close(scores, model.lm_head.table.weight @ hidden + model.lm_head.bias)


@every_direction
def test_a_window_network_reads_as_far_as_its_masks_and_a_plain_text_so_too(reads):
    shape = Architecture(kind="window", layers=2, width=8, heads=2, attention=reads, window_radius=2)
    model = LanguageModel(shape, SPECIALS.size, generator(1)).double()
    text = tokens_of(ROWS[:1])
    sides = [side for side, other in ((-1, "right to left"), (1, "left to right")) if reads != other]
    before = model.features(text)
    for position in range(9):
        ids = text.ids.clone()
        ids[0, position] = 77
        changed = (model.features(replace(text, ids=ids)) - before).abs().sum(-1)[0] > 0
        near = [k for k in range(9) if k == position or (abs(position - k) <= 4 and (position - k > 0) == (1 in sides))]
        near = [k for k in range(9) if abs(position - k) <= 4] if len(sides) == 2 else near
        assert changed.nonzero().flatten().tolist() == near


def test_a_window_is_as_wide_as_the_objective_opens_it_and_anything_else_is_refused():
    shape = Architecture(kind="window", layers=1, width=8, heads=2, attention="left to right")
    wide = find_objective("window LM").turn({"sliding_window": 6}).batch(tokens_of(ROWS), generator(0))
    assert with_required_parts(shape, wide).window_radius == 5
    with pytest.raises(UserError, match="set attention to bidirectional"):
        made(shape.reading("right to left"), "window LM")
    for name in ("MLM", "LM", "skip-gram"):
        with pytest.raises(UserError, match="opens whole texts or no neighbour; set sliding_window, or kind"):
            made(shape.reading("bidirectional"), name)
    with pytest.raises(UserError, match="set kind to transformer"):
        replace(shape, decoder_layers=1)
    model, _ = made(shape, "window LM")
    with pytest.raises(UserError, match="opens 9 positions, but this window network reads 3 to a side"):
        model(find_objective("LM").batch(tokens_of(ROWS), generator(0)))


# second positions


SECOND = {
    "added": Architecture(width=16, heads=2),
    "concatenated": Architecture(width=16, heads=2, positions="learned", second_positions="concatenated"),
}


@pytest.mark.parametrize("second", SECOND)
def test_a_second_position_is_a_second_vector_or_half_of_one(second):
    """Added (GLM, arXiv:2103.10360, sec. 2.2); one table for both halves (sigma-GPT, released code)."""
    model, batch = made(SECOND[second], "any-order LM")
    assert model.shape.second_positions == second
    stream, network = batch.inputs, model.network
    x = network._embed(stream, model.token_embedding.weight)
    for row in range(len(stream.ids)):
        for n in range(stream.ids.shape[1]):
            own, ahead = int(stream.position_ids[row, n]), int(stream.second_position_ids[row, n])
            expected = model.token_embedding.weight[stream.ids[row, n]]
            if second == "added":
                expected = expected + network.second_position_embedding.weight[ahead]
            else:
                table = network.second_position_embedding.weight
                assert table.shape == (128, 8)
                expected = expected + torch.cat([table[own], table[ahead]])
            torch.testing.assert_close(x[row, n], expected)
    assert (
        checkpoint._check_size(model.shape, SPECIALS.size, {f"model.{k}": v for k, v in model.named_parameters()})
        is None
    )


@pytest.mark.parametrize("reads", ["left to right", "bidirectional"])
def test_a_plain_text_has_the_second_positions_of_its_own_order(reads):
    """From the left the next word is predicted; else no token is in a span."""
    model = made(Architecture(width=16, heads=2, attention=reads), "any-order LM")[0]
    text = tokens_of(ROWS)
    plain = model._plain(text)
    position = torch.arange(9).expand(3, -1)
    given = replace(plain, second_position_ids=position + 1 if reads == "left to right" else position * 0)
    torch.testing.assert_close(model.features(text), model.network(given, model.token_embedding.weight))


def test_rows_keep_their_second_positions_when_a_batch_is_cut_or_put_together():
    batch = find_objective("any-order LM").batch(tokens_of(ROWS), generator(0))
    second, lm = batch.inputs.second_position_ids, find_objective("LM").batch(tokens_of(ROWS[1:]), generator(0))
    parts = split_rows(batch, 1, trim=True)
    assert [part.inputs.second_position_ids.tolist() for part in parts] == [
        [second[row, : len(ROWS[row])].tolist()] for row in range(3)
    ]
    whole = gathered([batch, lm], [torch.tensor([0, 2, 4]), torch.tensor([1, 3])])
    assert torch.equal(whole.inputs.second_position_ids[[0, 2, 4]], second)
    assert not whole.inputs.second_position_ids[[1, 3]].any()


def test_who_cannot_read_a_second_position_says_so():
    _, batch = made(Architecture(width=16, heads=2), "any-order LM")
    with pytest.raises(UserError, match=r"gives each token a second position.*set second_positions to added"):
        LanguageModel(Architecture(width=16, heads=2), SPECIALS.size, generator(1))(batch)
    with pytest.raises(UserError, match=r"gives each token a second position.*set kind to transformer"):
        with_required_parts(Architecture(kind="static", width=16, heads=2), batch)
    with pytest.raises(UserError, match="second_positions is added, but kind is static"):
        Architecture(kind="static", second_positions="added")
    model = LanguageModel(
        Architecture(width=16, heads=2, max_position_embeddings=8, second_positions="added"),
        SPECIALS.size,
        generator(1),
    )
    with pytest.raises(UserError, match="has 9 positions; this model learned 8"):
        model(batch)
    named = Architecture(positions="learned", second_positions="added", attention="left to right")
    assert all(any("second_positions is added" in each for each in f.differences(named)) for f in families().values())
