"""What a model knows: questions whose right answers are planted, counted in the text, or never told."""

from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from math import exp, prod

import pytest
import torch

from playground.analysis.cloze import log_chances, with_gap
from playground.analysis.facts import known_questions, mention_counts
from playground.analysis.floor.automaton import automaton
from playground.analysis.floor.chart import ParseChart
from playground.analysis.instrument import instrument_named
from playground.analysis.instruments.agreement import _best
from playground.analysis.instruments.odd_one_out import _topics
from playground.analysis.instruments.roles import KINDS, OTHER_CASE, _items
from playground.analysis.predictions import one_row
from playground.analysis.probes import agreement_items
from playground.corpora.catalog.domains import make_domains
from playground.corpora.tinyworld import generate
from playground.corpora.tinyworld.facts import MENTIONS
from playground.corpora.tinyworld.presets import gaps
from playground.errors import UserError
from playground.models.model import make_model
from playground.rng import generator
from playground.training import Run, Started, train
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import tiny


@cache
def corpus_of(preset, tokens=30_000):
    return generate(preset, 0, tokens)


def fresh(name, preset, **model):
    """A subject that has learnt nothing."""
    entry, corpus = tiny(name, model), corpus_of(preset)
    return of_learner(TrainState.new(entry, corpus.tokenizer.words, 0, torch.device("cpu")), corpus)


@pytest.fixture
def memory(monkeypatch):
    """A subject that has read the text and knows by heart what fills each gap of its sentences, and nothing else."""
    subject = fresh("RoBERTa", "facts")
    fills: dict[tuple, Counter] = defaultdict(Counter)
    numbers = subject.corpus.sentence_ids[: subject.corpus.held_out_from]
    for row in subject.corpus.ids[: len(numbers)].split(torch.bincount(numbers).tolist()):
        words = [k for k in row.tolist() if k >= subject.corpus.tokenizer.specials.unknown]
        for position, word in enumerate(words):
            fills[(*words[:position], 0, *words[position + 1 :])][word] += 1

    def recall(model, batch):
        scores = torch.zeros(len(batch.selected), len(subject.corpus.tokenizer.words))
        gaps, sizes = batch.selected.int().argmax(1).tolist(), batch.tokens.lengths.tolist()
        for row, (ids, gap, size) in enumerate(zip(batch.tokens.ids.tolist(), gaps, sizes, strict=True)):
            for word, count in fills[(*ids[:gap], 0, *ids[gap + 1 : size])].items():
                scores[row, word] = 10.0 * count
        return scores.log_softmax(-1)

    monkeypatch.setattr("playground.analysis.facts.log_chances", recall)
    return subject


def test_memory_knows_every_fact_that_is_told_and_none_that_is_not(memory):
    found = instrument_named("facts").look(memory)
    assert found.number("P@1, stated") == 1.0
    assert found.number("P@1, never stated") == 0.0
    curve = found.tables[0].columns
    assert [share for share, first in zip(curve["P@1"], curve["mentions"], strict=True) if first == 0] == [0.0] * 4
    assert {share for share, first in zip(curve["P@1"], curve["mentions"], strict=True) if first} == {1.0}


@pytest.fixture(scope="module")
def subject():
    """A language model that has read each fact a few times, or never."""
    entry = tiny("GPT", {"width": 32}, seq_len=16, batch_size=16, steps=20)
    for event in train(Run(entry, corpus_of("facts"), steps=20)):
        if isinstance(event, Started):
            learner = event.learner
    return of_learner(learner, corpus_of("facts"))


def test_mentions_are_counted_in_the_text():
    """Each fact is told its number of times a round, those of no mentions never."""
    corpus = corpus_of("facts")
    questions = known_questions(corpus)
    counts = mention_counts(corpus, questions)
    told = {n: [c for c, q in zip(counts, questions, strict=True) if q.fact.mentions == n] for n in MENTIONS}
    assert all(told.values())
    assert set(told[0]) == {0}
    rounds = sum(map(sum, told.values())) / sum(q.fact.mentions for q in questions)
    assert all(abs(c - n * rounds) <= n for n, found in told.items() for c in found)


