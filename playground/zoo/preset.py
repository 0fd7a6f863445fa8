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
    declared.
    """

    name: str
    idea: str
    recipe: Mapping[str, Any]
    model: Mapping[str, Any]
    as_published: bool = False

    def __call__(self, entry: Entry) -> Entry:
        if self.as_published and entry.published:
            model = entry.model.in_form_of(entry.published[0].model)
        else:
            model = entry.model if entry.model.recurrent else turn(entry.model, self.model)
        return replace(entry, recipe=turn(entry.recipe, self.recipe), model=model)


PAPER = RecipePreset(
    "paper",
    "AdamW, a linear rise and fall to zero (BERT, arXiv:1810.04805, app. A.2), and the network as its paper has it: "
    "positions, norms, biases, dropout, first weights. The rate is higher than BERT's 1e-4, because it is tiny.",
    {"optimiser": "adamw", "lr": 3e-3, "warmup_ratio": 0.1, "min_lr_ratio": 0.0},
    {"positions": "learned", "init": "normal"},
    as_published=True,
)

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
