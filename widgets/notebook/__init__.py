"""Functions for a notebook cell and what they return; a module is loaded when one of its names is asked for."""

from importlib import import_module
from typing import Any

from IPython import get_ipython
from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

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


@context_matcher()
def names_and_knobs(context: CompletionContext) -> SimpleMatcherResult:
    """What Tab offers in a call of one of these functions."""
    from widgets.notebook.completion import completions  # every catalogue, which a stage does not wait for

    lines = context.full_text.split("\n")[: context.cursor_line + 1]
    code = "\n".join([*lines[:-1], lines[-1][: context.cursor_position]])
    typed, known = completions(code, get_ipython().user_ns)
    found = [SimpleCompletion(each, type="keyword" if each.endswith("=") else "name") for each in known]
    names = not all(each.endswith("=") for each in known)
    return SimpleMatcherResult(completions=found, matched_fragment=typed, suppress=names, ordered=True)


if (shell := get_ipython()) is not None:
    shell.Completer.custom_matchers.append(names_and_knobs)
