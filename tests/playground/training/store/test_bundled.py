"""Bundled models: reproducible, small, of today's code and corpus, and better than the frequencies of words."""

import math

import pytest
import torch

from playground.analysis.predictions import read
from playground.corpora import open_corpus
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.bind import with_generator
from playground.tokenizing.tokenizer import unknown_words
from playground.tokenizing.words import split_words
from playground.trace.rebuild import SENTENCE, rebuild
from playground.training import checkpoint
from playground.training.store import bundled, ready_made
from playground.training.store.bundled import OBJECTIVES, bundle, load, recipes
from playground.training.store.ready_made import build, weights_hash
from widgets.pages.stage import SAMPLES
from widgets.state.stage.samples import PAIRS, STORY

MOST = 1_750_000
"""Bytes of all bundled models together."""

REMAKE = "; `playground zoo build --bundled` makes the files anew"

each = pytest.mark.parametrize("name", OBJECTIVES)


def test_every_declared_model_is_there_and_together_they_are_small():
    files = bundled.bundled()
    assert sorted(files) == sorted(OBJECTIVES), REMAKE
    assert sum(path.stat().st_size for path in files.values()) < MOST


@each
def test_it_fits_the_code_and_is_what_its_header_says(name):
    try:
        made = load(name)
    except UserError as refusal:
        pytest.fail(f"{refusal}{REMAKE}")
    learner, [recipe] = made.saved.learner, [one for one in recipes() if one.entry.name == name]
    assert weights_hash(learner) == made.weights
    assert (learner.entry.recipe, learner.step, learner.seed) == (recipe.entry.recipe, recipe.steps, recipe.seed), (
        REMAKE
    )
    assert all(not optimiser.state for optimiser in learner.optimisers)
    layers = f"{learner.entry.model.layers} layers"
    assert made.card.startswith(f"{name}, {layers}, {recipe.steps:,} steps on the corpus everyday, seed 0: ")
    assert made.saved.corpus.hash == open_corpus(recipe.corpus).hash, f"the corpus has changed{REMAKE}"


@each
def test_its_guesses_for_our_sentence_beat_the_frequencies_of_words(name):
    made = load(name)
    model, objective = made.saved.learner.model, find_objective(name)
    ready = with_generator(objective, model.propose)
    overrides = objective.printed.plan
    guesses = read(model, rebuild(ready, SENTENCE, tokenizer=made.saved.tokenizer, overrides=overrides).batch).guesses
    chance = math.log(2) if name == "RTD" else made.saved.corpus.unigram_entropy
    assert sum(guess.loss for guess in guesses) / len(guesses) < (0.9 if name == "RTD" else 0.5) * chance
    share = 0.55 if name == "masked diffusion" else 0.5  # of half the words in the mean, and a bound
    for target, nats in made.held_out.items():
        assert nats < share * (math.log(2) if target == "replaced?" else made.saved.corpus.unigram_entropy)


def test_the_words_of_our_texts_are_known():
    texts = " ".join([SENTENCE, STORY, *PAIRS["pair"], *SAMPLES.values()])
    plans = [word for name in OBJECTIVES for word in find_objective(name).printed.plan.get("replace", ())]
    assert unknown_words(load("MLM").saved.tokenizer, [*split_words(texts), *plans]) == []


@pytest.fixture
def built(tmp_path, monkeypatch):
    monkeypatch.setattr(ready_made, "open_corpus", lambda name, tokens=None: open_corpus(name, tokens=6_000))
    recipe = recipes(2)[0]
    for home in ("one", "two"):
        list(build(recipe, tmp_path / home))
        bundle(recipe, tmp_path / home, tmp_path / home)
    return recipe, tmp_path


def test_the_same_seed_gives_the_same_bytes(built):
    recipe, home = built
    first, second = (home / name / f"{recipe.entry.name}.safetensors" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    saved = load(recipe.entry.name, first.parent).saved
    assert saved.learner.step == 2
    whole = checkpoint.load(recipe.folder(home / "one"))
    for name, weight in saved.learner.model.state_dict().items():
        assert torch.equal(weight, whole.learner.model.state_dict()[name].half().float())


def test_what_is_not_bundled_or_does_not_fit_is_refused_in_a_sentence(built):
    home = built[1] / "one"
    with pytest.raises(UserError, match=r"No model of 'NSP' is bundled; there are MLM\."):
        load("NSP", home)
    about, tensors = checkpoint.read(home / "MLM.safetensors")
    narrow = about | {"architecture": about["architecture"] | {"width": 32}}
    checkpoint.write_whole(home / "MLM.safetensors", tensors, narrow)
    with pytest.raises(UserError, match=r"was written by version .* and does not fit version"):
        load("MLM", home)
    checkpoint.write_whole(home / "MLM.safetensors", tensors, {**about, "facts": {}})
    with pytest.raises(UserError, match="`playground zoo build --bundled` writes it again"):
        load("MLM", home)
