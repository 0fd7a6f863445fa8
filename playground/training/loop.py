"""The loop: a generator of events. Pause is to stop pulling; a run follows from its seed alone."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from playground.analysis.counts import cooccurrence
from playground.corpora import Corpus
from playground.example import Tokens
from playground.objectives import Objective
from playground.refusal import Refusal
from playground.seeds import generator
from playground.training import checkpoint
from playground.training.blocks import Blocks, steps_together
from playground.training.events import Checkpointed, Evaluated, Event, Started, Stepped, Stopped
from playground.training.feed import Feed
from playground.training.learner import Learner
from playground.zoo.entry import Entry


@dataclass(frozen=True)
class Run:
    """What a run is: the same values give the same events on one kind of device.

    With `steps` the learning rate falls to its floor at the last step of the recipe; with `seconds` alone it stays
    level after the warm-up, because nobody knows the last step.
    """

    entry: Entry
    corpus: Corpus
    seed: int = 0
    device: torch.device = torch.device("cpu")
    steps: int | None = None
    seconds: float | None = None
    out: Path | None = None
    evaluate_every: int = 50
    save_every: int = 500

    @property
    def falling(self) -> bool:
        return self.seconds is None

    @property
    def last(self) -> int | None:
        """The step after which the run ends by itself, None where only the clock ends it."""
        if self.steps is not None:
            return self.steps
        return self.entry.recipe.steps if self.seconds is None else None


def train(run: Run, learner: Learner | None = None) -> Iterator[Event]:
    """Train from the start, or go on with a learner from a checkpoint as if it had never stopped."""
    run = run if learner is None else _of_learner(run, learner)
    recipe = run.entry.recipe
    objective = _informed(run.entry.objective, run.corpus)
    run = replace(run, entry=replace(run.entry, objective=objective))
    feed = Feed.of(run.corpus, recipe.window, recipe.batch, run.seed, run.device, objective.needs)
    held_out = feed.evaluation()
    asked = objective.specimens(held_out, generator(0, "asked", device=run.device.type))
    learner = learner or Learner.new(run.entry, run.corpus.tokenizer.words, run.seed, run.device, asked)
    learner.objective = _informed(learner.objective, run.corpus)
    blocks = Blocks(feed, learner, steps_together(objective, asked, feed))
    yield Started(learner, run.corpus.unigram_entropy, held_out)
    evaluated, loss = -1, torch.zeros(())
    if learner.step == 0:
        evaluated = 0
        yield _evaluated(learner, held_out)
    while not (reason := _over(run, learner)):
        event = _step(learner, blocks, run.falling)
        loss = event.loss
        yield event
        if learner.step % run.evaluate_every == 0:
            evaluated = learner.step
            yield _evaluated(learner, held_out)
        saves = run.out is not None and learner.step % run.save_every == 0
        if (saves or evaluated == learner.step) and not learner.sound(loss):
            break
        if saves:
            yield keep(run, learner, held_out)
    reason = reason if learner.sound(loss) else "diverged"
    if evaluated != learner.step:
        yield _evaluated(learner, held_out)
    if run.out is not None and reason != "diverged":
        yield keep(run, learner, held_out)
    yield Stopped(learner.step, reason, learner.seconds)


def _informed(objective: Objective, corpus: Corpus) -> Objective:
    """The objective with what only the whole corpus knows: its names of the labels, its table of co-occurrences."""
    objective = objective.knowing(corpus.label_names)
    if not objective.counts:
        return objective
    return objective.counting(cooccurrence(corpus.ids[: corpus.held_out_from].long(), corpus.tokenizer.specials))


def _of_learner(run: Run, learner: Learner) -> Run:
    """The run with the knobs that the learner began with, so that its batches are those it would have seen."""
    if learner.entry.name != run.entry.name:
        raise Refusal(f"The checkpoint holds a {learner.entry.name}, not a {run.entry.name}; name the same entry.")
    return replace(run, entry=learner.entry)


def _over(run: Run, learner: Learner) -> str:
    """Why the run ends here by itself, or nothing while it goes on."""
    if run.last is not None and learner.step >= run.last:
        return "steps"
    return "seconds" if run.seconds is not None and learner.seconds >= run.seconds else ""


def keep(run: Run, learner: Learner, held_out: Tokens) -> Checkpointed:
    """Write a checkpoint into the run's folder."""
    assert run.out is not None
    corpus = checkpoint.Studied(run.corpus.name, run.corpus.hash, run.corpus.unigram_entropy, held_out)
    path = checkpoint.save(run.out / "checkpoint.safetensors", learner, run.corpus.tokenizer, corpus)
    return Checkpointed(learner.step, str(path))


def _step(learner: Learner, blocks: Blocks, falling: bool) -> Stepped:
    began = time.perf_counter()
    example, loss, terms, share = learner.learn(blocks.at(learner.step), falling)
    learner.seconds += time.perf_counter() - began
    return Stepped(learner.step, loss, terms, share, learner.tokens, learner.seconds, example)


def _evaluated(learner: Learner, held_out: Tokens) -> Evaluated:
    terms = learner.evaluate(held_out)
    return Evaluated(learner.step, next(iter(terms.values())), terms)
