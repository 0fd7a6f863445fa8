"""Glances: what is shown of a model while it learns comes from the model itself and changes nothing in it."""

from functools import cache
from itertools import count

import pytest
import torch

from playground.analysis.predictions import TOP, glance, read, sentence_of
from playground.answers import Replaced, total_loss
from playground.batch import MASK_TITLES
from playground.corpora import from_pasted
from playground.errors import UserError
from playground.rng import generator
from playground.tokenizing import read_input
from playground.trace.model_frames import numbers
from playground.trace.rebuild import rebuild
from playground.training import Stepped, train
from playground.training.data import BatchSampler
from tests.runs import each_kind, learner_of, losses, reviews, run_of

SENTENCE = "the movie was good and the story was not bad ."
SCRIPT = "<script>alert(1)</script>"


def sentence(text=SENTENCE):
    return read_input(text, reviews().tokenizer).tokens


def taught(name):
    """A learner after a few steps, so that its guesses are not all alike."""
    learner = learner_of(name)
    feed = BatchSampler.of(reviews(), 16, 8, 0, torch.device("cpu"))
    for step in range(3):
        learner.learn(learner.batch(feed.at(step)))
    return learner


@cache
def looked(name, text=SENTENCE, seed=0):
    """A learner, a glance at it, and the example that the glance was taken with."""
    learner = taught(name)
    seen = glance(learner.model, learner.objective, learner.step, sentence(text), seed)
    return learner, seen, learner.objective.batch(sentence(text), generator(seed, "glance"))


@each_kind
def test_the_weights_are_the_models_own_with_a_word_for_each_reader_and_for_what_is_read(name):
    learner, seen, batch = looked(name)
    own = learner.model.attention(batch)
    assert seen.weights.keys() == own.keys()
    for matrix, weights in seen.weights.items():
        assert weights.dtype == torch.uint8
        assert torch.equal(weights, (own[matrix][:, 0] * 255).round().to(torch.uint8))
        _, heads, rows, columns = weights.shape
        assert heads == 2
        assert (len(seen.rows[matrix]), len(seen.columns[matrix])) == (rows, columns)
        assert MASK_TITLES[matrix]


@pytest.mark.parametrize("name", ["RoBERTa", "GPT"])
def test_the_stage_says_in_one_line_how_many_answers_are_right_and_the_mean_loss(name):
    learner = taught(name)
    made = rebuild(learner.objective, SENTENCE, tokenizer=reviews().tokenizer)
    seen = read(learner.model, made.batch)
    answer = learner.model(made.batch)[-1]
    right = int((answer.scores.argmax(1) == answer.labels).sum())
    assert right == sum(guess.right for guess in seen.guesses)
    said = numbers(made.record(), seen, name)["captions"]["predict"]
    loss, number = float(answer.losses().mean().detach()), len(answer.scores)
    assert said == (
        f"The most probable answer is the true one at {right} of {number} scored position{'s' * (number != 1)}; "
        f"the mean loss is {loss:.2f} nats."
    )


@each_kind
def test_nobody_looks_where_visibility_forbids(name):
    _, seen, batch = looked(name)
    allowed = dict.fromkeys(("encoder", "content"), batch.inputs.attn_mask) | {"query": batch.inputs.query_attn_mask}
    if batch.decoder is not None:
        allowed |= {"decoder": batch.decoder.attn_mask, "cross": batch.decoder.cross_attn_mask}
    for matrix, weights in seen.weights.items():
        hidden = ~allowed[matrix].dense()[0]
        assert not weights[:, :, hidden.expand(weights.shape[-2:])].any()


