"""Probing classifiers against known truth: what is planted is found, what is not there is not."""

import math
import os
from dataclasses import replace
from functools import cache

import pytest
import torch

from playground.analysis.instrument import instrument_named
from playground.analysis.instruments.edge_probing import TASKS
from playground.analysis.probing.classifier import (
    accuracy,
    baselines,
    fit,
    probe_curve,
    random_encoder,
    split_by,
    split_items,
)  # fmt: skip
from playground.analysis.probing.edges import edge_probe
from playground.analysis.probing.items import Items, Texts, items_of
from playground.analysis.probing.reading import probing_items
from playground.analysis.probing.task import find_probing_task, homographs, probing_tasks, token_items
from playground.analysis.probing.tasks.sentences import with_ids
from playground.analysis.probing.texts import depths, different
from playground.analysis.subject import draw_sentences, read_states
from playground.corpora import open_corpus
from playground.errors import UserError
from playground.models import Architecture
from playground.models.model import make_model
from playground.rng import generator
from playground.tokenizing.padding import pad_rows
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import learner_of, reviews, tiny

CLASSES = ("a", "b", "c")


def random(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed, "planted"))


@cache
def world():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        return open_corpus("world", tokens=60_000)


def drawn(most, corpus=None, part="held_out"):
    """Different sentences of the reviews, or of another corpus, with their labels."""
    corpus = corpus or reviews()
    tokens = different(draw_sentences(corpus, most, part, generator(0, "sentences")))
    return Texts(tokens, corpus.label_names)


def planted(rows=120, width=6, dim=16, seed=0):
    """Texts of random words, with a class for each word that does not follow from the word."""
    ids = torch.randint(20, 30, (rows, width), generator=generator(seed, "ids"))
    tokens = pad_rows(ids.tolist(), reviews().tokenizer.specials, reviews().tokenizer.words)
    labels = torch.randint(3, (rows, width), generator=generator(seed, "labels"))
    texts = Texts(replace(tokens, labels={"kind": labels}), {"kind": CLASSES})
    directions = torch.eye(dim)[:3] * 3
    return texts, random(rows, width, dim), random(rows, width, dim, seed=1) + directions[labels]


def test_a_planted_linear_encoding_is_found_at_its_level_and_nowhere_else():
    texts, without, holds = planted()
    curve = probe_curve([without, holds], [without, without], texts.tokens, token_items(texts, "kind"))
    level = curve.levels[1]
    assert level.accuracy > 0.9 > 0.45 > curve.levels[0].accuracy
    assert level.selectivity > 0.25
    assert curve.best is level
    assert abs(level.random_accuracy - 1 / 3) < 4 * curve.error(1 / 3)
    assert curve.by_type < 0.45, "the word alone does not tell"


def test_a_class_that_follows_from_the_word_is_no_more_than_the_control_task():
    """States that hold the word and nothing else: the control task is as easy, so selectivity is nil."""
    texts, _, _ = planted()
    kind = texts.tokens.ids % 3
    texts = Texts(replace(texts.tokens, labels={"kind": kind}), {"kind": CLASSES})
    states_of_words = torch.eye(40)[texts.tokens.ids]
    curve = probe_curve([states_of_words], [states_of_words], texts.tokens, token_items(texts, "kind"))
    assert curve.by_type == 1.0
    assert (curve.levels[0].accuracy, curve.levels[0].control) == (1.0, 1.0)
    unseen = probe_curve([states_of_words], [states_of_words], texts.tokens, token_items(texts, "kind"), by="type")
    assert unseen.levels[0].accuracy < 0.7, "words that were never fitted are not known"


def test_a_random_encoder_is_at_chance_on_shuffled_labels():
    model = learner_of().model
    texts = drawn(400)
    items = token_items(texts, "pos")
    mixed = items.labels[torch.randperm(len(items), generator=generator(0, "shuffle"))]
    shuffled = items_of(items.rows, items.positions, mixed, items.types, items.names)
    own = read_states(random_encoder(model, 0), texts.tokens)
    curve = probe_curve(own[-1:], own[-1:], texts.tokens, shuffled)
    assert curve.levels[0].accuracy < curve.chance + 4 * curve.error(curve.chance)


