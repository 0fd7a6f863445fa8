"""Tasks from TinyWorld: are the labels right, the classes equally frequent, the splits apart, the shortcuts closed?"""

from collections import Counter
from math import sqrt
from random import Random

import pytest

from playground.corpora.tinyworld import generate
from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.facts import FACTS
from playground.corpora.tinyworld.inflection import takes_an
from playground.corpora.tinyworld.presets.arguments import JOINED
from playground.corpora.tinyworld.tasks.analogies import analogy_grids, analogy_questions
from playground.corpora.tinyworld.tasks.cloze import fact_questions
from playground.corpora.tinyworld.tasks.connectives import connective_sentences
from playground.corpora.tinyworld.tasks.inference import INFERENCES, inference_pairs
from playground.corpora.tinyworld.tasks.minimal import KINDS, minimal_pairs
from playground.corpora.tinyworld.tasks.questions import reading_passages
from playground.corpora.tinyworld.tasks.senses import RULES, sense_sentences
from playground.corpora.tinyworld.tasks.similarity import paraphrase_pairs, similarity_pairs
from playground.corpora.tinyworld.tasks.typos import ERRORS, mistype
from playground.errors import UserError
from playground.tokenizing.vocabulary import UNKNOWN

WORDS_OF = {
    name: generate(name, 0, 1000).tokenizer
    for name in ("world", "reviews", "questions", "facts", "senses", "shortcuts")
}


def known(preset, words):
    """Whether a model of the preset knows all these words."""
    return UNKNOWN not in WORDS_OF[preset].encode_words(words)


def joined(pair):
    return " ".join((*pair[0], "|", *pair[1]))


PAIRED = [inference_pairs, similarity_pairs, paraphrase_pairs]


@pytest.mark.parametrize("task", PAIRED, ids=lambda task: task.__name__)
def test_pairs_are_balanced_different_and_never_in_both_splits(task):
    pairs, labels = task(300, 0, "train")
    others, _ = task(150, 9, "test")
    texts = set(map(joined, pairs))
    assert len(texts) == len(pairs) == len(labels) == 300
    assert not texts & set(map(joined, others))
    assert max(Counter(labels).values()) - min(Counter(labels).values()) <= 1
    assert (pairs, labels) == task(300, 0, "train")
    assert all(known("world", [*one, *two]) for one, two in pairs)
    with pytest.raises(UserError, match="split is 'dev'"):
        task(3, 0, "dev")


def test_inferences_are_what_the_words_say():
    pairs, labels = inference_pairs(600, 0)
    for (premise, hypothesis), label in zip(pairs, labels, strict=True):
        assert known("reviews", [*premise, *hypothesis])
        yes, no = premise[3], premise[6]
        asked, denied = hypothesis[-2], "not" in hypothesis
        if hypothesis[1] != premise[1]:
            assert INFERENCES[label] == "neutral"
        else:
            assert asked in (yes, no)
            assert INFERENCES[label] == ("entailment" if denied == (asked == no) else "contradiction")


def test_neither_side_of_an_inference_alone_says_anything():
    pairs, labels = inference_pairs(3000, 0)
    for cue in (lambda p: "not" in p[1], lambda p: p[1][-2] in lex.GOOD.split(), lambda p: p[0][3] in lex.GOOD.split()):
        for label in range(3):
            of = [cue(pair) for pair, said in zip(pairs, labels, strict=True) if said == label]
            share = sum(map(cue, pairs)) / len(pairs)
            assert abs(sum(of) / len(of) - share) < 5 * sqrt(0.25 / len(of))


def event(words):
    """Who, did, what and where, whichever order the sentence has."""
    return [*words[4:6], words[7], words[2]] if words[0] == "near" else [*words[1:3], words[4], words[7]]


def test_similarity_counts_what_is_the_same():
    pairs, scores = similarity_pairs(300, 0)
    for (one, two), score in zip(pairs, scores, strict=True):
        assert (one[0] == "near") != (two[0] == "near")
        assert sum(a == b for a, b in zip(event(one), event(two), strict=True)) == score


def test_paraphrases_mean_the_same_and_others_do_not_quite():
    pairs, labels = paraphrase_pairs(200, 0)
    for (one, two), label in zip(pairs, labels, strict=True):
        assert (sorted(one) == sorted(two)) == bool(label)
        assert sum(a == b for a, b in zip(event(one), event(two), strict=True)) == 3 + label


