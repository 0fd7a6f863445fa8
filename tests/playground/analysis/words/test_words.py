"""Words as vectors against known truth: planted offsets, planted senses, counted ratios."""

import os
from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from playground.analysis.instrument import instrument_named
from playground.analysis.instruments.analogies import TOP
from playground.analysis.instruments.cooccurrence_ratios import _chances
from playground.analysis.instruments.neighbours import _classes, _share_of_class
from playground.analysis.probing.classifier import split_by
from playground.analysis.subject import Subject
from playground.analysis.words.contexts import (
    contextuality,
    first_component,
    mean_cosine,
    participation_ratio,
    silhouette,
    subspace_curve,
)  # fmt: skip
from playground.analysis.words.vectors import (
    frequent_words,
    in_a_plane,
    known_words,
    nearest,
    three_cos_add,
    word_vectors,
)
from playground.corpora import open_corpus
from playground.errors import UserError
from playground.knob import turn
from playground.models import Architecture
from playground.models.model import make_model
from playground.objectives import find_objective
from playground.objectives.ops.cooccurrence import cooccurrence
from playground.rng import generator
from playground.tokenizing.padding import pad_rows
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import reviews, run_of, tiny


@cache
def made(name):
    """A small corpus, made anew so that no test reads or fills the cache of the person who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        return open_corpus(name, tokens=20_000)


def random(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed, "words"))


def test_a_planted_offset_is_solved_by_three_cos_add_and_not_without_it():
    base, offset = normalize(random(20, 32), dim=-1), 0.8 * normalize(random(1, 32, seed=1), dim=-1)
    vectors = torch.cat([base, base + offset + 0.02 * random(20, 32, seed=2)])
    questions = [(a, a + 20, c) for a in range(5) for c in range(5, 20)]
    solved = three_cos_add(vectors, torch.arange(40), questions)
    assert solved.answers.tolist() == [c + 20 for _, _, c in questions]
    shuffled = torch.cat([base, base[torch.randperm(20, generator=generator(0))] + random(20, 32, seed=3)])
    assert float((three_cos_add(shuffled, torch.arange(40), questions).answers >= 20).float().mean()) > 0
    assert not set(solved.answers[:15].tolist()) & {0, 20}


def test_three_cos_add_is_the_formula():
    vectors = random(12, 5)
    unit = (vectors / vectors.norm(dim=1, keepdim=True)).numpy()
    for a, b, c in ((0, 1, 2), (3, 4, 5)):
        target = unit[b] - unit[a] + unit[c]
        scores = unit @ target / np.linalg.norm(target)
        scores[[a, b, c]] = -9
        assert int(three_cos_add(vectors, torch.arange(12), [(a, b, c)]).answers) == int(scores.argmax())


def test_a_parallelogram_stays_one_in_its_plane():
    corners = random(3, 16)
    a, b, c = corners
    plane = in_a_plane(torch.stack([a, b, b - a + c, c]), corners)
    torch.testing.assert_close(plane[1] - plane[0], plane[2] - plane[3])
    assert torch.dist(plane[0], plane[1]) == pytest.approx(float(torch.dist(a.double(), b.double())), rel=1e-5)


def test_neighbours_are_sorted_by_cosine():
    vectors = torch.eye(4) + torch.tensor([[0.0], [0.0], [0.0], [1.0]]) * torch.eye(4)[:1]
    found, cosines = nearest(vectors[[0]], vectors, torch.tensor([1, 2, 3]), 2)
    assert int(found[0, 0]) == 3 and float(cosines[0, 0]) == pytest.approx(0.5**0.5)


def test_vectors_that_are_the_same_everywhere_are_not_contextual():
    ids = torch.randint(60, 66, (60, 5), generator=generator(0))
    tokens = pad_rows(ids.tolist(), reviews().tokenizer.specials, reviews().tokenizer.words)
    static = random(70, 8)[tokens.ids]
    own = contextuality(static, tokens, 5, 40, generator(1))
    assert own.self_similarity == pytest.approx(1.0, abs=1e-5) and own.explained == 1.0
    noise = contextuality(random(60, 5, 8), tokens, 5, 40, generator(1))
    assert abs(noise.self_similarity) < 0.05 > abs(noise.anisotropy)
    cone = contextuality(random(60, 5, 8) * 0.1 + 1, tokens, 5, 40, generator(1))
    assert cone.anisotropy > 0.9 and abs(cone.adjusted_self_similarity) < 0.05


def test_mean_cosine_is_that_of_all_pairs():
    unit = normalize(random(7, 3), dim=-1)
    pairs = [float(unit[i] @ unit[j]) for i in range(7) for j in range(7) if i != j]
    assert mean_cosine(unit) == pytest.approx(np.mean(pairs), abs=1e-6)


def test_dimensions_are_counted():
    flat = random(400, 3) @ torch.linalg.qr(random(16, 3, seed=1))[0].T
    assert participation_ratio(flat) == pytest.approx(3, abs=0.15)
    assert first_component(random(50, 1) @ random(1, 6, seed=2)) == pytest.approx(1.0)
    assert participation_ratio(torch.ones(4, 3)) == 0.0


def test_planted_senses_make_clusters_and_static_vectors_none():
    senses = torch.arange(60) % 2
    assert silhouette(random(60, 6) * 0.1 + torch.eye(6)[senses], senses) > 0.7
    assert abs(silhouette(random(60, 6), senses)) < 0.1
    assert silhouette(torch.ones(60, 6), senses) == 0.0


def test_senses_in_two_dimensions_are_told_by_two_trained_ones():
    labels = torch.arange(300) % 3
    x = 3 * random(300, 24) + 0.0
    x[:, :2] = 0.3 * random(300, 2, seed=4) + torch.tensor([[1.0, 0], [-1, 0], [0, 1.7]])[labels]
    two = subspace_curve(x, labels, split_by(torch.arange(300), 0), [2], generator(0))[0]
    assert two["trained"] > 0.9 > 0.6 > two["principal"]
    assert two["random"] < 0.6


def test_ratios_are_those_of_counts_by_hand():
    corpus = made("families")
    cells = cooccurrence(corpus.ids, corpus.tokenizer.specials, 4)
    ice, solid, gas = (corpus.tokenizer.encode_word(word)[0] for word in ("ice", "solid", "gas"))
    of = _chances(cells, ice, 0.0, len(corpus.tokenizer))
    assert float(of.sum()) == pytest.approx(1.0)
    own = cells.word == ice
    assert float(of[solid]) == pytest.approx(
        float(cells.seen[own & (cells.other == solid)].sum() / cells.seen[own].sum())
    )
    assert of[solid] > 2 * of[gas]


TYPED = """ice is solid
steam is a gas
Ice is water.  Steam is water. Ice is solid
the zeppelin is steam"""

READ = "ice is solid|steam is a gas|ice is water .|steam is water .|ice is solid|the is steam"
"""Its sentences as they are counted; the unknown word is skipped."""


def counts_by_hand(word):
    """What stands next to a word, at most 2 words away: 1/d for the distance d."""
    counts = dict.fromkeys(READ.replace("|", " ").split(), 0.0)
    for sentence in READ.split("|"):
        words = sentence.split()
        for (i, one), (j, other) in permutations(enumerate(words), 2):
            counts[other] += 1 / abs(i - j) if one == word and abs(i - j) <= 2 else 0.0
    return counts


def test_a_typed_text_is_counted_instead_of_the_training_text(families):
    instrument = instrument_named("co-occurrence ratios")
    settings = turn(instrument.settings, {"text": TYPED, "window": 2, "smoothing": 0.01, "others": "solid gas fashion"})
    found, every = instrument.look(families, settings), 0.01 * len(families.tokenizer)
    ice, steam = counts_by_hand("ice"), counts_by_hand("steam")
    assert (ice["solid"], ice["gas"], steam["a"]) == (1.0, 0.0, 0.5)
    for word in ("solid", "gas", "fashion"):
        chances = [(row.get(word, 0.0) + 0.01) / (sum(row.values()) + every) for row in (ice, steam)]
        assert found.number(word) == pytest.approx(chances[0] / chances[1])
    assert "zeppelin" in found.headline and "says nothing: fashion." in found.headline
    assert {*found.tables[1].columns["word"]} == {*READ.replace("|", " ").split()}
    with pytest.raises(UserError, match="does not have the word steam"):
        instrument.look(families, replace(settings, text="ice is solid"))


@pytest.fixture(scope="module")
def families():
    corpus = made("families")
    run = run_of(entry=tiny("word2vec"), corpus=corpus)
    return of_learner(TrainState.new(run.entry, corpus.tokenizer.words, 0, run.device), corpus, "word2vec")


@pytest.mark.parametrize("name", ["analogies", "sums of words", "co-occurrence ratios", "neighbours and map"])
def test_instruments_of_words_answer_on_families(name, families):
    instrument = instrument_named(name)
    assert not instrument.missing(families)
    found = instrument.look(families)
    assert found.headline.endswith(".") and all(len(table) for table in found.tables)
    assert all(0 <= n.value <= 1 for n in found.numbers if n.unit.startswith("share"))


@pytest.mark.parametrize("name", ["analogies", "sums of words"])
def test_rare_words_are_neither_asked_for_nor_answers(name, families):
    instrument = instrument_named(name)
    with pytest.raises(UserError, match="1000 times"):
        instrument.look(families, replace(instrument.settings, fewest=1000))
    counts = torch.bincount(families.corpus.ids[: families.corpus.held_out_from])
    few = sorted(int(counts[families.corpus.tokenizer.encode_word(c)]) for c in ("france", "italy", "spain", "poland"))
    found = instrument.look(families, replace(instrument.settings, fewest=few[0] + 1))
    asked = " ".join(str(value) for table in found.tables for column in table.columns.values() for value in column)
    rare = [c for c in ("france", "italy", "spain", "poland")
            if int(counts[families.corpus.tokenizer.encode_word(c)]) == few[0]]  # fmt: skip
    assert not any(f"{country} +" in asked or f"{country} :" in asked for country in rare)


@pytest.mark.parametrize(("name", "asked"), [("analogies", 3), ("sums of words", 2)])
def test_the_chance_of_an_answer_is_one_among_the_words_that_are_not_in_the_question(name, asked, families):
    free = len(known_words(families.corpus, 5)) - asked
    for number in instrument_named(name).look(families).numbers:
        assert number.baselines["chance"] == (TOP / free if number.name.endswith(str(TOP)) else 1 / free)


def test_the_chance_of_a_neighbour_of_the_same_part_of_speech_is_counted_over_pairs(families):
    known = frequent_words(families.corpus)[:30]
    classes = _classes(families).clone()
    classes[known[:7]] = -1
    share, chance = _share_of_class(classes, word_vectors(families.model), known)
    own = [k for k in classes[known].tolist() if k >= 0]
    pairs = [a == b for a, b in permutations(own, 2)]
    assert chance == pytest.approx(sum(pairs) / len(pairs))
    assert 0 <= share <= 1


def test_all_dimensions_are_the_last_subspace_also_of_a_wide_model():
    corpus = made("senses")
    entry = tiny("RoBERTa", {"width": 72})
    subject = of_learner(TrainState.new(entry, corpus.tokenizer.words, 0, torch.device("cpu")), corpus)
    table = instrument_named("sense subspace").look(subject).tables[0]
    columns = zip(*(table.columns[name] for name in ("dimensions", "space", "accuracy")), strict=True)
    [whole] = [accuracy for size, space, accuracy in columns if (size, space) == (72, "principal")]
    assert table.lines["all dimensions"] == whole


def test_a_subspace_that_never_suffices_is_said_to_be_none(monkeypatch):
    poor = [{"trained": 0.1, "principal": 0.8, "random": 0.1}]
    monkeypatch.setattr("playground.analysis.instruments.contextuality.SIZES", ())
    monkeypatch.setattr("playground.analysis.instruments.contextuality.subspace_curve", lambda *_: poor)
    corpus = made("senses")
    subject = of_learner(TrainState.new(tiny(), corpus.tokenizer.words, 0, torch.device("cpu")), corpus)
    found = instrument_named("sense subspace").look(subject)
    assert found.headline.startswith("No subspace") and np.isnan(found.numbers[0].value)


def test_static_vectors_are_not_said_to_have_learned_positions():
    shape = replace(tiny("word2vec").model, positions="learned")
    subject = Subject("w", make_model(shape, 60, generator(0)), reviews(), find_objective("CBOW"), reviews().windows(8))
    assert "Static vectors" in instrument_named("position vectors").missing(subject)


def test_ice_goes_with_solid_and_steam_with_gas(families):
    found = instrument_named("co-occurrence ratios").look(families)
    assert found.number("solid") > 3 > 1 / 3 > found.number("gas")
    assert 0.4 < found.number("water") < 2.5


def test_kinds_beat_chance_where_vectors_hold_them():
    corpus = made("kinds")
    run = run_of(entry=tiny("word2vec"), corpus=corpus)
    subject = of_learner(TrainState.new(run.entry, corpus.tokenizer.words, 0, run.device), corpus, "word2vec")
    found = instrument_named("taxonomic and attributive neighbours").look(subject)
    assert all(0 <= n.value <= 1 for n in found.numbers)


def test_a_word_that_is_not_there_is_refused(families):
    with pytest.raises(UserError, match="no word 'xylophone'"):
        instrument_named("neighbours and map").look(
            families, instrument_named("neighbours and map").settings.__class__("xylophone")
        )


def test_word_vectors_of_a_transformer_are_its_embeddings():
    model = make_model(Architecture(width=8, heads=2, layers=1), 30, generator(0))
    assert torch.equal(word_vectors(model), model.token_embedding.weight.detach())


def test_planted_position_vectors_are_alike_where_they_are_near():
    run = run_of(entry=tiny("BERT", {"positions": "learned"}), corpus=reviews())
    model = TrainState.new(run.entry, reviews().tokenizer.words, 0, run.device).model
    angle = torch.arange(model.network.position_embedding.num_embeddings)[:, None] * torch.linspace(0.01, 0.3, 8)
    with torch.no_grad():
        model.network.position_embedding.weight.copy_(torch.cat([angle.sin(), angle.cos()], 1))
    rows = reviews().windows(16, "held_out")
    subject = Subject("BERT", model, reviews(), run.entry.objective, rows)
    instrument = instrument_named("position vectors")
    assert not instrument.missing(subject)
    found = instrument.look(subject)
    assert found.number("neighbouring positions") > 0.9 > found.numbers[0].baselines["more than half the text apart"]


def test_a_planted_sum_is_found_and_noise_is_not(families):
    """Each capital stands where its country and the word capital add up to."""
    look, noise = instrument_named("sums of words"), random_subject(families)
    assert look.look(noise).number("capital is the nearest") < 0.5
    table, encode = noise.model.token_embedding.weight.data, noise.tokenizer.encode_words
    columns = look.look(noise).tables[0].columns
    for text, city in zip(columns["sum"], columns["true"], strict=True):
        country, _, capital = text.split()
        one, other, sum_of_both = (encode([word])[0] for word in (country, capital, city))
        table[sum_of_both] = normalize(table[one], dim=0) + normalize(table[other], dim=0)
    assert look.look(noise).number("capital is the nearest") == 1.0


def random_subject(subject):
    """The same corpus with word vectors of noise, which the test may change."""
    model = make_model(subject.model.shape, len(subject.tokenizer.words), generator(0, "noise"))
    with torch.no_grad():
        model.token_embedding.weight.copy_(random(*model.token_embedding.weight.shape))
    return replace(subject, model=model, known={})
