"""ERNIE 2.0's tasks: arrange/segments.py, corpora/derived_labels.py, and the task that every position reads."""

from collections import Counter

import pytest
import torch

from playground.corpora.corpus import pick
from playground.corpora.derived_labels import with_derived
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.arrange.segments import ORDERS
from playground.objectives.catalog.ernie2 import TASKS
from playground.objectives.steps import describe_plan
from playground.rng import generator
from playground.trace.inputs import read
from playground.zoo import entry_named
from tests.laws import assert_law
from tests.texts import SPECIALS, small_corpus, tokens_for, tokens_of


def paragraph():
    """Three sentences of one, two and three words."""
    return tokens_of([[40, 41, 42, 43, 44, 45]], sentence=[[0, 1, 1, 2, 2, 2]])


@pytest.mark.parametrize(
    ("segments", "shown", "order"),
    [
        (["1-3"], [[40, 41, 42, 43, 44, 45]], "1"),
        (["2-3", "1"], [[41, 42, 43, 44, 45], [40]], "2 1"),
        (["1-2", "3"], [[40, 41, 42], [43, 44, 45]], "1 2"),
        (["3", "1", "2"], [[43, 44, 45], [40], [41, 42]], "3 1 2"),
    ],
)
def test_the_order_of_shuffled_segments_is_asked_for(segments, shown, order):
    objective = find_objective("sentence reordering")
    steps = objective.steps(paragraph(), generator(0), {"segments": segments})
    batch = steps[-1].batch
    seen = [SPECIALS.cls, *(token for segment in shown for token in (*segment, SPECIALS.sep))]
    assert batch.inputs.ids[0][batch.inputs.valid[0]].tolist() == seen
    target = batch.targets[0]
    assert target.loss_mask.nonzero().tolist() == [[0, 0]]
    assert target.kind.classes[int(target.labels[0, 0])] == order
    assert describe_plan(steps) == {"segments": segments}


def test_every_number_of_segments_and_every_order_of_them_is_equally_likely():
    """1 to 3 segments alike, and of 3 segments each of the 6 orders (arXiv:1907.12412, sec. 4.2.2)."""
    rows = 6000
    tokens = pick(paragraph(), torch.zeros(rows, dtype=torch.long))
    plan = find_objective("sentence reordering").steps(tokens, generator(1))[1].plan
    drawn = Counter(len(ORDERS[k]) for k in plan.order.tolist())
    assert_law(drawn, {1: 1 / 3, 2: 1 / 3, 3: 1 / 3})
    of_three = Counter(k for k in plan.order.tolist() if len(ORDERS[k]) == 3)
    assert_law(of_three, dict.fromkeys(range(3, 9), 1 / 6))
    two = [row for row, k in zip(plan.segment.tolist(), plan.order.tolist(), strict=True) if len(ORDERS[k]) == 2]
    assert_law(Counter(map(tuple, two)), {(0, 1, 1, 1, 1, 1): 1 / 2, (0, 0, 0, 1, 1, 1): 1 / 2})


@pytest.mark.parametrize("segments", [["1"], ["1-2", "2-3"], ["1", "3"], ["x"], ["4", "1-3"]])
def test_segments_that_do_not_hold_each_sentence_once_are_refused(segments):
    with pytest.raises(UserError, match="hold each of the 3 sentences once"):
        find_objective("sentence reordering").steps(paragraph(), generator(0), {"segments": segments})


def test_words_that_come_again_and_capital_letters_follow_from_the_corpus():
    source = with_derived(small_corpus("world", 20_000), ("capitalized", "recurring"))
    words = source.tokenizer.decode(source.ids.tolist())
    positions = {}
    for word, document, sentence in zip(words, source.document_ids.tolist(), source.sentence_ids.tolist(), strict=True):
        positions.setdefault((document, word), set()).add(sentence)
    before = [None, *zip(source.document_ids.tolist(), source.sentence_ids.tolist(), strict=True)]
    for k, word in enumerate(words):
        document, sentence = int(source.document_ids[k]), int(source.sentence_ids[k])
        special = word == "[SEP]"
        again = -1 if special else int(len(positions[document, word]) > 1)
        capital = before[k] != (document, sentence) or word == "i" or int(source.labels["mention"][k]) >= 0
        assert int(source.labels["recurring"][k]) == again
        assert int(source.labels["capitalized"][k]) == (-1 if special else int(capital))
    assert source.label_names["recurring"] == ("no", "yes")


@pytest.mark.parametrize("name", ["capitalization prediction", "token-document relation"])
def test_a_document_that_is_typed_as_it_would_be_spelt_has_the_labels_of_the_corpus(name):
    source = with_derived(small_corpus("world", 20_000), ("capitalized", "recurring"))
    here = (source.document_ids == 1) & (source.ids != source.tokenizer.specials.sep)
    words, capital = source.tokenizer.decode(source.ids[here].tolist()), source.labels["capitalized"][here].tolist()
    spelt = " ".join(word.capitalize() if big else word for word, big in zip(words, capital, strict=True))
    objective = find_objective(name)
    [label] = [need.removeprefix("label:") for need in objective.needs]
    typed = read(objective, spelt, "", "", source.tokenizer).tokens
    assert typed.ids[0].tolist() == source.ids[here].tolist()
    assert typed.labels[label][0].tolist() == source.labels[label][here].tolist()
    assert 0 < int(typed.labels[label].sum()) < len(words)


def test_each_stage_of_ernie_2_adds_a_task_and_every_position_reads_which_one_it_is():
    entry = entry_named("ERNIE 2.0")
    objectives = [entry.objective_in(phase) for phase in entry.phases]
    names = [[part.name for part in objective.parts] for objective in objectives]
    assert names == [[task.name for task in TASKS[:number]] for number in range(1, 6)]
    tokens = tokens_for(entry.objective)
    for number in range(1, 6):
        inputs = entry.objective.steps(tokens, generator(0), {"part": number})[-1].batch.inputs
        task = inputs.label_ids["task"]
        assert task.ids.tolist() == (inputs.valid * number).tolist()
        assert task.classes[number - 1] == TASKS[number - 1].name
        assert inputs.ids[0, 0] == SPECIALS.cls
