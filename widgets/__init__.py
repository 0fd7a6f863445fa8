"""The front doors: the served app and the notebook cell."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widgets.notebook.bug_hunt import hunt
    from widgets.notebook.claim_cards import claim, claims
    from widgets.notebook.comparison import compare
    from widgets.notebook.compression import compress
    from widgets.notebook.inspection import inspect
    from widgets.notebook.picture import stage
    from widgets.notebook.posttraining import post_train
    from widgets.notebook.survey import table
    from widgets.notebook.training import train

__all__ = ["claim", "claims", "compare", "compress", "hunt", "inspect", "post_train", "stage", "table", "train"]


def __getattr__(name: str) -> Any:
    """`from widgets import stage, table, train, compare` without loading anything before it is asked for."""
    if name in __all__:
        from widgets import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module 'widgets' has no attribute {name!r}")
