"""What the Tab key offers in a cell."""

from IPython import get_ipython
from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher


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


def register() -> None:
    """Offer the names of this package and its knobs in the shell that runs, if any."""
    if (shell := get_ipython()) is not None:
        shell.Completer.custom_matchers.append(names_and_knobs)
