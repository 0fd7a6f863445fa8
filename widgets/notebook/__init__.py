"""Functions for a notebook cell and what they return; a module is loaded when one of its names is asked for."""

from importlib import import_module
from typing import Any

from widgets.notebook.tab_key import register

MODULES = {
    "bug_hunt": ("Case", "hunt"),
    "claim_cards": ("Claims", "TestedClaim", "claim", "claims"),
    "comparison": ("Compared", "compare"),
    "compression": ("CompressedModels", "compress"),
    "inspection": ("Inspected", "Instruments", "inspect"),
    "picture": ("Picture", "stage"),
    "posttraining": ("PostTrained", "post_train"),
    "survey": ("Table", "table"),
    "training": ("Progress", "Trained", "train"),
}


def __getattr__(name: str) -> Any:
    for module, names in MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


register()
