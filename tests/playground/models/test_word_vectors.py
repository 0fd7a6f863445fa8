"""Static word vectors: what they hear, how they score and learn, what letters add (models/word_vectors.py)."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings

from playground import leaks
from playground.answers import NegativeSampling
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import Architecture, make_model, with_required_parts
from playground.models.groups import layer_groups
from playground.models.word_vectors import buckets
from playground.objectives import find_objective
from playground.objectives.bind import with_cooccurrences
from playground.objectives.ops import cooccurrence
from playground.rng import generator
from playground.training import checkpoint
from playground.training.train_state import TrainState
from playground.zoo import Recipe
from playground.zoo.entry import Entry
from tests.laws import influences
from tests.runs import reviews
from tests.texts import SPECIALS, batches, seeds, tokens_for

STATIC = ("skip-gram", "skip-gram NS", "skip-gram NCE", "CBOW", "CBOW NS", "pairwise ranking", "context2vec", "GloVe")


every_static = pytest.mark.parametrize("name", STATIC)


def static(name, seed=1, knobs=None, **shape):
    """A static model in double precision that can answer an objective's example of a text."""
    objective = find_objective(name).turn(knobs or {})
    batch = objective.batch(tokens_for(objective), generator(0))
    made = with_required_parts(Architecture(kind="static", width=8, heads=2, **shape), batch)
    return make_model(made, SPECIALS.size, generator(seed)).double(), batch


@every_static
@pytest.mark.parametrize("seed", range(2))
def test_gradients_flow_exactly_where_visibility_lets_them(name, seed, monkeypatch):
    model, batch = static(name, seed)
    embedded = {}
    embed = type(model.network)._embed

    def watch(network, stream, table):
        embedded[id(stream)] = embed(network, stream, table).detach().requires_grad_()
        return embedded[id(stream)]

    monkeypatch.setattr(type(model.network), "_embed", watch)
    (answer,) = model(batch)
    reach, _ = leaks.answering(batch, answer.target, 1)
    assert torch.equal(influences(answer, embedded[id(batch.inputs)]), reach[answer.positions])


@settings(max_examples=20)
@given(tokens=batches(), seed=seeds)
def test_the_short_way_of_a_window_is_the_mean_of_its_matrix(tokens, seed):
    batch = find_objective("CBOW").batch(tokens, generator(seed))
    model = make_model(
        Architecture(kind="static", width=8, heads=2, two_streams=True), SPECIALS.size, generator(seed)
    ).double()
    inputs = batch.inputs
    positions = torch.arange(inputs.ids.shape[1]).expand(inputs.ids.shape)
    short = model.network.query_stream(inputs, positions, model.token_embedding.weight)
    slow = replace(inputs, query_attn_mask=replace(inputs.query_attn_mask, form="levels"))
    torch.testing.assert_close(short, model.network.query_stream(slow, positions, model.token_embedding.weight))
    seen = inputs.query_attn_mask.dense()
    for row in range(len(seen)):
        for position in range(seen.shape[1]):
            words = model.token_embedding.weight[inputs.ids[row][seen[row, position]]]
            mean = words.mean(0) if len(words) else torch.zeros(8, dtype=torch.double)
            torch.testing.assert_close(short[row, position], mean)


def test_a_word_is_the_same_wherever_it_stands():
    model, batch = static("skip-gram")
    vectors = model.features(batch.tokens)
    ids = batch.tokens.ids[0]
    assert torch.equal(vectors[0], model.token_embedding.weight[ids])
    assert layer_groups(model) == {"embeddings": ["token_embedding.weight"], "heads": ["lm_head.out.weight"]}


def test_the_weights_that_are_drawn_are_the_mean():
    model, batch = static("CBOW")
    found = model.attention(batch)
    assert set(found) == {"content", "query"}
    query = found["query"][0, 0, 0]
    seen = batch.inputs.query_attn_mask.dense()[0]
    assert torch.equal(query > 0, seen)
    torch.testing.assert_close(query.sum(1), torch.ones(len(seen), dtype=torch.double))


def test_static_vectors_do_not_write():
    model, _ = static("CBOW")
    batch = find_objective("BART").batch(tokens_for(find_objective("BART")), generator(0))
    with pytest.raises(
        UserError, match=r"writes with a decoder, which static vectors cannot do; set kind to transformer"
    ):
        make_model(with_required_parts(model.shape, batch), SPECIALS.size, generator(0))(batch)


