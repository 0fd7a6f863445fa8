"""Rewriting for a label: gaps are filled by who knows the label, and a text gets another label by few new words."""

from dataclasses import replace

import pytest
import torch

from playground.errors import UserError
from playground.finetuning import find_strategy, find_task
from playground.finetuning.apply.text_editing import Edited, editor, success
from playground.finetuning.data.dataset import Item, pack
from playground.finetuning.data.input_format import PLAIN
from playground.finetuning.data.task_types import Classes
from playground.finetuning.run.trainer import FinetuneConfig
from playground.finetuning.run.tune import StepEvent, tune
from playground.finetuning.strategy.cbert import Conditional, check_filling, some_words
from playground.tokenizing import of_words
from playground.zoo.preset import FAST
from tests.contracts.test_strategies import base_of
from tests.runs import learner_of, reviews


def texts(count=48, split="train"):
    return find_task("sentiment").load(reviews().tokenizer, count, 0, split)


def test_a_share_of_the_words_becomes_gaps_and_never_a_sign():
    tokens = texts().tokens
    gaps = some_words(tokens, 0.3, torch.Generator().manual_seed(0))
    words = tokens.maskable.sum(1)
    assert torch.equal(gaps.sum(1), (words * 0.3).round().clamp(min=1).long())
    assert not bool((gaps & ~tokens.maskable).any())


def test_the_writer_starts_as_the_model_and_the_base_stays_as_it_is():
    model, some = base_of("RoBERTa").learner.model, texts(8)
    gaps = some_words(some.tokens, 0.3, torch.Generator().manual_seed(0))
    with torch.no_grad():
        one, other = (Conditional(model, 2).scores(some.tokens, gaps, torch.full((8,), label))[0] for label in (0, 1))
    assert torch.equal(one, other), "the vectors of the labels start at 0"
    before = {k: v.clone() for k, v in model.state_dict().items()}
    taught = Conditional(model, 2).learn(some, 3, 0.3, 0)
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert float(taught.labels.weight.detach().abs().sum()) > 0.0


def test_a_writer_writes_for_the_label_it_is_told():
    """Every text says one word, which its label decides; the gap in the middle is then filled as the label says."""
    words = of_words("it was awful great .".split())
    items = [Item((["it", "was", ("awful", "great")[k % 2], "."],), k % 2) for k in range(32)]
    some = pack(items, Classes(("bad", "good")), PLAIN, words)
    model = learner_of("RoBERTa", model=FAST.model).model
    small = type(model)(model.shape, len(words), torch.Generator().manual_seed(0))
    writer = Conditional(small, 2).learn(some, 150, 0.3, 0)
    gaps = torch.zeros_like(some.tokens.maskable)
    gaps[:, 2] = True
    turned = writer.fill(some.tokens, gaps, 1 - some.labels, torch.Generator().manual_seed(1))
    expected = torch.tensor(words.encode_words(["great", "awful"]))[some.labels]
    assert float((turned.ids[:, 2] == expected).double().mean()) > 0.8
    assert torch.equal(turned.ids[~gaps], some.tokens.ids[~gaps])


def test_rewritten_texts_change_what_is_learnt_and_only_for_gap_fillers():
    base = base_of("RoBERTa")
    runs = [
        list(tune(base, find_strategy(name), texts(16), texts(16, "test"), FinetuneConfig(3, 4), 0))
        for name in ("full", "rewritten texts")
    ]
    one, other = ([e.loss for e in events if isinstance(e, StepEvent)] for events in runs)
    assert one[0] == other[0]
    assert one[1:] != other[1:]
    for entry in ("GPT", "BART", "ELECTRA"):
        with pytest.raises(UserError, match="needs a masked language model"):
            check_filling(base_of(entry).learner.model)
    check_filling(base.learner.model)


@pytest.fixture(scope="module")
def made():
    return editor(base_of("RoBERTa"), reviews().tokenizer, find_task("sentiment"), 32, 6, 0)


def test_an_edit_changes_few_words_and_says_which(made):
    one = made.edit("the acting was boring .".split(), "good")
    assert isinstance(one, Edited)
    before, after = one.before.split(), one.after.split()
    assert len(before) == len(after)
    assert len(one.positions) <= 4
    assert one.kept == pytest.approx(
        1 - len(one.positions) / len(made.judge.read("the acting was boring .".split()).tokens.ids[0])
    )
    assert one == made.edit("the acting was boring .".split(), "good")
    assert 0.0 <= one.chance_before <= 1.0


def test_what_the_judge_already_finds_is_left_alone(made):
    words = "the acting was boring .".split()
    said = made.judge.chances(made.judge.read(words))[0]
    own = made.judge.classes[int(said.argmax())]
    assert made.edit(words, own).after == made.edit(words, own).before


def test_an_unknown_label_and_a_task_without_classes_are_refused(made):
    with pytest.raises(UserError, match="no label 'nice'; choose one of: bad, good"):
        made.edit(["the", "film", "."], "nice")
    with pytest.raises(UserError, match="write a sentence"):
        made.edit([], "good")
    for task, said in (("similarity", "need classes of texts"), ("entailment", "about several texts at once")):
        with pytest.raises(UserError, match=said):
            editor(base_of("RoBERTa"), reviews().tokenizer, find_task(task), 8, 2, 0)
    rate = success(replace(made), find_task("sentiment"), 4)
    assert rate.texts == 4
    assert 0.0 <= rate.turned <= 1.0
