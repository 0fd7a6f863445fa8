"""Judged pairs, distances, matches, answers in words, one vector for a text, sentences left as they are."""

import os
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import given, settings

from playground import leaks
from playground.batch import Action, begin
from playground.corpora import open_corpus
from playground.corpora.corpus import pick
from playground.corpora.tinyworld.vocabulary import answer, as_word
from playground.errors import UserError
from playground.models import Architecture, make_model, total_loss, with_required_parts
from playground.objectives import find_objective
from playground.objectives.catalog.ernie2 import CONNECTIVES
from playground.objectives.catalog.nli import INFERENCES
from playground.objectives.choose import KeepSomeSentences
from playground.objectives.objective import tell
from playground.rng import generator
from playground.tokenizing.vocabulary import SEPARATOR
from playground.trace.rebuild import rebuild
from playground.training.data import BatchSampler
from playground.zoo import entry_for
from tests.oracles import contrast, noise, stages
from tests.oracles import judged as oracles_judged
from tests.playground.objectives.test_laws import assert_law, assert_share
from tests.playground.objectives.test_stages import assert_row_is_story, shown, texts
from tests.texts import SPECIALS, batches, row_of, seeds, story, suited, tokens_of

VARIANTS = {
    "inference": {},
    "inference apart": {"pair_format": "xlm", "reset_position_ids": True},
    "InferSent": {},
    "InferSent with one sign": {"pair_format": "bert"},
    "discourse relation": {},
    "sentence matching": {"duplicates_as_negatives": True},
    "text-to-text": {},
    "text-to-text open": {"add_eos": False},
    "translation through one vector": {},
}
NAMES = ("inference", "InferSent", "discourse relation", "sentence matching", "text-to-text", "translation through one")
every_variant = pytest.mark.parametrize("name", VARIANTS)
CPU = torch.device("cpu")


@cache
def variant(name):
    base = find_objective("LASER" if "through" in name else next(n for n in NAMES if name.startswith(n)))
    return base.turn(VARIANTS[name])


def second_of(objective, tokens):
    """The second text of each row, as it stands beside the first."""
    name = "translation" if "translation" in objective.needs else "next"
    return texts(suited(objective, tokens).neighbours[name])


def known_of(objective, tokens, row, length):
    """The label of every word of the first text, where the objective needs one."""
    name = next((n.removeprefix("label:") for n in objective.needs if n.startswith("label:")), "")
    return suited(objective, tokens).labels[name][row, :length].tolist() if name else []


@every_variant
@settings(max_examples=30)
@given(tokens=batches(), seed=seeds)
def test_p15_every_stage_equals_its_oracle(name, tokens, seed):
    objective, stories = variant(name), [stages.begin(text) for text in texts(tokens)]
    seconds = second_of(objective, tokens)
    for step in objective.steps(suited(objective, tokens), generator(seed)):
        for row, told in enumerate(stories):
            judged = known_of(objective, tokens, row, len(texts(tokens)[row]))
            plan = {"second": seconds[row], "judged": judged, "group": row}
            stories[row] = stages.act(step.stage, plan, told)
            assert_row_is_story(step.example, row, stories[row])
            for question, asked in zip(step.example.questions, stories[row].asked, strict=True):
                for partner in step.example.auxiliary:
                    assert shown(partner.inputs, row)[0] == contrast.missing(stories[row])
                if question.reads is not None:
                    assert question.reads[row, : len(asked.reads)].tolist() == asked.reads


@settings(max_examples=30)
@given(tokens=batches(), seed=seeds)
def test_p15_sentences_left_as_they_are_equal_their_oracle(tokens, seed):
    rows = zip(texts(tokens), tokens.sentence_ids.tolist(), strict=True)
    stories = [noise.begin(text, sentence[: len(text)]) for text, sentence in rows]
    before = begin(tokens).spans.is_span
    for step in find_objective("PEGASUS large").turn({"unmasked_ratio": 0.5}).steps(tokens, generator(seed)):
        for row, told in enumerate(stories):
            plan = None if step.plan is None else row_of(step.plan, row, step.example.selected.shape[1])
            if isinstance(step.stage, KeepSomeSentences):
                plan = step.plan[row][before[row]].tolist()
            stories[row] = stages.act(step.stage, plan, told)
            assert_row_is_story(step.example, row, stories[row])
        before = step.example.spans.is_span


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
    facts = rebuild(name, printed.text, pair=printed.pair, wanted=printed.plan).facts()
    assert " ".join(facts["inputs"]) == inputs
    assert facts["survey"]["targets"] == target


