"""Two recipes for the same paper: as the papers did, or with what makes a tiny model learn sooner."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from playground.errors import UserError
from playground.knob import turn
from playground.zoo.entry import Entry


@dataclass(frozen=True)
class RecipePreset:
    """Settings of the recipe and of the model that belong together; calling it gives an entry these settings.

    `as_published` takes positions, norms, biases, dropout and initialisation from the published model, where one is
    declared, and what its paper says of the optimiser.
    """

    name: str
    idea: str
    recipe: Mapping[str, Any]
    model: Mapping[str, Any]
    as_published: bool = False

    def __call__(self, entry: Entry) -> Entry:
        if self.as_published and entry.published:
            model, recipe = entry.model.in_form_of(entry.published[0].model), {**self.recipe, **entry.published_recipe}
        else:
            model, recipe = turn(entry.model, self.model if entry.model.kind == "transformer" else {}), self.recipe
        return replace(entry, recipe=turn(entry.recipe, recipe), model=model)


PAPER = RecipePreset(
    "paper",
    "AdamW as in BERT (arXiv:1810.04805, app. A.2, and its code) where the paper says no other: a linear rise and fall "
    "to zero, no weight decay of norms and biases. The network is as its paper has it: positions, norms, biases, "
    "dropout, first weights. The rate is higher than BERT's 1e-4, because it is tiny.",
    {
        "optimiser": "adamw", "lr": 3e-3, "warmup_ratio": 0.1, "min_lr_ratio": 0.0, "adam_beta2": 0.999,
        "weight_decay": 0.01, "decay_norms": False,
    },
    {"positions": "learned", "init": "normal"},
    as_published=True,
)  # fmt: skip

ACCELERATED = RecipePreset(
    "accelerated",
    "Muon on the matrices inside the stacks and AdamW on the rest, turned queries and keys (arXiv:2104.09864), "
    "attention that averages from the first step on (after arXiv:2305.09828).",
    {"optimiser": "muon", "lr": 6e-3, "muon_lr": 2e-2, "warmup_ratio": 0.1, "min_lr_ratio": 0.02},
    {"positions": "rotary", "init": "mimetic"},
)

RECIPE_PRESETS = {preset.name: preset for preset in (PAPER, ACCELERATED)}


def find_preset(name: str) -> RecipePreset:
    """A recipe by its name."""
    if name not in RECIPE_PRESETS:
        raise UserError(f"There is no recipe {name!r}; choose one of {', '.join(RECIPE_PRESETS)}.")
    return RECIPE_PRESETS[name]