def test_a_wide_mlp_learns_the_control_task_by_heart_sooner_than_a_line():
    """Word types that overlap in few dimensions: more hidden units, more of the control task (arXiv:1909.03368)."""
    texts, _, _ = planted(rows=200)
    code = random(40, 2, seed=3)
    levels = [code[texts.tokens.ids]]
    items = token_items(texts, "kind")
    line, wide = (probe_curve(levels, levels, texts.tokens, items, hidden=h).levels[0].control for h in (0, 64))
    assert wide > line + 0.1


def test_the_control_task_gives_one_class_to_each_word_as_often_as_the_task_does():
    types = torch.arange(3000).repeat(2)
    labels = (torch.arange(6000) % 10 > 6).long()
    items = Items(types, types[:, None], labels, types, ("often", "seldom"))
    control = items.control(0)
    assert torch.equal(control[:3000], control[3000:])
    assert abs(float(control[:3000].double().mean()) - 0.3) < 4 * math.sqrt(0.21 / 3000)
    assert not torch.equal(control, items.control(1))


def test_no_sentence_is_on_both_sides_of_a_split():
    groups = torch.arange(300) // 3
    split = split_by(groups, 0)
    assert not set(groups[split.train].tolist()) & set(groups[split.test].tolist())
    assert int(split.train.sum() + split.test.sum()) == 300
    with pytest.raises(UserError, match="of one group"):
        split_by(torch.zeros(5, dtype=torch.long), 0)


def test_baselines_are_counted_by_hand():
    labels, types = torch.tensor([0, 0, 1, 1, 0, 1, 0]), torch.tensor([5, 5, 6, 6, 6, 5, 9])
    items = Items(torch.arange(7), torch.zeros(7, 1).long(), labels, types, ("x", "y"))
    split = split_by(torch.arange(7), 0)
    train = split.train.nonzero()[:, 0].tolist()
    most = max((0, 1), key=lambda k: [labels[i].item() for i in train].count(k))
    chance = sum(int(labels[i]) == most for i in range(7) if i not in train) / (7 - len(train))
    assert baselines(items, split)[0] == chance


def test_the_same_seed_gives_the_same_numbers_and_the_model_stays_as_it_was():
    model, texts = learner_of().model, drawn(150)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    items = token_items(texts, "pos")

    def curve():
        return probe_curve(
            read_states(model, texts.tokens), read_states(random_encoder(model, 1), texts.tokens), texts.tokens, items
        )

    assert curve() == curve()
    assert model.training
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_fit_is_scikit_learn_called_plainly():
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    x, labels = random(200, 5), (random(200, seed=2) > 0).long()
    scaled = StandardScaler().fit(x.double().numpy())
    plain = LogisticRegression(max_iter=300, tol=1e-3).fit(scaled.transform(x.double().numpy()), labels.numpy())
    assert abs(fit(x, labels).predict_proba(x.numpy()) - plain.predict_proba(scaled.transform(x.numpy()))).max() < 1e-6
    split = split_by(torch.arange(200), 0)
    assert 0.3 < accuracy(x, labels, split) < 0.7


@cache
def whole():
    return drawn(1500, world(), "train")


@pytest.mark.parametrize("name", list(probing_tasks()))
def test_every_task_makes_items_that_fit_its_texts(name):
    """The contract of a probing task: places of real words, two classes or more, the same items for the same seed."""
    task = find_probing_task(name)
    texts, items = task.make(whole(), 0)
    again_texts, again = task.make(whole(), 0)
    assert torch.equal(items.labels, again.labels) and torch.equal(texts.tokens.ids, again_texts.tokens.ids)
    assert items.positions.shape[1] == {"token": 1, "pair": 2, "sentence": 1}[task.unit]
    assert set(items.labels.tolist()) == set(range(len(items.names))) and len(items.names) >= 2
    if task.unit == "sentence":
        assert bool((items.positions == -1).all()) and len(items.rows.unique()) == len(items)
    else:
        assert bool(texts.tokens.maskable[items.rows[:, None], items.positions].all())
    changed = texts.tokens.ids != whole().tokens.ids
    assert not bool((changed & ~whole().tokens.valid).any()), "padding stays padding"
    assert task.question.endswith("?") and task.source