def test_a_typed_pair_asks_nothing_until_somebody_judges_it():
    rebuilt = rebuild("inference", "I am happy", pair="We walk")
    assert not any(q.loss_mask.any() for q in rebuilt.example.questions)
    assert "set pair in the plan to contradiction, neutral or entailment" in rebuilt.notice
    assert tell(rebuilt.steps) == {}
    judged = rebuild("inference", "I am happy", pair="We walk", wanted={"pair": "neutral"})
    assert judged.notice == ""
    assert judged.facts()["survey"]["targets"] == "neutral"
    assert judged.facts()["plan"] == {"pair": "neutral"}
    with pytest.raises(UserError, match="The pair is 'true'; it must be one of contradiction, neutral, entailment"):
        rebuild("inference", "I am happy", pair="We walk", wanted={"pair": "true"})


def test_a_label_that_is_none_of_the_classes_is_not_asked():
    tokens = suited(variant("inference"), tokens_of([[40, 41], [42, 43], [44, 45]]))
    said = torch.tensor([[-1, -1], [2, 2], [3, 3]])
    example = variant("inference").example(replace(tokens, labels={"inference": said}), generator(0))
    assert example.questions[0].loss_mask[:, 0].tolist() == [False, True, False]


def turn_of(example):
    """The first position of the second text's half in the first row: of its sign or its text."""
    (question,) = example.questions
    if question.reads is not None:
        return int(question.reads[0, 0, 1])
    return int((example.inputs.segment_ids[0] == 0).sum())


def test_no_word_of_one_text_reaches_the_vector_of_the_other():
    """InferSent's two halves are strangers in every layer; side by side they are not."""
    for name, strangers in (("InferSent", True), ("inference", False)):
        example = story(name).example
        reach = leaks.reaches(example.inputs.attn_mask.dense()[0], 4)
        half = (torch.arange(len(reach)) >= turn_of(example)).long()
        assert (not reach[half == 0][:, half == 1].any()) is strangers
        assert (not reach[half == 1][:, half == 0].any()) is strangers


def test_both_texts_are_numbered_alike_where_each_is_read_for_itself():
    example = story("InferSent").example
    inputs, turn = example.inputs, turn_of(example)
    assert inputs.position_ids[0, :turn].tolist() == list(range(turn))
    assert inputs.position_ids[0, turn:].tolist() == list(range(inputs.ids.shape[1] - turn))
    assert (inputs.ids[0, 0], inputs.ids[0, turn]) == (SPECIALS.sep, SPECIALS.sep)
    assert not inputs.segment_ids.any(), "nothing says which of the two a text is"


@pytest.mark.parametrize("positions", ["rotary", "learned"])
def test_equal_texts_that_are_read_apart_have_equal_vectors(positions):
    rows = tokens_of([[40, 41, 42], [43], [44, 45, 46, 47]])
    same = replace(rows, neighbours={"next": rows}, labels={"inference": torch.ones_like(rows.ids)})
    example = find_objective("InferSent").example(same, generator(0))
    shape = with_required_parts(Architecture(layers=2, width=16, heads=2, mlp_ratio=1, positions=positions), example)
    model = make_model(shape, SPECIALS.size, generator(0)).double()
    (question,), hidden = example.questions, model.network(example.inputs, model.token_embedding.weight)
    for row in range(3):
        first, second = question.reads[row, 0].tolist()
        assert first < second
        torch.testing.assert_close(hidden[row, first], hidden[row, second])
    with_other = replace(
        example, inputs=replace(example.inputs, ids=example.inputs.ids.where(example.inputs.ids != 41, 50))
    )
    assert not torch.allclose(model.network(with_other.inputs, model.token_embedding.weight)[0, 0], hidden[0, 0])


@cache
def corpus(name, tokens=20_000):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        return open_corpus(name, tokens=tokens)


@pytest.mark.parametrize(("name", "classes"), [("inference", INFERENCES), ("discourse relation", CONNECTIVES)])
def test_the_corpus_of_an_objective_has_its_classes_and_every_pair_is_asked(name, classes):
    objective = find_objective(name)
    source = corpus(entry_for(objective).corpus)
    label = objective.needs[1].removeprefix("label:")
    assert source.label_names[label] == classes
    rows = BatchSampler.of(source, 32, 64, 0, CPU, objective.needs).windows
    question = objective.example(rows, generator(0)).questions[0]
    assert bool(question.loss_mask[:, 0].all())
    told = Counter(question.targets[:, 0].tolist())
    assert_law(told, dict.fromkeys(range(len(classes)), 1 / len(classes)))
    assert find_objective(name).knowing(source.label_names) == objective


