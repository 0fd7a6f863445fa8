"""The learning-rate schedule of pre-training: a linear rise, then a linear fall."""

from dataclasses import replace

from playground.zoo import Entry
from playground.zoo.recipe import Recipe


def lr_multiplier(recipe: Recipe, step: int, falling: bool = True) -> float:
    """The factor of the learning rate in `step` (0-based): up to 1, then down to `min_lr_ratio` where `falling`."""
    rise = max(1, round(recipe.warmup_ratio * recipe.steps))
    if step < rise:
        return (step + 1) / rise
    if not falling:
        return 1.0
    left = max(0.0, 1 - (step - rise) / max(1, recipe.steps - rise))
    return recipe.min_lr_ratio + (1 - recipe.min_lr_ratio) * left


def lr_multiplier_of(entry: Entry, step: int, falling: bool = True) -> float:
    """The same of an entry, whose schedule starts again in each phase."""
    starts, number = (*entry.phase_starts, entry.recipe.steps), entry.phase_at(step)
    recipe = replace(entry.recipe, steps=max(1, starts[number + 1] - starts[number]))
    return lr_multiplier(recipe, step - starts[number], falling)
