"""Two texts in a row, labelled or not, near or far: arrange/{pair,labelled_pair,first_of_pair}.py."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings

from playground import leaks
from playground.batch import begin
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import Architecture, make_model, with_required_parts
from playground.objectives import find_objective
from playground.objectives.arrange import ArrangePair
from playground.objectives.bind import with_label_names
from playground.objectives.catalog.ernie2 import CONNECTIVES
from playground.objectives.catalog.nli import INFERENCES
from playground.objectives.steps import describe_plan
from playground.rng import generator
from playground.tokenizing.vocabulary import SEPARATOR
from playground.trace.rebuild import rebuild
from playground.training.data import BatchSampler
from playground.zoo import entry_for
from tests.laws import assert_law, assert_share, uniform
from tests.stories import texts
from tests.texts import SPECIALS, seeds, small_corpus, story, suited, tokens_of
from tests.texts import spoken as in_language

# the coin


FAIR = {
    "NSP": 2,
    "SOP": 2,
    "MLM + NSP": 2,
    "n-gram MLM + SOP": 2,
    "translation pairs": 2,
    "sentence structure": 3,
    "StructBERT": 3,
}
"""How many outcomes a pair has, each as likely as the others (reference, section 22b)."""


@pytest.mark.parametrize("name", FAIR)
def test_every_outcome_of_a_pair_is_as_likely_as_the_others(name):
    objective = find_objective(name)
    tokens = suited(objective, tokens_of([[40, 41, 42, 43, 44, 45]] * 9000, padded=False))
    target = objective.batch(tokens, generator(1)).targets[-1]
    outcomes = target.labels[target.loss_mask]
    assert len(outcomes) == 9000
    assert len(target.kind.classes) == FAIR[name]
    assert_law(Counter(outcomes.tolist()), uniform(range(FAIR[name])))


# forms


TLM_FORMS = {
    "xlm": ([1, 11, 12, 1, 1, 21, 22, 23, 1], [0, 1, 2, 3, 0, 1, 2, 3, 4], [0] * 4 + [1] * 5),
    "sep": ([11, 12, 1, 21, 22, 23], [0, 1, 2, 0, 1, 2], [0] * 3 + [1] * 3),
}


@pytest.mark.parametrize("form", TLM_FORMS)
def test_tlm_lays_two_languages_out_as_released(form):
    """XLM: ids 1 11 12 1 1 21 22 23 1, positions 0..3 0..4, languages 0000 11111; the survey has one special token."""
    ids, positions, languages = TLM_FORMS[form]
    first, second = (tokens_of([row], padded=False) for row in ([51, 52], [61, 62, 63]))
    tokens = replace(in_language(first, 0), neighbours={"translation": in_language(second, 1)})
    stage = ArrangePair(("translation",), pair_format=form, reset_position_ids=True)
    inputs = stage.build(begin(tokens), stage.plan(begin(tokens), generator(0))).inputs
    assert inputs.ids.tolist() == [[SPECIALS.sep if i == 1 else i + 40 for i in ids]]
    assert inputs.position_ids.tolist() == [positions]
    assert inputs.language_ids.tolist() == [languages]
    assert inputs.attn_mask.dense().all()


# judged pairs


@pytest.mark.parametrize(
    ("name", "inputs", "target"),
    [
        (
            "NLI",
            "[CLS] A soccer game with multiple males playing . [SEP] Some men are playing a sport . [SEP]",
            "entailment",
        ),
        ("ERNIE 2.0 discourse relation", "[CLS] I stayed at home [SEP] it rained all day [SEP]", "because"),
        (
            "ERNIE 2.0 sentence distance",
            "[CLS] We met in the morning . [SEP] Then we went home . [SEP]",
            "same document",
        ),
        (
            "T5 tasks",
            "stsb sentence1 : The rhino grazed on the grass . sentence2 : A rhino is grazing in a field .",
            "3.8",
        ),
    ],
)
def test_the_printed_example_is_rebuilt(name, inputs, target):
    """SNLI's first row (arXiv:1508.05326, table 1), one of T5's figure 1, and two of our own."""
    printed = find_objective(name).printed
    facts = rebuild(name, printed.text, pair=printed.pair, overrides=printed.plan).facts()
    assert " ".join(facts["inputs"]) == inputs
    assert facts["survey"]["targets"] == target


def test_a_typed_pair_asks_nothing_until_somebody_judges_it():
    rebuilt = rebuild("inference", "I am happy", pair="We walk")
    assert not any(target.loss_mask.any() for target in rebuilt.batch.targets)
    assert "set pair in the plan to contradiction, neutral or entailment" in rebuilt.notice
    assert describe_plan(rebuilt.steps) == {}
    judged = rebuild("inference", "I am happy", pair="We walk", overrides={"pair": "neutral"})
    assert judged.notice == ""
    assert judged.facts()["survey"]["targets"] == "neutral"
    assert judged.facts()["plan"] == {"pair": "neutral"}
    with pytest.raises(UserError, match="The pair is 'true'; it must be one of contradiction, neutral, entailment"):
        rebuild("inference", "I am happy", pair="We walk", overrides={"pair": "true"})


def test_a_label_that_is_none_of_the_classes_is_not_asked():
    tokens = suited(find_objective("inference"), tokens_of([[40, 41], [42, 43], [44, 45]]))
    said = torch.tensor([[-1, -1], [2, 2], [3, 3]])
    batch = find_objective("inference").batch(replace(tokens, labels={"inference": said}), generator(0))
    assert batch.targets[0].loss_mask[:, 0].tolist() == [False, True, False]


def turn_of(batch):
    """The first position of the second text's half in the first row: of its special token or its text."""
    (target,) = batch.targets
    if target.reads is not None:
        return int(target.reads[0, 0, 1])
    return int((batch.inputs.segment_ids[0] == 0).sum())