def test_not_and_names_are_asked_about(subject):
    found = instrument_named("fact critiques").look(subject)
    assert 0 <= found.number("same answer with not") <= 1
    assert all(" not " in f" {text} " for text in found.tables[0].columns["denied"])
    assert found.tables[0].note, "the corpus of facts never says not"
    assert 0 <= found.number("answer taken from the name") <= 1


def test_untrained_halves_of_names_are_independent_and_the_grammar_has_no_impossible_one():
    for name in ("RoBERTa", "XLNet"):
        found = instrument_named("two masks").look(fresh(name, "world"))
        for way in ("both at once", "one after the other"):
            assert found.number(f"impossible pairs, {way}") == pytest.approx(7 / 8, abs=0.1)
    columns = found.tables[0].columns
    gold = [share for share, way in zip(columns["share"], columns["way"], strict=True) if way == "grammar"]
    assert sorted(gold)[-8:] == pytest.approx([1 / 8] * 8) and sum(gold) == pytest.approx(1)


def test_both_at_once_is_a_product_and_a_left_to_right_model_has_none():
    columns = instrument_named("two masks").look(fresh("RoBERTa", "world")).tables[0].columns
    cells = [s for s, way in zip(columns["share"], columns["way"], strict=True) if way == "both at once"]
    table = torch.tensor(cells).reshape(8, 8)
    assert torch.linalg.matrix_rank(table, rtol=1e-6) == 1
    assert set(instrument_named("two masks").look(fresh("GPT", "world")).tables[0].columns["way"]) == {
        "grammar", "one after the other",
    }  # fmt: skip


def test_the_grammar_agrees_across_four_attractors_and_the_untrained_do_not():
    found = instrument_named("agreement").look(fresh("GPT", "agreement"))
    assert [number.baselines["grammar"] for number in found.numbers] == [1.0] * 5
    assert all(0.2 < number.value < 0.8 for number in found.numbers)


def test_sentences_about_agreement_are_no_ends_of_others_though_rows_begin_anywhere():
    """At the very beginning of a row the grammar itself takes "the doctor" for the end of a sentence."""
    shape, items = tiny("GPT").model, agreement_items(0, 20)
    assert _best(shape, items) == 1.0
    assert _best(shape, [replace(item, words=item.words[1:], position=item.position - 1) for item in items]) < 0.8


def test_pronouns_stand_in_the_case_of_their_place():
    items = _items(20)
    assert set(items) == set(KINDS)
    for kind, sentences in items.items():
        for item in sentences:
            assert ("by" in item.words) == ("passive" in kind)
            subject = item.position == 0
            assert (item.words[item.position] in ("he", "she")) == subject
            assert item.wrong == OTHER_CASE[item.words[item.position]]
            assert subject == (kind in ("agent, active", "patient, passive"))


def test_planted_topics_are_found_and_random_vectors_are_not():
    subject = fresh("RoBERTa", "world", width=16)
    lost = instrument_named("odd one out").look(subject)
    assert lost.number("stranger found") == pytest.approx(0.25, abs=0.12)
    for k, words in enumerate(_topics(subject).values()):
        for word in words:
            vector = torch.zeros(16)
            vector[k] = 1.0
            subject.model.token_embedding.weight.data[subject.tokenizer.encode_words([word])] = vector
    found = instrument_named("odd one out").look(subject)
    assert found.number("stranger found") == 1.0
    assert found.number("cosine and topic") == pytest.approx(1.0)


def test_the_odd_one_out_of_a_character_cnn_is_found_among_the_vectors_it_reads():
    """ELMo reads vectors made of letters, so its table of words must not matter."""
    subject = fresh("ELMo", "world")
    before = instrument_named("odd one out").look(subject)
    with torch.no_grad():
        subject.model.token_embedding.weight.normal_(generator=generator(1))
    assert instrument_named("odd one out").look(subject).facts() == before.facts()


def test_the_best_of_a_right_to_left_model_knows_the_words_behind_alone():
    corpus = corpus_of("agreement")
    shape = replace(tiny("GPT").model, attention="right to left")
    subject = replace(fresh("GPT", "agreement"), model=make_model(shape, len(corpus.tokenizer), generator(0)))
    found = instrument_named("perplexity").look(subject)
    ids = tuple(subject.sentence().ids[0].tolist())
    chart = ParseChart(automaton("agreement"), ids)
    behind = [chart.chances(k, [j > k for j in range(len(ids))])[word].log() for k, word in enumerate(ids)]
    assert found.number("perplexity") > 1
    assert found.numbers[1].baselines["best possible"] == pytest.approx(-float(sum(behind)) / len(ids))
    numbers = instrument_named("agreement").look(subject).numbers
    assert all(number.baselines["grammar"] < 1 for number in numbers), "the subject stands before the verb"


