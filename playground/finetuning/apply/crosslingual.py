"""A model of one language gets words of another, while all else stays as it is (arXiv:1910.11856, sec. 3).

The four steps are: a model of the first language; word vectors of the second (here); a task learnt in the first
language with its word vectors frozen; the same task asked in the second. Words of both languages stand in one
vocabulary, so to swap the vectors is to read a text of the other language.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import torch

from playground.corpora import Corpus, open_corpus
from playground.errors import UserError
from playground.models import total_loss
from playground.optimisers import AdamW
from playground.rng import generator
from playground.tokenizing import Tokenizer
from playground.tokenizing.tokenizer_json import with_words
from playground.training.data import BatchSampler
from playground.training.lr_schedule import lr_multiplier
from playground.training.parallel.workers import computed_as_worker
from playground.training.train_state import TrainState
from playground.zoo.recipe import BETAS

TOKENS, TEXT_SEED = 300_000, 2
"""Tokens of both languages of which the second are read, with another seed than the corpus of a base."""

RATE = 1e-2
"""The learning rate of the new word vectors."""


@dataclass(frozen=True)
class NewWords:
    """A learner with more words than before, and the first new row of each parameter that has new rows."""

    learner: TrainState
    tokenizer: Tokenizer
    new: dict[str, int]


def alone(corpus: Corpus, language: int) -> Corpus:
    """The sentences of one language of a corpus, with the vocabulary of both."""
    kept = corpus.labels["language"] == language  # a [SEP] counts as what stands before it
    return replace(
        corpus,
        name=f"{corpus.name}, language {language}",
        ids=corpus.ids[kept],
        word_ids=torch.arange(int(kept.sum()), dtype=torch.int32),
        sentence_ids=corpus.sentence_ids[kept].unique_consecutive(return_inverse=True)[1].int(),
        document_ids=corpus.document_ids[kept],
        held_out_from=int(kept[: corpus.held_out_from].sum()),
        labels={},
        entropy_bound=None,
    )


def second_language() -> Corpus:
    """Sentences of the second language alone."""
    description = "Sentences of the second language of the corpus 'parallel' alone."
    both = open_corpus("parallel", seed=TEXT_SEED, tokens=TOKENS)
    return replace(alone(both, 1), name="second language", description=description)


def with_words_of(learner: TrainState, tokenizer: Tokenizer, corpus: Corpus) -> NewWords:
    """A copy of a learner that has a fresh row for every word of a corpus which its vocabulary lacks."""
    _check(learner, tokenizer)
    known = set(tokenizer.words)
    words = [corpus.tokenizer.words[number] for number in corpus.ids.unique().tolist()]
    words = [word for word in words if word not in known]
    if not words:
        raise UserError(f"This model's vocabulary knows all words of {corpus.name} already, so there is none to learn.")
    longer = with_words(tokenizer, words)
    made = TrainState.new(learner.entry, longer.words, learner.seed, learner.device)
    old, new = learner.model.state_dict(), dict[str, int]()
    with torch.no_grad():
        for name, value in made.model.state_dict().items():
            value[: len(old[name])] = old[name]
            if len(value) > len(old[name]):
                new[name] = len(old[name])
    made.step, made.tokens, made.seconds = learner.step, learner.tokens, learner.seconds
    return NewWords(made, longer, new)


def _check(learner: TrainState, tokenizer: Tokenizer) -> None:
    """Refuse a model to which no words can be added, or an objective that needs more than a text of one language."""
    name, needs = learner.entry.name, learner.objective.needs
    if learner.model.shape.kind == "static":
        raise UserError(f"{name} has no layers, so nothing would transfer. Choose a base with layers, such as RoBERTa.")
    if tokenizer.kind != "word":
        raise UserError(
            f"This model reads {tokenizer.kind} pieces; new words can be given only to a vocabulary of words."
        )
    lacking = [need for need in needs if need.startswith(("pair", "translation", "label:"))]
    if lacking:
        raise UserError(
            f"{learner.objective.name} needs more than a text of one language ({lacking[0]}), so the words of the "
            "second cannot be learned with it. Choose a base such as RoBERTa or GPT."
        )


@computed_as_worker
def learn_words(made: NewWords, corpus: Corpus, steps: int) -> Generator[float]:
    """Train the new rows on a corpus with the learner's own objective; everything else keeps every bit."""
    learner, recipe = made.learner, made.learner.entry.recipe
    model, learning = learner.model, {n: p for n, p in learner.model.named_parameters() if n in made.new}
    number = {word: k for k, word in enumerate(made.tokenizer.words)}
    unknown = made.tokenizer.specials.id_of("unknown")
    ids = torch.tensor([number.get(word, unknown) for word in corpus.tokenizer.words], dtype=corpus.ids.dtype)
    read = replace(corpus, ids=ids[corpus.ids.long()], tokenizer=made.tokenizer)
    feed = BatchSampler.of(read, recipe.seq_len, recipe.batch_size, learner.seed, learner.device)
    model.requires_grad_(False)
    for parameter in learning.values():
        parameter.requires_grad_(True)
    optimiser = AdamW(learning.values(), lr=RATE, betas=BETAS, weight_decay=0.0)
    for step in range(steps):
        rng = generator(learner.seed, "new words", step, device=learner.device)
        loss, _ = total_loss(model(learner.objective.batch(feed.at(step), rng)), consume=True)
        loss.backward()
        for name, parameter in learning.items():
            assert parameter.grad is not None
            parameter.grad[: made.new[name]] = 0.0  # with no momentum and no decay a row without gradient stays
        optimiser.param_groups[0]["lr"] = RATE * lr_multiplier(recipe, round(step * recipe.steps / steps), True)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        yield float(loss.detach())
    model.requires_grad_(True)