def test_no_word_of_one_text_reaches_the_vector_of_the_other():
    """InferSent's two halves are strangers in every layer; side by side they are not."""
    for name, strangers in (("InferSent", True), ("inference", False)):
        batch = story(name).batch
        reach = leaks.reaches(batch.inputs.attn_mask.dense()[0], 4)
        half = (torch.arange(len(reach)) >= turn_of(batch)).long()
        assert (not reach[half == 0][:, half == 1].any()) is strangers
        assert (not reach[half == 1][:, half == 0].any()) is strangers
        assert bool(batch.inputs.segment_ids.any()) is not strangers, "nothing says which of the two a text is"


@pytest.mark.parametrize("positions", ["rotary", "learned"])
def test_equal_texts_that_are_read_apart_have_equal_vectors(positions):
    rows = tokens_of([[40, 41, 42], [43], [44, 45, 46, 47]])
    same = replace(rows, neighbours={"next": rows}, labels={"inference": torch.ones_like(rows.ids)})
    batch = find_objective("InferSent").batch(same, generator(0))
    shape = with_required_parts(Architecture(layers=2, width=16, heads=2, mlp_ratio=1, positions=positions), batch)
    model = make_model(shape, SPECIALS.size, generator(0)).double()
    (target,), hidden = batch.targets, model.network(batch.inputs, model.token_embedding.weight)
    for row in range(3):
        first, second = target.reads[row, 0].tolist()
        assert first < second
        torch.testing.assert_close(hidden[row, first], hidden[row, second])
    with_other = replace(batch, inputs=replace(batch.inputs, ids=batch.inputs.ids.where(batch.inputs.ids != 41, 50)))
    assert not torch.allclose(model.network(with_other.inputs, model.token_embedding.weight)[0, 0], hidden[0, 0])


CPU = torch.device("cpu")


@pytest.mark.parametrize(("name", "classes"), [("inference", INFERENCES), ("discourse relation", CONNECTIVES)])
def test_the_corpus_of_an_objective_has_its_classes_and_every_pair_is_asked(name, classes):
    objective = find_objective(name)
    source = small_corpus(entry_for(objective).corpus)
    label = objective.needs[1].removeprefix("label:")
    assert source.label_names[label] == classes
    rows = BatchSampler.of(source, 32, 64, 0, CPU, objective.needs).windows
    target = objective.batch(rows, generator(0)).targets[0]
    assert bool(target.loss_mask[:, 0].all())
    told = Counter(target.labels[:, 0].tolist())
    assert_law(told, dict.fromkeys(range(len(classes)), 1 / len(classes)))
    assert with_label_names(find_objective(name), source.label_names) == objective


def test_the_hypothesis_alone_says_nothing_of_the_answer():
    """Each word of the second text stands with every class about equally often (arXiv:1803.02324 finds otherwise)."""
    tokens = small_corpus("inference").pairs(32)
    hypothesis, label = tokens.neighbours["next"], tokens.labels["inference"][:, 0]
    word = small_corpus("inference").tokenizer.encode_word("not")[0]
    denied = (hypothesis.ids == word).any(1)
    for k in range(3):
        assert_share(int((denied & (label == k)).sum()), int((label == k).sum()), float(denied.double().mean()))


def test_the_clauses_do_not_hold_the_word_that_joined_them():
    """Whoever reads "because" between them need not understand them."""
    source = small_corpus("clauses")
    rows = source.pairs(32)
    because, so, but = (source.tokenizer.encode_word(word)[0] for word in ("because", "so", "but"))
    both = torch.cat([rows.ids, rows.neighbours["next"].ids], 1)
    for word in {because, so, but} - {source.tokenizer.specials.unknown}:
        assert not bool((both == word).any())


# distances