@each_kind
def test_the_guesses_are_the_scores_as_probabilities(name):
    learner, seen, batch = looked(name)
    answer = learner.model(batch, {})[-1]
    assert [g.position for g in seen.guesses] == answer.positions.tolist()
    for guess, scores, target in zip(seen.guesses, answer.scores.detach(), answer.labels.tolist(), strict=True):
        if isinstance(answer.target.kind, Replaced):
            yes = float(scores[0].sigmoid())
            expected = {"replaced": yes, "original": 1 - yes}
            assert dict(guess.top) == pytest.approx(expected)
            assert guess.truth == ("replaced" if target else "original")
            assert guess.probability == pytest.approx(expected[guess.truth])
            continue
        shares = scores.softmax(-1)
        best = shares.sort(descending=True).values[:TOP]
        words = batch.tokens.vocabulary
        assert [p for _, p in guess.top] == pytest.approx(best.tolist())
        assert all(float(shares[words.index(word)]) == pytest.approx(p) for word, p in guess.top)
        assert guess.truth == words[target]
        assert guess.probability == pytest.approx(float(shares[target]))


@each_kind
def test_the_guesses_cost_what_the_loss_says(name):
    """The mean surprise at the true answers is the loss of the question that the model itself answers."""
    learner, seen, batch = looked(name)
    _, terms = total_loss(learner.model(batch))
    surprise = -torch.tensor([g.probability for g in seen.guesses]).log().mean()
    assert float(surprise) == pytest.approx(float(list(terms.values())[-1].detach()), rel=1e-4)


@each_kind
def test_the_same_model_always_gives_the_same_glance(name):
    learner, seen, _ = looked(name)
    again = glance(learner.model, learner.objective, learner.step, sentence())
    assert again.guesses == seen.guesses
    assert again.sees == seen.sees
    assert all(torch.equal(again.weights[k], seen.weights[k]) for k in seen.weights)
    assert again.step == learner.step == 3


@each_kind
def test_looking_changes_neither_the_model_nor_the_training(name):
    events, learner, looks = [], None, count()
    for event in train(run_of(name)):
        events.append(event)
        learner = getattr(event, "learner", None) or learner
        if isinstance(event, Stepped):
            glance(learner.model, learner.objective, event.step, sentence())
            next(looks)
    assert next(looks) == 12
    assert losses(events) == losses(train(run_of(name)))
    assert learner.model.training


@each_kind
@pytest.mark.parametrize("text", ["Good", "film", "unheard of words only", "the film . " * 40, SCRIPT])
def test_any_sentence_can_be_watched(name, text):
    learner, seen, _ = looked(name, text)
    assert seen.sees
    assert all(0.0 <= g.probability <= 1.0 for g in seen.guesses)
    assert learner.model.training


def test_a_sentence_without_words_is_refused():
    with pytest.raises(UserError, match="has no words"):
        sentence("   ")


def test_the_sentence_to_watch_comes_from_the_held_out_part_and_is_one_sentence():
    corpus = reviews()
    row = sentence_of(corpus)
    ids = row.ids[0].tolist()
    held_out = corpus.ids[corpus.held_out_from :].tolist()
    positions = [k for k in range(len(held_out)) if held_out[k : k + len(ids)] == ids]
    assert positions
    sentences = corpus.sentence_ids[corpus.held_out_from :][positions[0] : positions[0] + len(ids)]
    assert len(sentences.unique()) == 1
    assert 3 <= len(ids) <= 12
    assert row.maskable.all()


@pytest.mark.parametrize("longest", [1, 3, 8, 64])
def test_the_sentence_to_watch_is_no_longer_than_asked(longest):
    assert 1 <= sentence_of(reviews(), longest).ids.shape[1] <= longest


def test_a_text_that_is_just_long_enough_to_train_on_has_something_to_watch():
    corpus = from_pasted("the cat sat on a mat and looked . " * 8)
    assert 3 <= sentence_of(corpus).ids.shape[1] <= len(corpus) - corpus.held_out_from < 16


def test_a_sentence_can_be_watched_in_pieces_of_words():
    corpus = from_pasted("unbelievable believers believe believable things . " * 60, kind="bpe", size=70)
    assert sentence_of(corpus).ids.shape[0] == 1
    assert read_input("believe", corpus.tokenizer).tokens.ids.numel() >= 1
