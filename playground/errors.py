"""The exception whose text is shown to a person: a sentence with the wrong value and what would be right."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_WORD, LONGEST = 400, 2_400
"""Most characters of a word and of a whole sentence; the longest of ours names all objectives."""


class UserError(ValueError):
    """Input that cannot be used; its text is shown as it stands, never as a traceback.

    Who wants to know more than the text asks for the type and the fields of an error, and never reads the text.
    """

    def __init__(self, sentence: object = "") -> None:
        super().__init__(readable(str(sentence)))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it."""
        return [str(self)]


class TooShort(UserError):
    """A text, of so many `tokens`, that would do if there were more of it."""

    def __init__(self, sentence: str, tokens: int) -> None:
        super().__init__(sentence)
        self.tokens = tokens


class MissingText(UserError):
    """A typed text that lacks what the objective `needs`, such as a second sentence or the label of every word."""

    def __init__(self, sentence: str, needs: str) -> None:
        super().__init__(sentence)
        self.needs = needs


class UnfitModel(UserError):
    """A model that cannot answer: the `reason`, and the `remedy`, which is another model, as the end of a sentence."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}.")
        self.reason, self.remedy = reason, remedy


class NoHead(UserError):
    """A model that has no head for what it is asked."""


def unwritable(folder: object, error: OSError) -> UserError:
    """What is raised where a folder for results cannot be written."""
    return UserError(f"The folder {folder} cannot be written ({error.strerror or error}); choose another.")


@contextmanager
def writing(folder: object) -> Iterator[None]:
    """Refuse a folder for results that cannot be written."""
    try:
        yield
    except OSError as error:
        raise unwritable(folder, error) from error


def readable(sentence: str) -> str:
    """A sentence that fits any screen: unprintable characters are escaped, long words and texts lose their middle."""
    escaped = "".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence)
    short_words = re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: _shortened(word[0], LONGEST_WORD), escaped)
    return _shortened(short_words, LONGEST)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 4 :]}"
