"""Gap sentences, and those that stay as they are: choose/sentences.py, choose/kept_sentences.py."""

from collections import Counter
from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.batch import Action, begin
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.choose import ChooseGapSentences
from playground.objectives.choose.sentences import words_by_sentence
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.laws import assert_law, assert_share, uniform
from tests.oracles import noise as oracles_noise
from tests.stories import texts
from tests.texts import batches, seeds, tokens_of


@settings(max_examples=60)
@given(tokens=batches(), seed=seeds, ratio=st.sampled_from((0.1, 0.3, 0.45, 0.9)))
def test_gap_sentences_have_the_highest_rouge(tokens, seed, ratio):
    batch = begin(tokens)
    plan = ChooseGapSentences(gap_sentence_ratio=ratio).plan(batch, generator(seed))
    for row, text in enumerate(texts(tokens)):
        overrides = oracles_noise.gap_sentences(text, tokens.sentence_ids[row, : len(text)].tolist(), ratio)
        assert plan[row].nonzero().flatten().tolist() == overrides


def test_rouge_counts_repeats_and_ties_go_to_the_later_sentence():
    """The second sentence shares "a b", the third only "a", however often it says it."""
    tokens = tokens_of([[40, 41, 50, 40, 41, 51, 40, 40, 40]], sentence=[[0, 0, 0, 1, 1, 1, 2, 2, 2]])
    plan = ChooseGapSentences().plan(begin(tokens), generator(0))
    assert oracles_noise.rouge(*(r[0].tolist() for r in (tokens.ids, tokens.sentence_ids))) == {
        0: pytest.approx(2 * 2 / 9),
        1: pytest.approx(2 * 2 / 9),
        2: pytest.approx(2 * 2 / 9),
    }
    assert plan.tolist() == [[False, False, True]]


def test_gap_sentences_in_words():
    text = "a b c . d e . a b d e ."
    facts = rebuild("PEGASUS", text).facts()
    assert facts["inputs"] == "a b c . d e . [MASK]".split()
    assert facts["targets"] == "a b d e . [END]".split()
    facts = rebuild("PEGASUS", text, overrides={"sentences": "1,2"}).facts()
    assert facts["inputs"] == "[MASK] [MASK] a b d e .".split()
    assert facts["targets"] == "a b c . d e . [END]".split()
    with pytest.raises(UserError, match="Sentence 4 is not in the text; it has 3"):
        rebuild("PEGASUS", text, overrides={"sentences": "4"})
    with pytest.raises(UserError, match="needs at least two sentences"):
        rebuild("PEGASUS")


@pytest.mark.parametrize(("ratio", "count"), [(0.3, 6), (0.05, 1), (0.45, 9), (0.9, 18)])
def test_the_number_of_gap_sentences_is_rounded_down(ratio, count):
    for strategy in ("rouge", "lead", "random"):
        stage = ChooseGapSentences(gap_sentence_ratio=ratio, sentence_selection=strategy)
        taken = stage.plan(begin(sentences_of(20, 30)), generator(1))
        assert taken.sum(1).unique().tolist() == [count]
        assert strategy != "lead" or bool(taken[:, :count].all())