@pytest.mark.parametrize("name", list(probing_tasks()))
def test_every_task_is_tested_on_enough_items_of_other_sentences(name):
    """A probe that is tested on a handful of items says nothing: sentences are drawn in which rare ones occur."""
    subject = of_learner(learner_of(), world())
    texts, items = probing_items(subject, find_probing_task(name), 800)
    split = split_items(items, 0)
    assert int(split.test.sum()) >= 10 and bool((split.train ^ split.test).all())
    assert int(items.rows.max()) < len(texts.tokens.ids)
    ids = texts.tokens.ids
    sides = [{tuple(row) for row in ids[items.rows[side]].tolist()} for side in (split.train, split.test)]
    assert not sides[0] & sides[1]
    assert sum(subject.counts.values()) > len(items) == subject.counts[f"items of {name}"]


def test_two_words_are_exchanged_and_nothing_else():
    texts, items = find_probing_task("BShift").make(whole(), 0)
    changed = (texts.tokens.ids != whole().tokens.ids).sum(1)
    assert set(changed[items.labels == 0].tolist()) == {0}
    assert set(changed[items.labels == 1].tolist()) == {2}
    assert torch.equal(texts.tokens.ids.sort(1).values, whole().tokens.ids.sort(1).values)


def test_a_word_that_stands_twice_in_a_row_is_not_said_to_be_exchanged_with_itself():
    ids = whole().tokens.ids.clone()
    ids[::2, 1:] = ids[::2, 1:2]
    texts, items = find_probing_task("BShift").make(with_ids(whole(), ids), 0)
    assert torch.equal((texts.tokens.ids != ids).any(1).long(), items.labels)


def test_an_odd_word_has_the_form_of_the_word_it_replaces():
    texts, items = find_probing_task("SOMO").make(whole(), 0)
    rows, positions = (texts.tokens.ids != whole().tokens.ids).nonzero(as_tuple=True)
    assert rows.tolist() == items.rows[items.labels == 1].tolist()
    names = whole().names["pos"]
    assert {names[k] for k in whole().tokens.labels["pos"][rows, positions].tolist()} <= {"NOUN", "VERB"}


def test_depths_are_counted_along_the_arcs():
    heads = torch.tensor([[1, 2, -1, 2, 3], [-1, 0, 0, -1, -1]])
    assert depths(heads).tolist() == [[2, 1, 0, 1, 2], [0, 1, 1, 0, 0]]


def test_heads_of_sentences_are_those_of_the_corpus():
    """Every word but the root hangs on another word of its own sentence."""
    texts = whole()
    head, relation = texts.tokens.labels["head"], texts.tokens.labels["relation"]
    root = texts.names["relation"].index("root")
    real = texts.tokens.valid
    assert bool(((head >= 0) == (real & (relation != root))).all())
    assert bool((head < texts.tokens.lengths[:, None]).all())
    assert len({tuple(row) for row in texts.tokens.ids.tolist()}) == len(texts.tokens.ids)


def test_homographs_are_words_with_several_classes():
    items = items_of(
        torch.arange(30), torch.zeros(30).long(), torch.arange(30) % 2, torch.arange(30) % 2 * 7, ("x", "y")
    )
    with pytest.raises(UserError, match="There are 0 classes"):
        homographs(items)
    mixed = items_of(torch.arange(30), torch.zeros(30).long(), torch.arange(30) % 2, torch.arange(30) % 3, ("x", "y"))
    assert len(homographs(mixed)) == 30


def test_a_label_that_is_not_there_is_named():
    with pytest.raises(UserError, match="have no label 'sense', which this probe reads; they have: feeling"):
        token_items(drawn(50), "sense")


def test_a_mix_of_levels_finds_the_level_where_the_class_stands():
    texts, without, holds = planted()
    items = token_items(texts, "kind")
    three = [without, random(*without.shape, seed=5), holds]
    low, high = (edge_probe(levels, [without] * 3, texts.tokens, items) for levels in (three[::-1], three))
    assert low.gravity < 0.7 < 1.3 < high.gravity
    assert high.expected_level > 1.5
    assert sum(high.weights) == pytest.approx(1.0, abs=1e-6)
    assert high.cumulative[-1] > 0.85 > 0.5 > high.cumulative[1]
    assert max(high.random_cumulative) < 0.5
    assert high.cumulative[-1] > high.control_cumulative[-1] + 0.3


def test_tasks_that_the_sentences_do_not_have_are_named():
    learner = learner_of("RoBERTa")
    found = instrument_named("edge probing").look(of_learner(learner, reviews()))
    [note] = [table.note for table in found.tables if table.title == "Tasks"]
    asked = {number.name for number in found.numbers}
    assert asked < set(TASKS)
    assert note.endswith(f"Not in these sentences: {', '.join(name for name in TASKS if name not in asked)}.")


