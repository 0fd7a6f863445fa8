"""Pretraining Playground: objectives, tiny models and training, each drawn from the tensors that train.

The names in `__all__` are the public API; a module is loaded when one of its names is asked for.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in `typing`, which takes longer to load than the rest of this file
    from typing import Any

    from playground.answers import Target, total_loss
    from playground.batch import AttentionMask, Batch, Tokens
    from playground.corpora import Corpus, open_corpus, pick
    from playground.errors import UserError
    from playground.finetuning import Base, ComparisonSpec, Strategy, Task, compare, find_strategy, find_task
    from playground.models import Architecture, LanguageModel
    from playground.objectives import Objective, find_objective
    from playground.rng import generator
    from playground.tokenizing import Tokenizer, read_input
    from playground.training import Run, train
    from playground.training.lr_schedule import lr_multiplier
    from playground.training.properties import measure_properties
    from playground.zoo import Entry, Recipe, find_entry

__version__ = "0.1.0"

MODULES = {
    "answers": ("Target", "total_loss"),
    "batch": ("AttentionMask", "Batch", "Tokens"),
    "corpora": ("Corpus", "open_corpus", "pick"),
    "errors": ("UserError",),
    "finetuning": ("Base", "ComparisonSpec", "Strategy", "Task", "compare", "find_strategy", "find_task"),
    "models": ("Architecture", "LanguageModel"),
    "objectives": ("Objective", "find_objective"),
    "rng": ("generator",),
    "tokenizing": ("Tokenizer", "read_input"),
    "training": ("Run", "train"),
    "training.lr_schedule": ("lr_multiplier",),
    "training.properties": ("measure_properties",),
    "zoo": ("Entry", "Recipe", "find_entry"),
}

__all__ = [
    "Architecture",
    "AttentionMask",
    "Base",
    "Batch",
    "ComparisonSpec",
    "Corpus",
    "Entry",
    "LanguageModel",
    "Objective",
    "Recipe",
    "Run",
    "Strategy",
    "Target",
    "Task",
    "Tokenizer",
    "Tokens",
    "UserError",
    "compare",
    "find_entry",
    "find_objective",
    "find_strategy",
    "find_task",
    "generator",
    "lr_multiplier",
    "measure_properties",
    "open_corpus",
    "pick",
    "read_input",
    "total_loss",
    "train",
]


def __getattr__(name: str) -> "Any":
    for module, names in MODULES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> "list[str]":
    return [*globals(), *__all__]