def sentences_of(number, rows):
    text = [40 + k % 20 for k in range(2 * number)]
    return tokens_of([text] * rows, sentence=[[k // 2 for k in range(2 * number)]] * rows, padded=False)


def test_the_stochastic_ratio_is_uniform_from_15_to_45_percent():
    """Of 20 sentences 3 to 8 are taken, each number equally often."""
    stage = ChooseGapSentences(stochastic=True)
    taken = stage.plan(begin(sentences_of(20, 6000)), generator(22)).sum(1)
    assert_law(Counter(taken.tolist()), uniform(range(3, 9)))


def test_random_gap_sentences_have_no_favourite():
    stage = ChooseGapSentences(sentence_selection="random", gap_sentence_ratio=0.5)
    taken = stage.plan(begin(sentences_of(4, 6000)), generator(23))
    assert_law(Counter(map(tuple, taken.nonzero()[:, 1].view(-1, 2).tolist())), uniform(combinations(range(4), 2)))


def test_where_the_choice_is_left_to_chance_scores_are_shaken_by_a_fifth():
    """Every score is multiplied by any number from .8 to 1.2; without chance all texts have the same scores."""
    words = [[40] * 4, [41] * 5, [42] * 9]
    text = [w for one in words for w in one] * 2
    sentence = [k for k, one in enumerate(words) for _ in one]
    tokens = tokens_of([text] * 6000, sentence=[sentence + [k + 3 for k in sentence]] * 6000, padded=False)
    size = words_by_sentence(begin(tokens))
    stage = ChooseGapSentences(stochastic=True)
    score = stage.priority(begin(tokens), size, generator(35))
    plain = oracles_noise.shared(text, sentence + [k + 3 for k in sentence])
    share = score / torch.tensor([plain[k] for k in range(6)])
    assert float(share.min()) >= 0.8
    assert float(share.max()) <= 1.2 + 1e-6
    edges = ((share - 0.8) / 0.04).long().clamp(max=9)
    assert_law(Counter(edges.flatten().tolist()), uniform(range(10)))
    calm = ChooseGapSentences().priority(begin(tokens), size, generator(35))
    assert calm.unique(dim=0).shape[0] == 1


def test_of_sentences_that_share_nothing_the_later_one_is_taken_also_where_scores_are_shaken():
    tokens = tokens_of([[40 + k for k in range(6)]] * 9, sentence=[[k // 2 for k in range(6)]] * 9, padded=False)
    taken = ChooseGapSentences(stochastic=True).plan(begin(tokens), generator(36))
    assert taken.tolist() == [[False, False, True]] * 9


# sentences that stay as they are


def many_sentences(rows=400):
    words = [[40 + k for k in range(30)]] * rows
    return tokens_of(words, sentence=[[k // 3 for k in range(30)]] * rows, padded=False)


def test_a_fifth_of_the_chosen_sentences_is_left_and_must_still_be_written():
    objective = find_objective("PEGASUS large")
    steps = objective.steps(many_sentences(), generator(1))
    chosen = steps[0].batch.spans.is_span.sum()
    assert int(chosen) == 400 * 4
    assert_share(int(steps[1].plan.sum()), int(chosen), 0.2)
    batch = steps[-1].batch
    left = batch.actions == Action.SCORED_AS_IS
    shown = torch.zeros_like(left).scatter(1, batch.inputs.origin.clamp(min=0), batch.inputs.valid)
    assert bool((shown | ~left).all())
    assert int(batch.targets[0].loss_mask.sum()) == 400 * (4 * 3 + 1)


def test_what_is_left_is_no_leak_but_by_design():
    text = "I am here . You are there . We walk home ."
    rebuilt = rebuild("PEGASUS large", text, overrides={"sentences": "1,3", "intact": "3"})
    facts = rebuilt.facts()
    assert facts["inputs"] == "[MASK] You are there . We walk home .".split()
    assert facts["survey"]["targets"] == "I am here . We walk home ."
    assert facts["targets"] == [*facts["survey"]["targets"].split(), "[END]"]
    assert facts["plan"] == {"sentences": [1, 3], "intact": [3]}
    assert (rebuilt.verdict.leak, len(rebuilt.verdict.by_design)) == (False, 4)
    with pytest.raises(UserError, match="Sentence 2 is not among the chosen ones; those are: 1, 3"):
        rebuild("PEGASUS large", text, overrides={"sentences": "1,3", "intact": "2"})


def test_nothing_left_is_the_smaller_model():
    tokens = many_sentences(4)
    large = find_objective("PEGASUS large").turn({"unmasked_ratio": 0.0, "gap_sentence_ratio": 0.3})
    one, other = (o.batch(tokens, generator(2)) for o in (large, find_objective("gap sentences")))
    assert torch.equal(one.inputs.ids, other.inputs.ids)
    assert torch.equal(one.targets[0].labels, other.targets[0].labels)