@pytest.mark.parametrize("kind", KINDS)
def test_minimal_pairs_differ_in_one_place_and_only_the_first_is_right(kind):
    pairs = minimal_pairs(kind, 60, 0)
    assert len({" ".join(right) for right, _ in pairs}) == 60
    assert not {joined(p) for p in pairs} & {joined(p) for p in minimal_pairs(kind, 30, 1, "test")}
    for right, wrong in pairs:
        assert known("world", [*right, *wrong])
        positions = [k for k, (a, b) in enumerate(zip(right, wrong, strict=True)) if a != b]
        if kind == "order":
            assert len(positions) == 2
            assert positions[1] == positions[0] + 1
            assert sorted(right) == sorted(wrong)
        else:
            assert len(positions) == 1
        if kind == "article":
            assert takes_an(right[1]) == (right[0] == "an") != (wrong[0] == "an")
        if kind.startswith("agreement"):
            between = right[: positions[0]]
            assert sum(word in ("near", "behind") for word in between) >= int(kind[-1])


def test_an_unknown_kind_of_minimal_pairs_is_refused():
    with pytest.raises(UserError, match="no kind of minimal pairs named 'colour'; choose one of: agreement-0"):
        minimal_pairs("colour", 3, 0)


def test_answers_stand_in_the_passage_behind_the_person_asked_for():
    positions = Counter()
    for passage in reading_passages(300, 0):
        assert passage.question[:2] == ["where", "is"]
        assert passage.words[passage.start - 3 : passage.start] == [passage.question[2], "moved", "to"]
        assert passage.words[passage.start + passage.length] == "."
        assert " ".join(passage.answer) in {*lex.CROSSED, *lex.TOWNS, *(c.split()[1] for c in lex.COUNTRIES)}
        assert passage.words.count("moved") == 4
        assert known("questions", [*passage.words, *passage.question])
        positions[passage.words[: passage.start].count(".")] += 1
    assert len(positions) == 4
    assert max(positions.values()) < 2 * min(positions.values())


def test_connectives_are_taken_out_and_are_equally_frequent():
    sentences, labels = connective_sentences(200, 0)
    assert Counter(labels) == dict.fromkeys(range(4), 50)
    for sentence, label in zip(sentences, labels, strict=True):
        assert sentence.connective == JOINED[label]
        assert not set(JOINED) & {*sentence.first, *sentence.second}


@pytest.mark.parametrize("cue", RULES)
def test_sentences_with_a_sense_hold_the_word_at_its_place(cue):
    sentences = sense_sentences(cue, 20, 0)
    cues = {f"{w}.{m}": set(c.split()) for w, both in lex.SENSES.items() for m, c in both}
    for one in sentences:
        assert one.sense.partition(".")[0] == one.words[one.position]
        assert bool(cues[one.sense] & set(one.words)) == (cue != "xor")
        assert known("senses", one.words)


def test_an_unknown_place_of_a_cue_is_refused():
    with pytest.raises(UserError, match="no place of a cue named 'above'"):
        sense_sentences("above", 3, 0)


def test_analogies_are_pairs_of_one_grid():
    grids = analogy_grids()
    assert grids["gender"][0] == ("king", "queen")
    questions = analogy_questions()
    assert len(questions) == len(set(questions)) == sum(len(g) * (len(g) - 1) for g in grids.values())
    assert all({(q.a, q.b), (q.c, q.d)} <= set(grids[q.relation]) for q in questions)
    tokenizer = generate("families", 0, 1000).tokenizer
    assert UNKNOWN not in tokenizer.encode_words(w for q in questions for w in (q.a, q.b, q.c, q.d))


@pytest.mark.parametrize("wording", [0, 1])
def test_every_fact_is_asked_for_in_words_that_the_corpus_has(wording):
    asked = fact_questions(wording)
    assert [question.fact for question in asked] == list(FACTS)
    for question in asked:
        assert question.words[question.position] == question.fact.object
        assert set(question.fact.subject.split()) <= set(question.words)
        assert known("facts", question.words)


def test_a_mistyped_word_is_another_word_with_one_error():
    random, kinds = Random(0), Counter()
    for right in ("great", "boring", "witless") * 40:
        wrong, error = mistype(right, random)
        assert wrong != right
        assert {"swapped": sorted(wrong) == sorted(right), "left out": len(wrong) == len(right) - 1}.get(
            error, len(wrong) == len(right) + (error == "twice")
        )
        kinds[error] += 1
    assert set(kinds) == set(ERRORS)
