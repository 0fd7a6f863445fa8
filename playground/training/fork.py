"""Forks: a run that leaves another one at some step, and what is different from there on."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from playground.errors import UserError
from playground.knob import as_written, knobs, turn
from playground.objectives.mask_overrides import describe
from playground.parsing import parse_int
from playground.training.loop import Run
from playground.training.train_state import Snapshot, TrainState
from playground.zoo.entry import Entry
from playground.zoo.preset import find_preset


@dataclass(frozen=True)
class Fork:
    """A run and its own learner, which stands at `step`; train them with `train(fork.run, fork.learner)`."""

    run: Run
    learner: TrainState
    step: int
    changed: str


def fork(run: Run, learner: TrainState, changes: Mapping[str, Any] | None = None, out: Path | None = None) -> Fork:
    """A copy of the learner, with its optimisers' state, with other knobs of recipe or objective or another `seed`."""
    changes, old = dict(changes or {}), learner.entry
    seed = seed_of(changes, learner)
    shape = {k.name for k in knobs(old.model)} & set(changes)
    if shape:
        raise UserError(
            f"{', '.join(sorted(shape))} cannot be changed in a fork, which keeps the weights; start another run."
        )
    recipe = {k.name: changes.pop(k.name) for k in knobs(old.recipe) if k.name in changes}
    entry = replace(old, recipe=turn(old.recipe, recipe)).asking(changes)
    new = TrainState.new(entry, run.corpus.tokenizer.words, seed, learner.device)
    state = Snapshot.of(learner)
    try:
        new.model.load_state_dict(state.weights)
    except RuntimeError:
        raise UserError(
            "A fork keeps the weights, so the model and its objective's heads must stay the same."
        ) from None
    new.step, new.tokens, new.scored, new.seconds = state.step, state.tokens, state.scored, state.seconds
    new.enter_phase()
    if new.phase == learner.phase and _groups(new) == _groups(learner):
        for optimiser, kept in zip(new.optimisers, state.optimisers, strict=True):
            optimiser.load_state_dict(kept)
        new.turn({})
    same_rows = all(getattr(old.recipe, name) == getattr(entry.recipe, name) for name in ("batch_size", "seq_len"))
    new.mems = state.mems if same_rows else ()
    forked = replace(run, entry=entry, seed=seed, out=out)
    return Fork(forked, new, new.step, what_changed(old, entry, {"seed": (learner.seed, seed)}))


def _groups(learner: TrainState) -> list[tuple[type, list[int]]]:
    """The optimisers of a learner, with the sizes of their groups."""
    return [(type(each), [len(group["params"]) for group in each.param_groups]) for each in learner.optimisers]


def seed_of(changes: dict[str, Any], learner: TrainState) -> int:
    """The seed, taken out of the changes; by default the learner's own."""
    seed = changes.pop("seed", learner.seed)
    try:
        return parse_int(str(seed))
    except ValueError as error:
        raise UserError(f"seed is {seed!r}; it must be a whole number.") from error


def what_changed(old: Entry, new: Entry, others: Mapping[str, tuple[Any, Any]] | None = None) -> str:
    """The fields in which two runs differ, such as "lr 0.006 → 0.002", or "nothing"."""
    parts = ((old.recipe, new.recipe), (old.model, new.model))
    pairs = [(f.name, getattr(a, f.name), getattr(b, f.name)) for a, b in parts for f in fields(a)]
    before, after = old.objective.knobs, new.objective.knobs
    pairs += [(name, before[name].default, k.default) for name, k in after.items() if name in before]
    pairs += [("objective", old.objective.name, new.objective.name)]
    pairs += [("mask_overrides", *(describe(one.mask_overrides) or "none" for one in (old, new)))]
    pairs += [(name, a, b) for name, (a, b) in (others or {}).items()]
    return ", ".join(f"{name} {_short(a)} → {_short(b)}" for name, a, b in pairs if a != b) or "nothing"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else as_written(value)


def describe_recipe(entry: Entry, name: str) -> str:
    """What a recipe changes of an entry, in one sentence."""
    return f"The recipe {name} changes {entry.name}: {what_changed(entry, find_preset(name)(entry))}."
