"""Dependency trees: is every sentence one tree, and is it the right one?"""

from itertools import groupby

import pytest

from playground import catalog
from playground.corpora.catalog.bilingual import make_bilingual
from playground.corpora.catalog.domains import make_domains
from playground.corpora.catalog.parallel import make_parallel
from playground.corpora.tinyworld import generate
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.translate import Language
from playground.corpora.tinyworld.trees import ParsedWord, parse
from playground.tokenizing.vocabulary import SEPARATOR

PRESETS = catalog.find("playground.corpora.tinyworld.presets", Preset)
MADE = {name: lambda name=name: generate(name, 0, 3000) for name in PRESETS}
MADE |= {
    "domains": lambda: make_domains(0, 3000),
    "translations": lambda: make_parallel(0, 3000, Language(adjective_after=True)),
    "bilingual": lambda: make_bilingual(0, 6000),
}


def sentences(corpus):
    """The places of the words of every sentence."""
    kept = (corpus.ids != SEPARATOR).nonzero()[:, 0].tolist()
    number = corpus.sentence_ids.tolist()
    return [list(run) for _, run in groupby(kept, lambda k: number[k])]


def arcs(corpus, positions):
    """Every word of a sentence as "word relation head"."""
    words = corpus.tokenizer.decode(corpus.ids.tolist())
    names, head = corpus.label_names["relation"], corpus.labels["head"].tolist()
    relation = corpus.labels["relation"].tolist()
    return [f"{words[k]} {names[relation[k]]} {words[head[k]] if head[k] >= 0 else '-'}" for k in positions]


@pytest.mark.parametrize("name", MADE)
def test_every_sentence_is_one_tree(name):
    corpus = MADE[name]()
    head, relation = corpus.labels["head"].tolist(), corpus.labels["relation"].tolist()
    root = corpus.label_names["relation"].index("root")
    assert not any(head[k] >= 0 or relation[k] >= 0 for k in (corpus.ids == SEPARATOR).nonzero()[:, 0].tolist())
    for positions in sentences(corpus):
        roots = [k for k in positions if head[k] < 0]
        assert len(roots) == 1
        assert [k for k in positions if relation[k] == root] == roots
        for k in positions:
            seen = {k}
            while head[k] >= 0:
                assert head[k] in positions
                k = head[k]
                assert k not in seen, "no way up leads back"
                seen.add(k)


@pytest.mark.parametrize("name", MADE)
def test_small_words_hang_on_words_of_their_phrase(name):
    corpus = MADE[name]()
    names, phrase = corpus.label_names["relation"], corpus.labels["phrase"].tolist()
    head, relation = corpus.labels["head"].tolist(), corpus.labels["relation"].tolist()
    inner = {names.index(one) for one in ("det", "nummod", "amod", "case", "flat", "aux:pass", "xcomp")}
    for k, one in enumerate(relation):
        if one in inner and phrase[k] >= 0:
            assert phrase[head[k]] == phrase[k]


def test_subjects_have_the_number_of_their_verbs():
    corpus = generate("agreement", 0, 10_000)
    names, number = corpus.label_names["relation"], corpus.labels["number"].tolist()
    verbs = {k: head for k, head in enumerate(corpus.labels["head"].tolist()) if number[k] >= 0}
    relation = corpus.labels["relation"].tolist()
    subjects = {verbs[k]: k for k in verbs if relation[k] == names.index("nsubj")}
    seen = 0
    for k, head in verbs.items():
        verb = k if relation[k] == names.index("root") else head if relation[k] == names.index("cop") else None
        if verb in subjects and corpus.labels["attractors"][k] >= 0:
            assert number[subjects[verb]] == number[k]
            seen += 1
    assert seen > 500


SPOKEN = {
    "roles": ("was", {"nsubj:pass", "aux:pass", "root", "case", "obl:agent"}),
    "agreement": ("behind", {"nsubj", "nmod", "case", "root"}),
    "arguments": ("because", {"mark", "advcl", "nsubj", "root"}),
    "summaries": ("best", {"advmod", "case", "obl", "obj", "root"}),
    "facts": ("capital", {"nsubj", "cop", "nmod", "case", "root"}),
}


@pytest.mark.parametrize("name", SPOKEN)
def test_sentences_of_a_kind_have_the_relations_of_that_kind(name):
    word, wanted = SPOKEN[name]
    corpus = MADE[name]()
    found = [arcs(corpus, positions) for positions in sentences(corpus)]
    some = [said for said in found if any(arc.split()[0] == word for arc in said)]
    assert some
    assert all(wanted <= {arc.split()[1] for arc in said} for said in some)


def tree(*written):
    """The heads (from 1; 0 is the root) and relations of a sentence written as "text pos phrase kind role"."""
    words = [ParsedWord("", pos, int(phrase), *(rest + ["", ""])[:2]) for pos, phrase, *rest in map(str.split, written)]
    heads, relations = parse(words)
    return [head + 1 for head in heads], relations


def test_a_sentence_with_every_kind_of_phrase_is_parsed_as_a_person_would():
    """ "then the chef bakes the small pie near the kitchen ." """
    said = ["ADV -1", "DET 0 NP agent", "NOUN 0 NP agent", "VERB 1 VP action", "DET 2 NP patient", "ADJ 2 NP patient"]
    said += ["NOUN 2 NP patient", "ADP 3 PP place", "DET 3 PP place", "NOUN 3 PP place", "PUNCT -1"]
    heads, relations = tree(*said)
    assert heads == [4, 3, 4, 0, 7, 7, 4, 10, 10, 4, 4]
    assert relations == "advmod det nsubj root det amod obj case det obl punct".split()


def test_in_a_passive_the_patient_is_the_subject():
    """ "the pie was eaten by anna ." """
    said = ["DET 0 NP patient", "NOUN 0 NP patient", "AUX 1 VP action", "VERB 1 VP action", "ADP 2 PP agent"]
    heads, relations = tree(*said, "PROPN 2 PP agent", "PUNCT -1")
    assert heads == [2, 4, 4, 0, 6, 4, 4]
    assert relations == "det nsubj:pass aux:pass root case obl:agent punct".split()


def test_translated_words_hang_as_their_twins_do():
    corpus = make_parallel(0, 3000)
    head, aligned = corpus.labels["head"].tolist(), corpus.labels["aligned"].tolist()
    sides = sentences(corpus)
    for one, two in zip(sides[::2], sides[1::2], strict=True):
        for k in one:
            twin = two[aligned[k]]
            assert corpus.labels["relation"][k] == corpus.labels["relation"][twin]
            assert (head[k] < 0) == (head[twin] < 0)
            assert head[k] < 0 or two[aligned[head[k]]] == head[twin]