def test_the_bars_multiply_to_the_perplexity(subject):
    instrument = instrument_named("perplexity")
    found = instrument.look(subject, type(instrument.settings)(sentence="anna was born in berlin ."))
    bars = found.tables[0].columns
    own = [nats for nats, who in zip(bars["nats"], bars["who"], strict=True) if who == subject.name]
    assert prod(map(exp, own)) ** (1 / len(own)) == pytest.approx(found.number("perplexity"))
    factors = [f for f, who in zip(bars["factor"], bars["who"], strict=True) if who == subject.name]
    assert prod(factors) == pytest.approx(found.number("perplexity") ** len(own))
    assert 2 ** found.number("bits") == pytest.approx(found.number("perplexity"))
    finding = instrument.look(subject)
    assert finding.numbers[1].baselines["entropy of the corpus"] == subject.corpus.entropy_bound
    best = [
        n
        for n, who in zip(*(finding.tables[0].columns[c] for c in ("nats", "who")), strict=True)
        if who != subject.name
    ]
    assert best and finding.numbers[1].baselines["best possible"] == pytest.approx(sum(best) / len(best))
    strange = instrument.look(subject, type(instrument.settings)(sentence="born anna in ."))
    assert "cannot write" in strange.headline and set(strange.tables[0].columns["who"]) == {subject.name}


def test_a_blank_is_filled_with_the_models_words_and_the_chances_of_the_grammar(subject):
    instrument = instrument_named("fill in the blank")

    def look(**settings):
        return instrument.look(subject, replace(instrument.settings, **settings))

    words, ids = subject.tokenizer.words, subject.sentence().ids[0].tolist()
    spelt = [words[number] for number in ids]
    last = len(ids) - 2
    found = look(sentence=" ".join([*spelt[:last], "[MASK]", *spelt[last + 1 :]]), answer=spelt[last])
    batch = with_gap(subject.model.shape, one_row(ids, subject.tokenizer), torch.tensor([last]))
    chances = log_chances(subject.model, batch)[0].exp()
    assert found.number("right word") == pytest.approx(float(chances[ids[last]]), rel=1e-5)
    assert found.number("rank of the right word") == int((chances > chances[ids[last]]).sum()) + 1
    table = found.tables[1].columns
    assert table["word"] == [words[k] for k in chances.topk(5).indices.tolist()]
    assert table["probability"] == pytest.approx(chances.topk(5).values.tolist(), rel=1e-5)
    gold = ParseChart(automaton("facts"), tuple(ids)).next_words()[last]  # of the text without a gap
    assert table["best possible"] == pytest.approx(gold[chances.topk(5).indices].tolist())
    both_sides = fresh("RoBERTa", "facts")
    gold = ParseChart(automaton("facts"), tuple(ids)).two_sided()[1]
    found = instrument.look(both_sides, type(instrument.settings)(" ".join([spelt[0], "[MASK]", *spelt[2:]]), spelt[1]))
    assert found.numbers[0].baselines["best possible"] == pytest.approx(float(gold[ids[1]]))
    held_out = look()
    assert held_out.headline == look().headline and "right is" in held_out.headline
    rare = held_out.headline.rpartition("right is '")[2].partition("'")[0]
    counts = torch.bincount(subject.corpus.ids[: subject.corpus.held_out_from], minlength=len(words))
    assert counts[words.index(rare)] == counts[subject.sentence().ids[0]].min()
    both = look(sentence="anna was [MASK] in [MASK] .")
    assert {*both.tables[1].columns["gap"]} == {3, 5} and not both.numbers
    strange = look(sentence="in in [MASK] .")
    assert "cannot write" in strange.headline and not strange.numbers
    assert {*strange.tables[0].columns["who"]} == {subject.name}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"sentence": "anna was born"}, "has no gap"),
        ({"answer": "berlin"}, "there is no sentence"),
        ({"sentence": "[MASK] was [MASK] .", "answer": "anna"}, "answer has 1 words and the sentence 2 gaps"),
        ({"sentence": "[MASK] was born .", "answer": "zyzzyva"}, "'zyzzyva' is not one word"),
    ],
)
def test_a_blank_that_cannot_be_filled_is_refused(subject, settings, sentence):
    instrument = instrument_named("fill in the blank")
    with pytest.raises(UserError, match=sentence):
        instrument.look(subject, replace(instrument.settings, **settings))


