"""How often words stand near each other: arrange/cells.py and the table of a corpus, objectives/ops/cooccurrence.py."""

import math
from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.arrange import ArrangeCooccurrences, Cells
from playground.objectives.bind import with_cooccurrences
from playground.objectives.ops import cooccurrence
from playground.rng import generator
from playground.training.loop import Run, prepared
from playground.zoo import entry_for
from tests.laws import assert_law
from tests.oracles import contrast as oracles_contrast
from tests.runs import reviews
from tests.stories import texts
from tests.texts import FIRST, SPECIALS, batches, plain_rows, tokens_of


def test_a_large_vocabulary_is_sorted_and_says_the_same():
    """Few pairs of many words take another way than many pairs of few words."""
    tokens = tokens_of([[FIRST + k % 7 for k in range(60)]] * 40)
    wide = replace(tokens, specials=replace(SPECIALS, size=5000))
    one, other = (find_objective("GloVe").batch(t, generator(0)) for t in (tokens, wide))
    assert SPECIALS.size**2 <= 4 * 40 * 60 * 20 < 5000**2
    assert torch.equal(one.inputs.ids, other.inputs.ids)
    assert torch.equal(one.targets[0].kind.counts, other.targets[0].kind.counts)


@settings(max_examples=30)
@given(tokens=batches(), window=st.integers(1, 6))
def test_the_table_of_a_corpus_is_that_of_its_texts(tokens, window):
    """One long row of texts ended by [SEP] is counted as the texts are one by one."""
    rows = texts(tokens)
    long = torch.tensor([token for text in rows for token in (*text, SPECIALS.sep)])
    table = cooccurrence.dense(cooccurrence.cooccurrence(long, SPECIALS, window), SPECIALS.size)
    slow = torch.zeros_like(table)
    for cells in oracles_contrast.cells_of(rows, window):
        for word, other, _, _, seen in cells:
            slow[word, other] = seen
    torch.testing.assert_close(table, slow)
    assert torch.equal(table, table.T)


def test_a_word_next_to_itself_counts_twice_and_special_tokens_end_the_window():
    a, b = FIRST, FIRST + 1
    ids = torch.tensor([a, a, SPECIALS.sep, b])
    table = cooccurrence.dense(cooccurrence.cooccurrence(ids, SPECIALS, 5), SPECIALS.size)
    assert float(table[a, a]) == 2.0
    assert float(table.sum()) == 2.0
    ids = torch.tensor([a, SPECIALS.unknown, b])
    unknown = cooccurrence.dense(cooccurrence.cooccurrence(ids, SPECIALS, 1), SPECIALS.size)
    assert float(unknown[a, b]) == 1.0, "the window closes over a word that is not known"


def test_the_mass_of_the_table_is_twice_one_over_the_distances():
    table = cooccurrence.cooccurrence(torch.arange(FIRST, FIRST + 20), SPECIALS, 4)
    assert float(table.seen.sum()) == pytest.approx(2 * sum((20 - d) / d for d in range(1, 5)))


def test_ppmi_is_nothing_where_words_meet_by_chance_and_its_factors_make_it_again():
    assert not cooccurrence.ppmi(torch.outer(torch.arange(1.0, 5.0), torch.arange(1.0, 5.0))).gt(1e-6).any()
    table = cooccurrence.ppmi(torch.tensor([[0.0, 4.0], [4.0, 0.0]]))
    torch.testing.assert_close(table, torch.tensor([[0.0, math.log(2)], [math.log(2), 0.0]]))
    dense = torch.tensor([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    whole = cooccurrence.factors(dense, 3)
    torch.testing.assert_close(whole @ whole.T, dense)


def test_counting_alone_brings_like_words_together():
    corpus = reviews(60_000)
    words = corpus.tokenizer.words
    table = cooccurrence.cooccurrence(corpus.ids, corpus.tokenizer.specials, 5)
    vectors = cooccurrence.factors(cooccurrence.ppmi(cooccurrence.dense(table, len(words))), 16)
    vectors = torch.nn.functional.normalize(vectors, dim=-1)
    near = [words[i] for i in (vectors @ vectors[words.index("film")]).topk(5).indices.tolist()[1:]]
    assert {"movie", "comedy", "drama"} & set(near), near


def test_the_cells_of_a_corpus_are_drawn_alike_and_replace_the_text():
    table = Cells(
        torch.tensor([FIRST, FIRST + 1, FIRST + 2]), torch.tensor([FIRST + 3] * 3), torch.tensor([1.0, 5.0, 200.0])
    )
    objective = with_cooccurrences(find_objective("GloVe"), table)
    batch = objective.batch(plain_rows(2000, 6), generator(7))
    target = batch.targets[0]
    assert_law(Counter(batch.inputs.ids.flatten().tolist()), {FIRST + k: 1 / 3 for k in range(3)})
    assert target.labels.unique().tolist() == [FIRST + 3]
    assert torch.equal(target.kind.counts, table.seen[batch.inputs.ids - FIRST])
    assert objective.stages[0].table is table
    ragged = objective.batch(tokens_of([[FIRST], [], [FIRST] * 3]), generator(8))
    assert ragged.targets[0].loss_mask.sum(1).tolist() == [1, 0, 3]
    assert not leaks.check(ragged).leak
    with pytest.raises(UserError, match="The table of co-occurrences is empty"):
        ArrangeCooccurrences(table=Cells(*torch.zeros(3, 0)))


@pytest.mark.parametrize("window", [1, 10])
def test_a_run_counts_the_words_within_its_own_window(window):
    corpus, entry = reviews(), entry_for(find_objective("GloVe"))
    entry = replace(entry, objective=entry.objective.turn({"window_size": window}))
    course = prepared(Run(entry, corpus, steps=1))
    ours = cooccurrence.cooccurrence(corpus.ids[: corpus.held_out_from], corpus.tokenizer.specials, window)
    for objective in (course.run.entry.objective, course.learner.objective):
        table = objective.stages[0].table
        assert all(torch.equal(getattr(table, name), getattr(ours, name)) for name in ("word", "other", "seen"))
    other = cooccurrence.cooccurrence(corpus.ids[: corpus.held_out_from], corpus.tokenizer.specials, 11 - window)
    assert len(other.seen) != len(ours.seen)