def test_static_vectors_have_no_levels_to_mix():
    texts, without, _ = planted()
    with pytest.raises(UserError, match="one level"):
        edge_probe([without], [without], texts.tokens, token_items(texts, "kind"))


def test_a_sentence_is_the_mean_of_its_words():
    texts = with_ids(whole(), whole().tokens.ids)
    _, items = find_probing_task("SentLen").make(texts, 0)
    level = random(*texts.tokens.ids.shape, 4)
    wanted = torch.stack([level[r, : int(n)].mean(0) for r, n in enumerate(texts.tokens.lengths)])[items.rows]
    torch.testing.assert_close(items.features(level, texts.tokens), wanted)


def test_static_models_have_the_same_number_of_levels_as_their_random_twin():
    model = make_model(Architecture(kind="static", width=8), 60, generator(0))
    texts, _, _ = planted(rows=4)
    assert len(read_states(model, texts.tokens)) == len(read_states(random_encoder(model, 0), texts.tokens)) == 1


def test_a_planted_part_of_speech_is_best_low_and_a_planted_sense_high(monkeypatch):
    """Level 0 holds the part of speech, level 1 nothing, level 2 the sense; the random encoder holds nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    corpus = open_corpus("senses", tokens=60_000)
    learner = TrainState.new(tiny("RoBERTa", {"layers": 2}), corpus.tokenizer.words, 0, torch.device("cpu"))
    subject = of_learner(learner, corpus)

    def states(subject, tokens):
        noise = [random(*tokens.ids.shape, 48, seed=k) for k in range(4)]
        directions = torch.eye(48) * 8
        directions = torch.cat([directions, directions.new_zeros(1, 48)])  # -1: no label, no direction
        pos, sense = (directions[tokens.labels[name].clamp(max=47)] for name in ("pos", "sense"))
        return [noise[0] + pos, noise[1], noise[2] + sense], [noise[3]] * 3

    monkeypatch.setattr("playground.analysis.instruments.levels_of_sense.both_states", states)
    found = instrument_named("part of speech and sense by level").look(subject)
    assert "part of speech is best at embeddings, that of sense at layer 2" in found.headline
    table = found.tables[0].columns
    share = dict(zip(zip(table["probe"], table["level"], strict=True), table["accuracy"], strict=True))
    assert share["part of speech", "embeddings"] > 0.97 and share["sense", "layer 2"] > 0.97
    assert share["part of speech", "layer 1"] < 0.7 and share["sense", "layer 1"] < 0.7


def test_senses_are_fitted_on_training_sentences_and_tested_on_others_that_are_held_out():
    corpus = open_corpus("senses", tokens=60_000)
    subject = of_learner(learner_of(), corpus)
    texts, items = probing_items(subject, find_probing_task("sense"), 200)
    tokens, fitted = texts.tokens, texts.fitted
    assert 100 < fitted <= 200 and 0 < len(tokens.ids) - fitted <= 100
    assert bool((tokens.labels["sense"] >= 0).any(1).all())
    assert len(tokens.ids.unique(dim=0)) == len(tokens.ids), "no sentence is on both sides"
    known = {tuple(row) for row in find_all(corpus, "train")}
    assert all(
        tuple(row[:n]) in known for row, n in zip(tokens.ids.tolist()[:fitted], tokens.lengths.tolist(), strict=False)
    )
    split = split_items(items, 0)
    assert int(items.rows[split.train].max()) < fitted <= int(items.rows[split.test].min())
    assert bool((split.train ^ split.test).all())
    by_word = split_items(items, 0, "type")
    assert not set(items.types[by_word.train].tolist()) & set(items.types[by_word.test].tolist())


def test_a_rare_task_without_held_out_items_is_refused():
    corpus = open_corpus("senses", tokens=60_000)
    sense = corpus.labels["sense"].clone()
    sense[corpus.held_out_from :] = -1
    subject = of_learner(learner_of(), replace(corpus, labels={**corpus.labels, "sense": sense}))
    with pytest.raises(UserError, match="training sentences and 0 held-out ones have an item of sense"):
        probing_items(subject, find_probing_task("sense"), 200)


def find_all(corpus, part):
    """The words of all sentences of a fitting length."""
    tokens = draw_sentences(corpus, len(corpus), part, generator(0, "all"))
    return [row[:n] for row, n in zip(tokens.ids.tolist(), tokens.lengths.tolist(), strict=True)]
