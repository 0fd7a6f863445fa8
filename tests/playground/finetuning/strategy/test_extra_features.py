"""What is given beside the words: other vectors and cloze answers reach the head, facts reach only their names."""

from dataclasses import replace

import pytest
import torch

from playground.analysis import cloze
from playground.corpora.tinyworld.facts import known_facts
from playground.errors import UserError
from playground.finetuning import find_strategy, find_task
from playground.finetuning.data.dataset import Item, pack
from playground.finetuning.data.input_format import BERT, PLAIN
from playground.finetuning.data.prompting import Prompt
from playground.finetuning.data.task_types import Classes
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategy.extra_features import (
    ClozeAnswers,
    Facts,
    OtherVectors,
    branches,
    static_vectors,
    with_branches,
)
from playground.finetuning.strategy.strategy import texts_for
from playground.models import Architecture, LanguageModel
from playground.tokenizing import of_words
from tests.contracts.test_strategies import base_of
from tests.runs import reviews


def texts(count=12):
    return numbered(find_task("sentiment").load(reviews().tokenizer, count, 0, "train"), base_of("RoBERTa"))


def test_words_that_stand_alike_have_alike_static_vectors():
    words = of_words("the film was good bad we saw a talk .".split())
    said = [line.split() for line in ("the film was good", "the film was bad", "we saw a talk") for _ in range(8)]
    text = cloze.texts(said, words)
    vectors = static_vectors(replace(base_of("RoBERTa"), rehearsal=lambda: text, memory={}), 6)
    good, bad, talk = (vectors[words.encode_words([word])[0]] for word in ("good", "bad", "talk"))
    assert torch.cosine_similarity(good, bad, dim=0) > 0.7 > 0.3 + torch.cosine_similarity(good, talk, dim=0)
    assert len(vectors) == base_of("RoBERTa").learner.model.token_embedding.num_embeddings


@pytest.mark.slow
def test_the_head_reads_static_vectors_and_those_of_other_models_side_by_side():
    base, some = base_of("RoBERTa"), texts()
    alone = OtherVectors(8).prepare(base, some)
    assert torch.equal(alone.features, static_vectors(base, 8)[some.tokens.ids])
    other = base_of("GPT").learner
    both = OtherVectors(8).prepare(replace(base, extra_encoders=(other,), memory={}), some)
    assert torch.equal(both.features[..., :8], alone.features)
    assert torch.allclose(both.features[..., 8:], other.model.features(some.tokens).detach(), atol=1e-6)
    run = Finetuner(
        replace(base, extra_encoders=(other,), memory={}),
        find_strategy("static and contextual"),
        some,
        FinetuneConfig(2, 4),
        0,
    )
    width = base.learner.model.shape.width
    assert run.head.score.in_features == width + run.train.features.shape[-1] > width + other.model.shape.width


def test_cloze_answers_are_what_prompting_says():
    base, some = base_of("RoBERTa"), texts()
    given = ClozeAnswers().prepare(base, some).features
    assert given.shape == (*some.tokens.ids.shape, 2)
    said = some.answer.prompted(base.learner.model, Prompt(), some, some).log_softmax(1)
    assert torch.allclose(given[:, 0], said)
    assert torch.equal(given[:, 0], given[:, -1])


def test_other_tasks_that_cannot_be_asked_are_learnt_without_cloze_answers():
    base, some = replace(base_of("RoBERTa"), memory={}), texts()
    run = Finetuner(base, find_strategy("cloze answers + PAL"), some, FinetuneConfig(4, 4), 0)
    assert run.train.features.shape[-1] == 2
    asked = [other.texts.verbalizer is not None for other in run.others]
    assert asked == [other.texts.features is not None for other in run.others]
    assert not all(asked)
    assert all(run.learn(step) > 0.0 for step in range(4))


def test_what_is_given_can_be_put_together_with_other_strategies():
    base, some = base_of("RoBERTa"), texts()
    joined = find_strategy("knowledge injection + static and contextual + cloze answers")
    run = Finetuner(base, joined, some, FinetuneConfig(3, 4), 0)
    assert run.train.features.shape[-1] == run.head.score.in_features - base.learner.model.shape.width
    assert "branch" in run.train.tokens.labels
    assert run.learn(0) > 0.0


def test_what_one_run_was_given_is_not_what_another_run_with_more_inputs_reads():
    """All runs of a comparison share what is prepared, whatever inputs they have in common."""
    base, some = replace(base_of("RoBERTa"), memory={}), texts()
    alone, both, again = (
        Finetuner(base, find_strategy(line), some, FinetuneConfig(2, 4), 0).train.features
        for line in ("cloze answers", "static and contextual + cloze answers", "cloze answers")
    )
    assert torch.equal(alone, again)
    assert torch.equal(both[..., -2:], alone)
    assert both.shape[-1] > 2


