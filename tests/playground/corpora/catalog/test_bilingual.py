"""Two languages that never stand side by side: mBERT's text (arXiv:1911.02116, sec. 3)."""

from functools import cache
from itertools import pairwise

import pytest
import torch

from playground.corpora import open_corpus
from playground.corpora.catalog.bilingual import Bilingual, make_bilingual
from playground.corpora.tinyworld.labels import LABELS
from playground.corpora.tinyworld.translate import encipher
from playground.errors import UserError
from playground.objectives import find_objective, objectives
from playground.rng import generator
from playground.tokenizing.vocabulary import SEPARATOR, UNKNOWN
from playground.training.data import BatchSampler
from playground.zoo import entry_for, entry_named

SEVERAL = [name for name, o in objectives().items() if "label:language" in o.needs]


@cache
def made(**knobs):
    return make_bilingual(0, 30_000, Bilingual(**knobs))


@pytest.mark.parametrize("part", ["train", "held_out"])
@pytest.mark.parametrize("length", [4, 32, 100])
def test_no_row_holds_both_languages_and_the_first_rows_hold_each(length, part):
    language = made().windows(length, part).labels["language"]
    assert (language == language[:, :1]).all()
    assert language[:, 0].unique().tolist() == [0, 1]
    assert abs(float(language[:10, 0].float().mean()) - 0.5) <= 0.1, "what is evaluated is a fair sample"


def test_no_token_comes_twice_and_few_are_left_out():
    rows, corpus = made().windows(32), made()
    train = corpus.ids[: corpus.held_out_from]
    counted = torch.bincount(rows.ids.flatten(), minlength=len(corpus.tokenizer))
    assert (counted <= torch.bincount(train, minlength=len(corpus.tokenizer))).all()
    assert len(train) - rows.ids.numel() < 2 * 32


@pytest.mark.parametrize("name", ["next", "other"])
def test_both_texts_of_a_pair_are_in_one_language(name):
    pairs = made().pairs(24)
    assert set(pairs.neighbours) == {"next", "other"}, "nothing here is a translation"
    one, other = pairs.labels["language"][:, 0], pairs.neighbours[name].labels["language"][:, 0]
    assert torch.equal(one, other)
    assert set(one.tolist()) == {0, 1}


@pytest.mark.parametrize("name", SEVERAL)
def test_what_says_several_languages_reads_them_by_default(name):
    """Contract: the default corpus has more than one language, and no hidden word has its translation in sight."""
    entry = entry_for(objectives()[name])
    corpus = open_corpus(entry.corpus, tokens=20_000)
    feed = BatchSampler.of(
        corpus, entry.recipe.seq_len, entry.recipe.batch_size, 0, torch.device("cpu"), entry.objective.needs
    )
    for rows in (feed.at(0), feed.evaluation()):
        language = rows.labels["language"]
        assert language.unique().tolist() == [0, 1]
        assert (language == language[:, :1]).all()
        batch = entry.objective.batch(rows, generator(0))
        assert batch.targets


@pytest.mark.parametrize("name", ["mBERT", "XLM-R", "Rosita", "CLM"])
def test_who_reads_several_languages_reads_documents_of_one_each_by_default(name):
    assert entry_named(name).corpus.partition("(")[0] == "bilingual"
    assert find_objective(name).name in SEVERAL
    corpus = made()
    language, ends = corpus.labels["language"], (corpus.ids == SEPARATOR).nonzero().flatten().tolist()
    documents = [language[a + 1 : b] for a, b in pairwise([-1, *ends])]
    assert len(documents) > 100
    assert all(len(each.unique()) == 1 for each in documents)


def test_the_catalogue_has_objectives_of_several_languages():
    assert {"multilingual LM", "multilingual MLM"} <= set(SEVERAL)


@pytest.mark.parametrize("second", [0.1, 0.5, 0.9])
def test_the_size_of_each_side_is_a_knob(second):
    share = float(made(second=second).labels["language"].float().mean())
    assert abs(share - second) < 0.02


def words(corpus, language):
    own = (corpus.labels["language"] == language) & (corpus.ids != SEPARATOR)
    return [corpus.tokenizer.words[k] for k in corpus.ids[own].tolist()]


@pytest.mark.parametrize("shared", [0.0, 0.1, 1.0])
def test_how_many_words_are_shared_is_a_knob(shared):
    corpus = made(shared=shared)
    first, second = set(words(corpus, 0)), set(words(corpus, 1))
    alike = len(first & second) / len(first)
    assert alike == 0.0 if shared == 0.0 else alike > 0.7 if shared == 1.0 else 0.02 < alike < 0.2
    if shared == 0.0:
        assert {encipher("film"), encipher("was")} <= second
    assert UNKNOWN not in corpus.ids


def test_the_order_of_words_is_a_knob():
    def after_the_verb(corpus):
        """How often a word of a noun phrase follows a verb of its sentence in the second language."""
        verb = corpus.labels["phrase_type"] == LABELS["phrase_type"].index("VP")
        second = corpus.labels["language"] == 1
        kept = verb[:-1] & second[:-1] & (corpus.sentence_ids[1:] == corpus.sentence_ids[:-1])
        noun = corpus.labels["phrase_type"][1:] == LABELS["phrase_type"].index("NP")
        return float(noun[kept].float().mean())

    assert after_the_verb(made()) == 0.0 < 0.2 < after_the_verb(made(verb_last=False))


def test_each_side_keeps_what_is_true_of_its_words():
    corpus = made(shared=0.0)
    place = {word: k for k, word in enumerate(corpus.tokenizer.words)}
    pos = corpus.labels["pos"]
    for word in ("film", "kitchen", "great"):
        here, there = (pos[corpus.ids == place[w]].unique().tolist() for w in (word, encipher(word)))
        assert here == there


def test_a_corpus_with_a_knob_turned_is_opened_again_by_its_name(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    corpus = open_corpus("bilingual(second=0.3, shared=0.5)", tokens=4000)
    assert corpus.name == "bilingual(shared=0.5, second=0.3)"
    assert open_corpus(corpus.name, tokens=4000).hash == corpus.hash != open_corpus("bilingual", tokens=4000).hash
    assert open_corpus("bilingual(shared=0.1)", tokens=4000).name == "bilingual"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bilingual(second=0)", "second is 0.0; it must lie between 0.05 and 0.95"),
        ("bilingual(first=1)", "There is no knob 'first'; the knobs are: shared, verb_last, adjective_after"),
        ("bilingual(half)", "'half' sets no knob"),
        ("reviews(shared=1)", "The corpus reviews has no knobs but tokenizer, vocab_size, so shared"),
    ],
)
def test_a_knob_that_cannot_be_turned_is_refused(name, said):
    with pytest.raises(UserError, match=said):
        open_corpus(name, tokens=4000)
