"""Forks: a run that leaves another one at some step, with a label that says what is different from there on."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from playground.corpora import Corpus, open_corpus
from playground.errors import Refusal
from playground.knob import knobs, turn
from playground.parsing import parse_int
from playground.training.checkpoint import Checkpoint
from playground.training.loop import Run
from playground.training.snapshot import State
from playground.training.train_state import TrainState
from playground.zoo.entry import Entry


@dataclass(frozen=True)
class Fork:
    """A run and a learner of its own that stands at `step`; train them with `train(fork.run, fork.learner)`."""

    run: Run
    learner: TrainState
    step: int
    changed: str


def fork(run: Run, learner: TrainState, changes: Mapping[str, Any] | None = None, out: Path | None = None) -> Fork:
    """The learner as it is now, with some knobs of recipe or objective turned, or another `seed`.

    The learner that is forked goes on undisturbed. Moments are kept unless another optimiser is chosen.
    """
    changes = dict(changes or {})
    seed = seed_of(changes, learner)
    entry = _turned(learner.entry, changes)
    new = TrainState.new(entry, run.corpus.tokenizer.words, seed, learner.device)
    state = State.of(learner)
    try:
        new.model.load_state_dict(state.weights)
    except RuntimeError:
        raise Refusal(
            "A fork keeps the weights, so the model and its objective's heads must stay as they are."
        ) from None
    if [type(o) for o in new.optimisers] == [type(o) for o in learner.optimisers]:
        for optimiser, kept in zip(new.optimisers, state.optimisers, strict=True):
            optimiser.load_state_dict(kept)
        new.turn({})
    new.step, new.tokens, new.graded, new.seconds = state.step, state.tokens, state.graded, state.seconds
    forked = replace(run, entry=entry, seed=seed, out=out)
    return Fork(forked, new, new.step, what_changed(learner.entry, entry, {"seed": (learner.seed, seed)}))


def seed_of(changes: dict[str, Any], learner: TrainState) -> int:
    """The seed taken out of what shall change, by default the learner's own."""
    seed = changes.pop("seed", learner.seed)
    try:
        return parse_int(str(seed))
    except ValueError as error:
        raise Refusal(f"seed is {seed!r}; it must be a whole number.") from error


def from_saved(saved: Checkpoint, changes: Mapping[str, Any] | None = None, out: Path | None = None) -> Fork:
    """A fork of a checkpoint; its corpus is opened again and must still be the same text."""
    corpus = corpus_of(saved)
    run = Run(saved.learner.entry, corpus, saved.learner.seed, saved.learner.device)
    return fork(run, saved.learner, changes, out)


def corpus_of(saved: Checkpoint) -> Corpus:
    """The text that a saved run was trained on."""
    corpus = open_corpus(saved.corpus.name)
    if corpus.hash != saved.corpus.hash:
        raise Refusal(
            f"The run was trained on other text than {saved.corpus.name} holds now (content {saved.corpus.hash[:8]}, "
            f"not {corpus.hash[:8]}); bring the same text back to go on."
        )
    return corpus


def _turned(entry: Entry, changes: Mapping[str, Any]) -> Entry:
    shape = {k.name for k in knobs(entry.model)} & set(changes)
    if shape:
        raise Refusal(f"{', '.join(sorted(shape))} cannot be changed in a fork, which keeps the weights; train anew.")
    recipe = {k.name for k in knobs(entry.recipe)} & set(changes)
    return replace(
        entry,
        recipe=turn(entry.recipe, {k: changes[k] for k in recipe}),
        objective=entry.objective.turn({k: v for k, v in changes.items() if k not in recipe}),
    )


def what_changed(old: Entry, new: Entry, others: Mapping[str, tuple[Any, Any]] | None = None) -> str:
    """The fields in which two runs differ, such as "lr 0.006 → 0.002"; "nothing" where there is none."""
    pairs = [(f.name, getattr(old.recipe, f.name), getattr(new.recipe, f.name)) for f in fields(old.recipe)]
    pairs += [(f.name, getattr(old.model, f.name), getattr(new.model, f.name)) for f in fields(old.model)]
    first, second = old.objective.knobs, new.objective.knobs
    pairs += [(name, first[name].default, k.default) for name, k in second.items() if name in first]
    pairs += [("objective", old.objective.name, new.objective.name)]
    pairs += [(name, a, b) for name, (a, b) in (others or {}).items()]
    return ", ".join(f"{name} {_short(a)} → {_short(b)}" for name, a, b in pairs if a != b) or "nothing"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