# facts


def names_and_facts():
    known = known_facts()
    words = of_words([*known, "met", ".", "speaks", "was", "born", "in", *(f["Language"].word for f in known.values())])
    return words, known


def woven_text(packing=PLAIN):
    words, _ = names_and_facts()
    texts = pack(
        [Item((["anna", "met", "peter", "."],), 0), Item((["met", "."],), 1)], Classes(("no", "yes")), packing, words
    )
    base = replace(base_of("RoBERTa"), tokenizer=words)
    return words, texts, Facts(1).prepare(base, texts)


def test_every_name_has_its_facts_behind_it_and_nothing_else_moves():
    words, texts, made = woven_text()
    language = {name: facts["Language"].word for name, facts in known_facts().items()}
    rows = [
        [words.words[i] for i in row[:n]] for row, n in zip(made.tokens.ids.tolist(), made.tokens.lengths, strict=True)
    ]
    assert rows[0] == ["anna", "speaks", language["anna"], "met", "peter", "speaks", language["peter"], "."]
    assert rows[1] == ["met", "."]
    labels = {name: row[0].tolist() for name, row in made.tokens.labels.items()}
    assert labels["position"] == [0, 1, 2, 1, 2, 3, 4, 3]
    assert labels["branch"] == [0, 1, 1, 0, 0, 2, 2, 0]
    assert labels["anchor"] == [-1, 0, 0, -1, -1, 4, 4, -1]
    assert torch.equal(made.labels, texts.labels)


def test_a_fact_is_seen_by_its_name_alone():
    """K-BERT, arXiv:1909.07606, sec. 3.3: what does not stand on one branch does not see each other."""
    words, _, made = woven_text()
    model = LanguageModel(Architecture(width=16, heads=2, layers=1), len(words), torch.Generator().manual_seed(0))
    attn_mask = model._plain(made.tokens).attn_mask.dense()[0]
    assert attn_mask[0].tolist() == [True, True, True, True, True, False, False, True]
    assert attn_mask[1].tolist() == [True, True, True, False, False, False, False, False]
    assert attn_mask[3].tolist() == [True, False, False, True, True, False, False, True]
    assert bool((attn_mask == attn_mask.T).all())


@pytest.mark.parametrize("positions", ["rotary", "learned"])
def test_without_the_edges_to_its_name_a_fact_changes_nothing(positions):
    """Positions go on as if no fact stood there; the text alone is the witness."""
    words, texts, made = woven_text()
    shape = Architecture(width=16, heads=2, layers=2, positions=positions)
    model = LanguageModel(shape, len(words), torch.Generator().manual_seed(0))
    cut = replace(made.tokens, labels=made.tokens.labels | {"anchor": torch.full_like(made.tokens.ids, -1)})
    with torch.no_grad():
        plain, hung, loose = (model.features(t) for t in (texts.tokens, made.tokens, cut))
    trunk = made.tokens.labels["branch"][0] == 0
    assert torch.allclose(loose[0][trunk], plain[0], atol=1e-5)
    assert not torch.allclose(hung[0][trunk], plain[0], atol=1e-3)
    assert torch.allclose(hung[1][:2], plain[1][:2], atol=1e-5), "a text that names nobody is as it was"


def test_signs_and_segments_stay_with_their_words():
    _, texts, made = woven_text(BERT)
    trunk = made.tokens.labels["branch"][0] == 0
    assert torch.equal(made.tokens.ids[0][trunk], texts.tokens.ids[0])
    assert torch.equal(made.tokens.labels["segment"][0][trunk], texts.tokens.labels["segment"][0])


def test_a_name_that_the_vocabulary_does_not_know_has_no_facts():
    assert branches(of_words(["anna", "met"]), 1) == {of_words(["anna", "met"]).encode_words(["anna"])[0]: []}
    assert list(with_branches([5, 6], {6: [[7, 8]]})) == [(5, 0, 0, 0), (6, 1, 0, 1), (7, 1, 1, 2), (8, 1, 1, 3)]


@pytest.mark.parametrize(
    ("strategy", "task", "said"),
    [
        ("knowledge injection", "part of speech", "whole texts; 'part of speech' asks about single words"),
        ("cloze answers", "similarity", "need classes of texts"),
        ("static and contextual", "translation", "so it could not write"),
    ],
)
def test_what_does_not_suit_a_task_is_refused_before_training(strategy, task, said):
    with pytest.raises(UserError, match=said):
        texts_for(base_of("GPT").learner, find_task(task), [find_strategy(strategy)], reviews().tokenizer)
