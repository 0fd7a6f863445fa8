"""Two recipes for the same paper: as the papers did, or with what makes a tiny model learn sooner."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playground.errors import UserError
from playground.knob import turn
from playground.zoo.entry import Entry


@dataclass(frozen=True)
class RecipePreset:
    """Settings of the recipe, and of the network where it is no recurrent one; calling it gives an entry these.

    `as_published` adds what the paper of the entry says of the optimiser.
    """

    name: str
    idea: str
    recipe: Mapping[str, Any]
    model: Mapping[str, Any] = field(default_factory=dict)
    as_published: bool = False

    def __call__(self, entry: Entry) -> Entry:
        recipe = {**self.recipe, **(entry.published_recipe if self.as_published else {})}
        model = {} if entry.model.kind != "transformer" else self.model
        return replace(entry, recipe=turn(entry.recipe, recipe), model=turn(entry.model, model))


PAPER = RecipePreset(
    "paper",
    "AdamW as in BERT (arXiv:1810.04805, app. A.2, and its code) where the paper says no other: a linear rise and fall "
    "to zero, no weight decay of norms and biases. The rate is higher than BERT's 1e-4, because the model is tiny.",
    {
        "optimiser": "adamw", "lr": 3e-3, "warmup_ratio": 0.1, "min_lr_ratio": 0.0, "adam_beta2": 0.999,
        "weight_decay": 0.01, "decay_norms": False,
    },
    as_published=True,
)  # fmt: skip

FAST = RecipePreset(
    "fast",
    "For tiny models, which learn faster with it. Muon trains the matrices inside the layers, AdamW the rest. A "
    "transformer gets rotary positions (arXiv:2104.09864), norms before each sub-layer, no dropout, and attention that "
    "is nearly a mean at first (mimetic initialisation, after arXiv:2305.09828), whatever the paper has.",
    {"optimiser": "muon", "lr": 6e-3, "muon_lr": 2e-2, "warmup_ratio": 0.1, "min_lr_ratio": 0.02},
    {"positions": "rotary", "norm_first": True, "dropout": 0.0, "init": "mimetic"},
)

RECIPE_PRESETS = {preset.name: preset for preset in (PAPER, FAST)}


def find_preset(name: str) -> RecipePreset:
    """A recipe by its name."""
    if name not in RECIPE_PRESETS:
        raise UserError(f"There is no recipe {name!r}; choose one of {', '.join(RECIPE_PRESETS)}.")
    return RECIPE_PRESETS[name]