def test_the_hypothesis_alone_says_nothing_of_the_answer():
    """Each word of the second text stands with every class about equally often (arXiv:1803.02324 finds otherwise)."""
    tokens = corpus("inference").pairs(32)
    hypothesis, label = tokens.neighbours["next"], tokens.labels["inference"][:, 0]
    word = corpus("inference").tokenizer.encode_word("not")[0]
    denied = (hypothesis.ids == word).any(1)
    for k in range(3):
        assert_share(int((denied & (label == k)).sum()), int((label == k).sum()), float(denied.double().mean()))


def test_the_clauses_do_not_hold_the_word_that_joined_them():
    """Whoever reads "because" between them need not understand them."""
    source = corpus("clauses")
    rows = source.pairs(32)
    because, so, but = (source.tokenizer.encode_word(word)[0] for word in ("because", "so", "but"))
    both = torch.cat([rows.ids, rows.neighbours["next"].ids], 1)
    for word in {because, so, but} - {source.tokenizer.specials.unknown}:
        assert not bool((both == word).any())


# distances


@settings(max_examples=5)
@given(seed=seeds)
def test_triples_are_neighbours_others_of_the_document_and_strangers(seed):
    source = corpus("stories", 4_000)
    tokens = source.triples(64, seed=seed)
    sentences = {}
    for token, document, sentence in zip(
        *(r.tolist() for r in (source.ids, source.document_ids, source.sentence_ids)), strict=True
    ):
        if token != SEPARATOR:
            sentences.setdefault((document, sentence), []).append(token)
    places = {}
    for (document, sentence), words in sentences.items():
        places.setdefault(tuple(words), set()).add((document, sentence))
    four = (tokens, *(tokens.neighbours[n] for n in ("next", "apart", "other")))
    for row in zip(*map(texts, four), strict=True):
        at, near, apart, other = (places[tuple(words)] for words in row)
        assert any((d, s + 1) in near for d, s in at)
        assert any(d == e and abs(s - r) > 1 for d, s in at for e, r in apart)
        assert any(all(d != e for e, _ in other) or len(other) > 1 for d, _ in at)


def test_sentences_that_are_no_neighbours_are_drawn_alike():
    """A document of five: the first has three others, each with the same chance."""
    source = corpus("stories", 4_000)
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
    rows = corpus("stories").triples(48)
    rows = pick(rows, torch.arange(len(rows.ids)).repeat(4)[:4000])
    first = objective.steps(rows, generator(3))[0]
    number = first.plan
    assert_law(Counter(number.tolist()), dict.fromkeys(range(3), 1 / 3))
    for k, name in enumerate(("next", "apart", "other")):
        row = int((number == k).nonzero()[0])
        wanted = texts(rows.neighbours[name])[row]
        length = int(rows.lengths[row])
        assert texts(first.example.tokens)[row][length:] == wanted


def test_a_text_of_two_sentences_has_no_distance():
    with pytest.raises(UserError, match="sentence distance needs three sentences"):
        rebuild("sentence distance", "I am happy . You are here .")
    assert rebuild(
        "sentence distance", "I am happy . You are here .", pair="We walk .", wanted={"pair": "apart"}
    ).facts()["inputs"][-4:] == ["We", "walk", ".", "[SEP]"]


def test_a_document_of_two_sentences_gives_no_triples():
    with pytest.raises(UserError, match="No document of inference has three sentences"):
        corpus("inference").triples(32)
    with pytest.raises(UserError, match="The length is 1"):
        corpus("stories").triples(1)


# answers in words


@pytest.mark.parametrize(
    ("number", "word"),
    [(2.57, "2.6"), (2.45, "2.4"), (0, "0.0"), (5, "5.0"), (3.75, "3.8"), (1.25, "1.2"), (0.1, "0.0")],
)
def test_golden_t5_says_a_number_as_the_nearest_word(number, word):
    """2.57 is "2.6" (inventory, appendix D); 2.45 tells nearest from rounding up (appendix B, E33)."""
    assert as_word(number) == word
    assert answer(str(number)) == word
    assert rebuild("text-to-text", "stsb", pair=str(number)).facts()["targets"] == [word, "[END]"]


def test_scores_from_1_to_5_are_21_words():
    """T5 says of STS-B that it becomes a choice among 21 classes (sec. 2.4)."""
    assert len({as_word(k / 1000) for k in range(1000, 5001)}) == 21


@pytest.mark.parametrize("said", ["entailment", "nan", "inf", "not acceptable"])
def test_an_answer_that_is_no_number_stays(said):
    assert answer(said) == said


