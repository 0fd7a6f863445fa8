"""Words that a compressed model lost, against plain loops over the predictions."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import cross_entropy

from playground.compression.lost_words import MOST, HeldOutAnswers, LostWords, held_out_answers, lost_words
from playground.rng import generator
from tests.compressing import compressed, data, of_kind, teacher


def answers(ids, losses, right):
    return HeldOutAnswers(0.0, torch.tensor(ids), torch.tensor(losses), torch.tensor(right))


def test_every_held_out_prediction_is_read_once_with_its_loss():
    known = data()
    found, base = held_out_answers(teacher(), known), known.base
    batch = base.learner.objective.batch(base.measured, generator(0, "held out"))
    [target] = batch.targets
    with torch.no_grad():
        [answer] = teacher().model(batch)
    assert found.ids.tolist() == [batch.tokens.ids[r, p] for r, p in target.loss_mask.nonzero().tolist()]
    for k, word in enumerate(found.ids.tolist()):
        assert found.losses[k] == pytest.approx(float(cross_entropy(answer.scores[k], torch.tensor(word))), rel=1e-5)
        assert found.right[k] == (int(answer.scores[k].argmax()) == word)
    assert found.loss == pytest.approx(float(found.losses.mean()), rel=1e-5)


def test_words_are_ranked_by_a_rise_that_is_larger_than_its_noise():
    known = data()
    special, *words = known.base.measured.specials.ids[0], 100, 101, 102, 103
    assert known.base.measured.specials.is_word(torch.tensor(words)).all()
    ids = [special] * 3 + [100] * 3 + [101] * 4 + [102] * 3 + [103]
    rises = [9.0] * 3 + [1.5, 2.0, 2.5] + [4.0] * 4 + [-1.0, 0.0, 8.0] + [9.0]  # noise, and a word that is seen once
    before = answers(ids, [1.0] * len(ids), [True] * 5 + [False] * 9)
    after = answers(ids, [1.0 + rise for rise in rises], [True] * 3 + [False] * 10 + [True])
    found = lost_words(before, after, teacher(), known)
    assert found == LostWords(14, 2, 1, 3, 2, found.words)
    steady, noisy = found.words
    names = known.base.measured.vocabulary
    assert (steady.word, steady.asked, steady.before, steady.after) == (names[101], 4, 1.0, 5.0)
    assert (noisy.word, noisy.asked, noisy.before, noisy.after) == (names[100], 3, 1.0, 3.0)
    assert steady.standard_error == 0.0
    assert noisy.standard_error == pytest.approx((((0.25 + 0 + 0.25) / 2) / 3) ** 0.5)


def test_words_without_a_vector_are_counted_in_held_out_text():
    known, made = data(), compressed("smaller vocabulary").classifier
    tokens, kept = known.base.measured, set(made.kept_ids.tolist())
    assert held_out_answers(made, known) is None
    found = lost_words(held_out_answers(teacher(), known), None, made, known)
    words = [int(i) for row, there in zip(tokens.ids, tokens.valid, strict=True) for i in row[there]]
    words = [i for i in words if bool(tokens.specials.is_word(torch.tensor([i])))]
    counts = Counter(i for i in words if i not in kept)
    assert [each.asked for each in found.words] == [number for _, number in counts.most_common(MOST)]
    assert {each.word: each.asked for each in found.words}.items() <= {
        tokens.vocabulary[i]: number for i, number in counts.items()
    }.items()
    assert f"{counts.total() / len(words):.1%}" in found.note
    assert found.predictions == 0


@pytest.mark.parametrize(("entry", "why"), [("ELECTRA", "no head"), ("RoBERTa", "another structure")])
def test_a_model_that_cannot_be_asked_for_words_says_so(entry, why):
    known, whole = of_kind(entry)
    other = SimpleNamespace(kept_ids=None, model=SimpleNamespace(shape=replace(whole.model.shape, kind="lstm")))
    assert held_out_answers(other, known) is None
    found = lost_words(held_out_answers(whole, known), None, whole, known)
    assert found == LostWords(note=found.note)
    assert why in found.note