@pytest.mark.parametrize("name", ["skip-gram", "skip-gram NS", "skip-gram NCE", "CBOW", "CBOW NS"])
def test_words_are_scored_by_the_product_of_two_vectors_and_nothing_else(name):
    """The formulas hold u·v without any bias (arXiv:1310.4546, eq. 2 and 4)."""
    model, batch = static(name)
    (answer,) = model(batch)
    seen = batch.inputs.attn_mask if "skip" in name else batch.inputs.query_attn_mask
    shares = seen.dense().double()
    shares = shares / shares.sum(-1, keepdim=True).clamp(min=1)
    own = (shares @ model.token_embedding.weight[batch.inputs.ids])[answer.rows, answer.positions]
    out = model.lm_head.out.weight
    right = (own * out[answer.labels]).sum(1)
    contrast = isinstance(answer.target.kind, NegativeSampling)
    first = 0 if contrast else answer.labels[:, None]
    found = answer.scores[:, 0] if contrast else answer.scores.gather(1, first)[:, 0]
    torch.testing.assert_close(found, right)
    assert {n for n, _ in model.named_parameters()} == {"token_embedding.weight", "lm_head.out.weight"}


def test_a_window_is_scored_by_a_hidden_layer_over_all_its_words_in_order():
    """Collobert and Weston 2008, sec. 3 and 5: v tanh(W [window] + b), and a hinge against a wrong centre."""
    model, batch = static("pairwise ranking", window_radius=5)
    network, head, table = model.network, model.lm_head, model.token_embedding.weight
    torch.nn.init.normal_(network.boundary)
    [answer] = model(batch)
    sides, centre = network.fc.weight.split(40, dim=1), head.centre.weight
    whole = torch.cat([sides[0], centre, sides[1]], dim=1)
    open_to = batch.inputs.query_attn_mask.dense()

    def score(row, position, word):
        at = range(position - 5, position + 6)
        there = [0 <= k < open_to.shape[2] and bool(open_to[row, position, k]) for k in at]
        words = [table[batch.inputs.ids[row, k]] if t else network.boundary for k, t in zip(at, there, strict=True)]
        return head.out.weight[0] @ torch.tanh(
            whole @ torch.cat([*words[:5], table[word], *words[6:]]) + network.fc.bias
        )

    wrong = answer.at(answer.target.kind.negatives)
    for number, (row, position) in enumerate(zip(answer.rows.tolist(), answer.positions.tolist(), strict=True)):
        true, false = (score(row, position, word) for word in (answer.labels[number], wrong[number, 0]))
        torch.testing.assert_close(answer.losses()[number], (1 - true + false).clamp(min=0))
    hidden = network.query_stream(batch.inputs, answer.positions[None, :1].expand(len(batch.tokens.ids), -1), table)
    every = head(hidden[answer.rows[0]], table)[0]
    torch.testing.assert_close(every[answer.labels[0]], answer.scores[0, 0])


def test_scores_of_some_words_are_those_of_all():
    """With static vectors and with a transformer alike."""
    for kind in ("static", "transformer"):
        shape = Architecture(layers=1, width=8, heads=2, mlp_ratio=1, kind=kind)
        model = make_model(shape, SPECIALS.size, generator(2)).double()
        hidden = torch.randn(5, 8, generator=generator(3), dtype=torch.double)
        words = torch.tensor([[40, 41, 42]] * 5)
        some, every = (
            model.lm_head.score_candidates(hidden, words, model.token_embedding),
            model.score(hidden, "vocabulary", model.network),
        )
        torch.testing.assert_close(some, every.gather(1, words))


# GloVe


def test_glove_weighs_counts_as_published():
    """X = 1 .032, 10 .178, 50 .595, 100 and more 1 (inventory, appendix D): the share of the square that is paid."""
    model, batch = static("GloVe")
    target = batch.targets[0]
    for times, share in ((1.0, 0.032), (10.0, 0.178), (50.0, 0.595), (100.0, 1.0), (400.0, 1.0)):
        against = replace(target.kind, counts=torch.full_like(target.kind.counts, times))
        (answer,) = model(replace(batch, targets=(replace(target, kind=against),)))
        square = (answer.scores[:, 0] - math.log(times)) ** 2
        torch.testing.assert_close(answer.losses() / square, torch.full_like(square, share), atol=5e-4, rtol=0)


def test_glove_is_content_when_the_logarithm_is_met():
    model, batch = static("GloVe")
    (answer,) = model(batch)
    met = replace(answer, scores=answer.target.kind.counts[answer.rows, answer.positions].log()[:, None])
    assert float(met.mean()) == 0.0
    assert float(answer.mean()) > 0.0