def test_an_answer_must_stand_beside_the_text():
    with pytest.raises(UserError, match="text-to-text needs an answer beside the text"):
        rebuild("text-to-text", "cola sentence : I am happy . You are here .")


def test_each_task_has_its_prefix_and_its_own_answers():
    source = corpus("text to text")
    rows, words = source.pairs(48), source.tokenizer.words
    answers = {}
    for text, said, task in zip(
        texts(rows), texts(rows.neighbours["next"]), rows.labels["task"][:, 0].tolist(), strict=True
    ):
        assert words[text[0]] == source.label_names["task"][task]
        assert len(said) == 1
        answers.setdefault(words[text[0]], set()).add(words[said[0]])
    assert answers == {
        "sst2": {"negative", "positive"},
        "mnli": set(INFERENCES),
        "stsb": {"0.0", "1.2", "2.4", "3.8", "5.0"},
        "cola": {"acceptable", "unacceptable"},
    }


# one vector, one match


def test_all_that_the_decoder_knows_of_the_text_passes_through_one_position():
    example = story("LASER").example
    cross = example.decoder.cross_attn_mask.dense()[0]
    assert bool(cross[:, 0].all())
    assert not bool(cross[:, 1:].any())


def test_a_text_and_its_continuation_are_matched_over_the_batch():
    """The scores are the products of both first states; the loss is that of the right column (Qiu et al., eq. 4)."""
    tokens = suited(variant("sentence matching"), tokens_of([[40, 41, 42], [43, 44], [45, 46, 47, 48]]))
    example = variant("sentence matching").example(tokens, generator(0))
    model = make_model(
        with_required_parts(Architecture(layers=1, width=8, heads=2, mlp_ratio=1), example), SPECIALS.size, generator(0)
    )
    (answered,) = model(example)
    assert answered.scores.shape == (3, 3)
    wanted = -answered.scores.log_softmax(-1).diagonal().mean()
    torch.testing.assert_close(total_loss((answered,))[0], wanted)
    (partner,) = example.auxiliary
    assert [t[1:] for t in texts(tokens.neighbours["next"])] == [
        partner.inputs.ids[r, 2 : int(partner.inputs.valid[r].sum())].tolist() for r in range(3)
    ]


# sentences left as they are


def many_sentences(rows=400):
    words = [[40 + k for k in range(30)]] * rows
    return tokens_of(words, sentence=[[k // 3 for k in range(30)]] * rows, padded=False)


def test_a_fifth_of_the_chosen_sentences_is_left_and_must_still_be_written():
    objective = find_objective("PEGASUS large")
    steps = objective.steps(many_sentences(), generator(1))
    chosen = steps[0].example.spans.is_span.sum()
    assert int(chosen) == 400 * 4
    assert_share(int(steps[1].plan.sum()), int(chosen), 0.2)
    example = steps[-1].example
    left = example.actions == Action.GRADED_AS_IS
    shown = torch.zeros_like(left).scatter(1, example.inputs.origin.clamp(min=0), example.inputs.valid)
    assert bool((shown | ~left).all())
    assert int(example.questions[0].loss_mask.sum()) == 400 * (4 * 3 + 1)


def test_what_is_left_is_no_leak_but_by_design():
    text = "I am here . You are there . We walk home ."
    rebuilt = rebuild("PEGASUS large", text, wanted={"sentences": "1,3", "intact": "3"})
    facts = rebuilt.facts()
    assert facts["inputs"] == "[MASK] You are there . We walk home .".split()
    assert facts["survey"]["targets"] == "I am here . We walk home ."
    assert facts["targets"] == [*facts["survey"]["targets"].split(), "[END]"]
    assert facts["plan"] == {"sentences": [1, 3], "intact": [3]}
    assert (rebuilt.verdict.leak, len(rebuilt.verdict.by_design)) == (False, 4)
    with pytest.raises(UserError, match="Sentence 2 is not among the chosen ones; those are: 1, 3"):
        rebuild("PEGASUS large", text, wanted={"sentences": "1,3", "intact": "2"})


def test_nothing_left_is_the_smaller_model():
    tokens = many_sentences(4)
    large = find_objective("PEGASUS large").turn({"unmasked_ratio": 0.0, "gap_sentence_ratio": 0.3})
    one, other = (o.example(tokens, generator(2)) for o in (large, find_objective("gap sentences")))
    assert torch.equal(one.inputs.ids, other.inputs.ids)
    assert torch.equal(one.questions[0].targets, other.questions[0].targets)


def test_every_stage_of_this_area_has_its_oracle():
    assert oracles_judged.ACTS.items() <= stages.ACTS.items()
