"""A run that goes on with other knobs: from its next step on, or as a fork."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from playground.errors import UserError
from playground.training import Session
from playground.training.fork import fork, seed_of, what_changed
from playground.training.store.runs import Parent
from playground.training.train_state import TrainState
from widgets.state.job import as_trouble
from widgets.state.train.choice import scheduled, turned
from widgets.state.train.kept_runs import Past
from widgets.state.train.store import TrainStore

AT_ONCE = ("lr", "muon_lr", "grad_clip", "weight_decay", "warmup_ratio", "min_lr_ratio")
"""Knobs that a running model can take; the others need a fork."""


@as_trouble
def change(train: TrainStore, settings: Mapping[str, Any]) -> str:
    """Turn knobs of the run that trains, from its next step on; says what is different."""
    session = train.session
    if session is None or session.state not in ("running", "paused"):
        raise UserError("There is no run that trains; press Train, or fork a run that is over.")
    if later := [name for name in settings if name not in AT_ONCE]:
        raise UserError(f"{', '.join(later)} cannot be changed during a run; fork it instead.")
    old = session.learner.entry if session.learner else session.run.entry
    session.turn(settings)
    return what_changed(old, turned(old, settings))


def would_change(train: TrainStore, settings: Mapping[str, Any]) -> str:
    """What a fork with these settings would change, in the words of its label."""
    session = train.session
    if session is None or session.learner is None:
        return "nothing"
    old, given = session.learner.entry, dict(settings)
    try:
        seed = seed_of(given, session.learner)
        return what_changed(old, turned(old, given), {"seed": (session.learner.seed, seed)})
    except UserError as refusal:
        return str(refusal)


@as_trouble
def fork_run(
    train: TrainStore, settings: Mapping[str, Any], step: int | None = None, learner: TrainState | None = None
) -> Session:
    """Start a run from here, from a checkpoint of the run that is watched, or from a copy of its `learner`."""
    session, name = train.session, train.name_of_run
    if session is None:
        raise UserError("There is no run to fork; press Train, or open a saved one.")
    here = step is None or (session.learner is not None and session.learner.step == step)
    if learner is None and not here:
        learner = train.runs.load(name, step, session.run.device).learner
    if learner is None:
        forked = session.fork(settings)
    else:
        forked = fork(replace(session.run, entry=learner.entry), learner, settings)
    if forked.run.entry.recipe.steps <= forked.step:
        raise UserError(f"The run is at step {forked.step}; give the fork more steps than that.")
    past = Past(tuple(session.rows), tuple(session.moments.every)).until(forked.step)
    parent = Parent(name, forked.step, forked.changed)
    train.notice = forked.run.notice
    return train.watch(scheduled(forked.run, train.quota), forked.learner, past, parent).start()