@settings(max_examples=5)
@given(seed=seeds)
def test_triples_are_neighbours_others_of_the_document_and_strangers(seed):
    source = small_corpus("stories", 4_000)
    tokens = source.triples(64, seed=seed)
    sentences = {}
    for token, document, sentence in zip(
        *(r.tolist() for r in (source.ids, source.document_ids, source.sentence_ids)), strict=True
    ):
        if token != SEPARATOR:
            sentences.setdefault((document, sentence), []).append(token)
    positions = {}
    for (document, sentence), words in sentences.items():
        positions.setdefault(tuple(words), set()).add((document, sentence))
    four = (tokens, *(tokens.neighbours[n] for n in ("next", "apart", "other")))
    for row in zip(*map(texts, four), strict=True):
        at, near, apart, other = (positions[tuple(words)] for words in row)
        assert any((d, s + 1) in near for d, s in at)
        assert any(d == e and abs(s - r) > 1 for d, s in at for e, r in apart)
        assert any(all(d != e for e, _ in other) or len(other) > 1 for d, _ in at)


def test_sentences_that_are_no_neighbours_are_drawn_alike():
    """A document of five: the first has three others, each with the same chance."""
    source = small_corpus("stories", 4_000)
    one = source.sentence_ids == 0
    width = int(one.sum())
    text = torch.arange(5).repeat_interleave(width)
    five = replace(
        source,
        ids=torch.arange(40, 40 + 5 * width).repeat(2),
        word_ids=torch.arange(10 * width),
        sentence_ids=torch.cat([text, text + 5]).int(),
        document_ids=torch.arange(2).repeat_interleave(5 * width).int(),
        held_out_from=10 * width,
        labels={},
    )
    drawn = Counter()
    for seed in range(600):
        drawn[int(five.triples(2 * width, seed=seed).neighbours["apart"].ids[0, 0] - 40) // width] += 1
    assert_law(drawn, {2: 1 / 3, 3: 1 / 3, 4: 1 / 3})


def test_each_distance_comes_a_third_of_the_time_and_its_label_says_which():
    objective = find_objective("sentence distance")
    rows = small_corpus("stories").triples(48)
    rows = pick(rows, torch.arange(len(rows.ids)).repeat(4)[:4000])
    first = objective.steps(rows, generator(3))[1]
    number = first.plan
    assert_law(Counter(number.tolist()), dict.fromkeys(range(3), 1 / 3))
    for k, name in enumerate(("next", "apart", "other")):
        row = int((number == k).nonzero()[0])
        overrides = texts(rows.neighbours[name])[row]
        length = int(rows.lengths[row])
        assert texts(first.batch.tokens)[row][length:] == overrides


def test_of_a_text_with_more_than_three_sentences_the_others_are_left_out_and_that_is_said():
    three = "I am happy . You are here . We walk ."
    assert rebuild("sentence distance", three).notice == ""
    longer = rebuild("sentence distance", f"{three} She sings . He reads .")
    assert longer.notice == "The text has 17 tokens; only the first 11 are used."
    third = rebuild("sentence distance", "I am . You are . " + "very " * 50 + "good .", overrides={"pair": "apart"})
    assert third.notice == "The third sentence has 52 tokens; only the first 32 are used."


def test_a_text_of_two_sentences_has_no_distance():
    with pytest.raises(UserError, match="sentence distance needs three sentences"):
        rebuild("sentence distance", "I am happy . You are here .")
    assert rebuild(
        "sentence distance", "I am happy . You are here .", pair="We walk .", overrides={"pair": "apart"}
    ).facts()["inputs"][-4:] == ["We", "walk", ".", "[SEP]"]


def test_a_document_of_two_sentences_gives_no_triples():
    with pytest.raises(UserError, match="No document of inference has three sentences"):
        small_corpus("inference").triples(32)
    with pytest.raises(UserError, match="The length is 1"):
        small_corpus("stories").triples(1)


def test_with_paragraphs_a_row_goes_on_after_its_sentence_within_its_document():
    source = small_corpus("stories", 4_000)
    plain, rows = source.triples(24), source.triples(24, paragraphs=True)
    stream, ends = source.ids.tolist(), {SEPARATOR}
    for short, whole in zip(texts(plain), texts(rows), strict=True):
        assert whole[: len(short)] == short and not ends & set(whole)
        assert len(whole) <= 24
    assert sum(map(len, texts(rows))) > 2 * sum(map(len, texts(plain)))
    whole = texts(rows)[int(rows.lengths.argmax())]
    at = next(p for p in range(len(stream)) if stream[p : p + len(whole)] == whole)
    rest = stream[at + len(whole) : at + 25]
    stop = source.tokenizer.encode_word(".")[0]
    assert rest[:1] == [SEPARATOR] or stop not in rest[: 24 - len(whole)], "one more sentence would not fit"
    assert all(torch.equal(rows.neighbours[name].ids, plain.neighbours[name].ids) for name in ("next", "apart"))