def test_the_last_word_is_right_at_the_distances_that_a_model_can_look_back(monkeypatch):
    """A reader of the cue is always right, one of a few words only near it, an untrained one is at chance."""
    instrument, subject = instrument_named("last word"), fresh("GPT", "gaps")
    settings = replace(instrument.settings, texts=20)
    untrained = instrument.look(subject, settings)
    chance = untrained.numbers[0].baselines["guessing"]
    treasures = {form.word for _, (form,) in gaps.hidden()["Treasure"]}
    assert chance == pytest.approx(1 / len(treasures))
    assert all(number.value <= chance + 0.2 for number in untrained.numbers)

    def look(back):
        def recall(model, batch):
            scores = torch.zeros(len(batch.selected), len(subject.corpus.tokenizer))
            for row, (ids, last) in enumerate(zip(batch.tokens.ids, batch.tokens.lengths - 2, strict=True)):
                assert int(ids[2]) == int(ids[last]), "the third word of a text decides the last"
                scores[row, ids[2] if last - 2 <= back else ids[3]] = 5.0
            return scores.log_softmax(-1)

        monkeypatch.setattr("playground.analysis.instruments.last_word.log_chances", recall)
        return instrument.look(subject, settings).tables[0].columns

    known = look(back=100)
    assert known["distance"] == [3, 8, 13, 18, 23, 28] and known["accuracy"] == [1.0] * 6
    assert look(back=14)["accuracy"] == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert instrument.missing(fresh("GPT", "facts")).startswith("The corpus facts has no gold labels")


def test_perplexity_on_other_texts_is_that_of_each_sentence_and_of_each_domain(monkeypatch):
    instrument, perplexity = (instrument_named(name) for name in ("perplexity on other texts", "perplexity"))
    corpus = make_domains(0, 20_000)
    entry = tiny("GPT")
    learner = TrainState.new(entry, corpus.tokenizer.words, 0, torch.device("cpu"))
    subject = of_learner(learner, corpus)
    settings = replace(instrument.settings, texts=6)
    table = instrument.look(subject, settings).tables[1].columns
    assert table["corpus"][0] == "domains"
    assert {"domains: film", "domains: food", "facts", "world", "gaps"} <= {*table["corpus"]}
    assert "symbols" not in table["corpus"], "it has words of its own"
    by_name = {name: k for k, name in enumerate(table["corpus"])}
    films, foods = by_name["domains: film"], by_name["domains: food"]
    assert table["texts"][films] + table["texts"][foods] == table["texts"][0] == 6
    parts = sum(table["nats"][k] * table["words"][k] for k in (films, foods))
    assert parts / table["words"][0] == pytest.approx(table["nats"][0])
    rows = subject.sentences(6)
    spelt = [corpus.tokenizer.join(ids[ok].tolist()) for ids, ok in zip(rows.ids, rows.valid, strict=True)]
    found = [perplexity.look(subject, type(perplexity.settings)(text)) for text in spelt]
    nats = sum(one.number("nats") * int(size) for one, size in zip(found, rows.lengths, strict=True))
    assert table["nats"][0] == pytest.approx(nats / table["words"][0], rel=1e-5)
    assert table["perplexity"] == pytest.approx([*map(exp, table["nats"])])
    assert table["words not seen"][by_name["facts"]] > table["words not seen"][0]
    size = len(corpus.tokenizer)
    monkeypatch.setattr(
        "playground.analysis.instruments.perplexity.log_chances",
        lambda model, batch: torch.zeros(len(batch.tokens.ids), size).log_softmax(-1),
    )
    uniform = instrument.look(subject, settings).tables[1].columns
    assert uniform["perplexity"] == pytest.approx([size] * len(uniform["corpus"]), rel=1e-5)
