"""Forks: a run that leaves another one at some step, and what is different from there on."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from playground.errors import UserError
from playground.knob import as_written, knobs, turn
from playground.models.teacher import follow
from playground.objectives import find_objective
from playground.objectives.mask_overrides import describe
from playground.parsing import parse_int
from playground.training.loop import Run, prepared
from playground.training.train_state import Snapshot, TrainState
from playground.zoo.entry import Entry
from playground.zoo.preset import find_preset


@dataclass(frozen=True)
class Fork:
    """A run and its own learner, which stands at `step`; train them with `train(fork.run, fork.learner)`.

    `fresh` are the parts that its objective needs and that the run did not have: they begin with new weights.
    """

    run: Run
    learner: TrainState
    step: int
    changed: str
    fresh: tuple[str, ...] = ()


def fork(run: Run, learner: TrainState, changes: Mapping[str, Any] | None = None, out: Path | None = None) -> Fork:
    """A copy of the learner and its optimisers' state with another `seed`, `objective` or knobs of recipe or objective.

    Another objective is that of all steps to come, also where the run had phases.
    """
    changes, old = dict(changes or {}), learner.entry
    seed, asked = seed_of(changes, learner), changes.pop("objective", None)
    shape = {k.name for k in knobs(old.model)} & set(changes)
    if shape:
        raise UserError(
            f"{', '.join(sorted(shape))} cannot be changed in a fork, which keeps the weights; start another run."
        )
    recipe = {k.name: changes.pop(k.name) for k in knobs(old.recipe) if k.name in changes}
    entry = old if asked is None else old.with_objective(find_objective(asked))
    entry = replace(entry, recipe=turn(entry.recipe, recipe)).asking(changes)
    if asked is None:
        new = TrainState.new(entry, run.corpus.tokenizer.words, seed, learner.device)
    else:
        new = prepared(replace(run, entry=entry, seed=seed)).learner
    state = Snapshot.of(learner)
    try:
        missing = new.model.load_state_dict(state.weights, strict=asked is None).missing_keys
    except RuntimeError:
        raise UserError("A fork keeps the weights, so the parts of the model that it has must stay the same.") from None
    if any(name.startswith("teacher.") for name in missing):
        follow(new.model.teacher, new.model.network, decay=0.0)  # it begins as a copy of the weights that were kept
    fresh = _parts_of([name for name in missing if not name.startswith("teacher.")])
    new.step, new.tokens, new.scored, new.seconds = state.step, state.tokens, state.scored, state.seconds
    new.enter_phase()
    if new.phase == learner.phase or asked is not None:
        _take_moments(new, learner)
    new.turn({})
    same_rows = all(getattr(old.recipe, name) == getattr(entry.recipe, name) for name in ("batch_size", "seq_len"))
    new.mems = state.mems if same_rows else ()
    forked = replace(run, entry=new.entry, seed=seed, out=out)
    return Fork(forked, new, new.step, what_changed(old, new.entry, {"seed": (learner.seed, seed)}, fresh), fresh)


def _take_moments(new: TrainState, old: TrainState) -> None:
    """Copy the state of every weight that both have, where their optimisers are of the same kinds."""
    if [type(each) for each in new.optimisers] != [type(each) for each in old.optimisers]:
        return
    theirs = dict(old.model.named_parameters())
    for optimiser, kept in zip(new.optimisers, old.optimisers, strict=True):
        own = {parameter for group in optimiser.param_groups for parameter in group["params"]}
        for name, parameter in new.model.named_parameters():
            if parameter in own and theirs.get(name) in kept.state:
                optimiser.state[parameter] = deepcopy(kept.state[theirs[name]])


def _parts_of(keys: Iterable[str]) -> tuple[str, ...]:
    """The heads and stacks that some weights belong to, such as "rtd_head" or "label_heads.pair"."""
    depth = {"label_heads": 2, "network": 2}
    return tuple(dict.fromkeys(".".join(key.split(".")[: depth.get(key.split(".")[0], 1)]) for key in keys))


def seed_of(changes: dict[str, Any], learner: TrainState) -> int:
    """The seed, taken out of the changes; by default the learner's own."""
    seed = changes.pop("seed", learner.seed)
    try:
        return parse_int(str(seed))
    except ValueError as error:
        raise UserError(f"seed is {seed!r}; it must be a whole number.") from error


def what_changed(
    old: Entry, new: Entry, others: Mapping[str, tuple[Any, Any]] | None = None, fresh: tuple[str, ...] = ()
) -> str:
    """The fields in which two runs differ and the parts with new weights, such as "lr 0.006 → 0.002", or "nothing"."""
    parts = ((old.recipe, new.recipe), (old.model, new.model))
    pairs = [(f.name, getattr(a, f.name), getattr(b, f.name)) for a, b in parts for f in fields(a)]
    before, after = old.objective.knobs, new.objective.knobs
    pairs += [(name, before[name].default, k.default) for name, k in after.items() if name in before]
    pairs += [("objective", old.objective.name, new.objective.name)]
    pairs += [("mask_overrides", *(describe(one.mask_overrides) or "none" for one in (old, new)))]
    pairs += [(name, a, b) for name, (a, b) in (others or {}).items()]
    changed = [f"{name} {_short(a)} → {_short(b)}" for name, a, b in pairs if a != b]
    return ", ".join(changed + ["new weights: " + " and ".join(fresh)] * bool(fresh)) or "nothing"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else as_written(value)


def describe_recipe(entry: Entry, name: str) -> str:
    """What a recipe changes of an entry, in one sentence."""
    return f"The recipe {name} changes {entry.name}: {what_changed(entry, find_preset(name)(entry))}."