def test_glove_has_a_bias_for_each_side():
    """w·w~ + b + b~: the last number of a word's own vector is its bias (Pennington et al. 2014, eq. 8)."""
    model, batch = static("GloVe")
    torch.nn.init.normal_(model.lm_head.bias, generator=generator(4))
    (answer,) = model(batch)
    word = batch.inputs.ids[answer.rows, answer.positions]
    own, out = model.token_embedding.weight[word], model.lm_head.out.weight[answer.labels, :-1]
    expected = (own[:, :-1] * out).sum(1) + own[:, -1] + model.lm_head.bias[answer.labels]
    torch.testing.assert_close(answer.scores[:, 0], expected)


# letters


def test_ngrams_of_a_word_are_those_between_its_ends():
    """fastText (arXiv:1607.04606, sec. 3.2): where is <wh, whe, her, ere, re> and longer ones; the word is its own."""
    assert len(buckets("where", 1 << 30)) == 5 + 4 + 3 + 2
    assert buckets("a", 1 << 30) == []
    assert len(set(buckets("her", 1 << 30)) & set(buckets("where", 1 << 30))) == 1, "her, which is not <her>"
    assert len(set(buckets("walked", 1 << 30)) & set(buckets("walking", 1 << 30))) == len(
        {"<wa", "wal", "alk", "<wal", "walk", "<walk"}
    )


def test_words_that_are_spelt_alike_are_near_before_any_training():
    words = ("walked", "walks", "sun")
    model = make_model(Architecture(kind="static", width=16, heads=2, ngrams=5000), 3, generator(0), words)
    table = model.token_embedding.weight
    walked, walks, sun = model.network.vectors(table) - table
    grams = model.network.ngram_embedding.weight
    torch.testing.assert_close(walks, grams[buckets("walks", 5000)].sum(0))
    near, far = torch.nn.functional.cosine_similarity(walks[None], torch.stack([walked, sun])).tolist()
    assert near > far + 0.2
    with pytest.raises(UserError, match="need the spelling of the words"):
        make_model(Architecture(kind="static", width=16, heads=2, ngrams=50), 3, generator(0))


# training


def entry_of(name, **model):
    """An entry around an objective, small."""
    shape = Architecture(kind="static", width=16, heads=2, two_streams=True, counts=name == "GloVe", **model)
    recipe = Recipe(steps=40, batch_size=8, seq_len=16, optimiser="adamw", lr=2e-2, warmup_ratio=0.02)
    return Entry(name, 2013, "arXiv:1310.4546", "A test.", shape, find_objective(name), recipe=recipe)


def test_a_static_model_is_saved_and_goes_on_bit_for_bit(tmp_path, monkeypatch):
    corpus = reviews()
    entry = entry_of("CBOW NS", ngrams=300)
    monkeypatch.setattr(checkpoint, "entry_named", lambda name: entry)
    words = corpus.tokenizer.words
    learner = TrainState.new(entry, words, 0, torch.device("cpu"))
    batch = pick(corpus.windows(16), torch.arange(8))
    learner.learn(learner.batch(batch))
    studied = checkpoint.CorpusInfo(
        corpus.name, corpus.hash, 1.0, pick(corpus.windows(16, "held_out"), torch.arange(4))
    )
    saved = checkpoint.load(
        checkpoint.save(tmp_path / "checkpoint.safetensors", learner, corpus.tokenizer, studied)
    ).learner
    for one in (learner, saved):
        one.learn(one.batch(batch))
    assert all(torch.equal(a, b) for a, b in zip(learner.model.parameters(), saved.model.parameters(), strict=True))


@pytest.mark.parametrize("name", ["skip-gram NS", "CBOW", "GloVe"])
def test_words_that_mean_alike_come_near_each_other(name):
    corpus = reviews()
    entry = entry_of(name)
    table = cooccurrence.cooccurrence(corpus.ids[: corpus.held_out_from], corpus.tokenizer.specials)
    entry = replace(entry, objective=with_cooccurrences(entry.objective, table))
    learner = TrainState.new(entry, corpus.tokenizer.words, 0, torch.device("cpu"))
    windows = corpus.windows(16)
    rows = (torch.arange(8) + 8 * (step % 140) for step in range(141))
    learned = [float(learner.learn(learner.batch(pick(windows, some)))[1]) for some in rows]
    assert learned[-1] < 0.8 * learned[0], "the same batch, before and after"
