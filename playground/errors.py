"""The one exception that is meant for a person: a sentence with the wrong value and what would be right."""

import re

LONGEST_WORD, LONGEST = 400, 2_400
"""Characters of a sentence without a space between them, and of all of it; the longest of ours names all objectives."""


class Refusal(ValueError):
    """Input that cannot be used; its text is shown to the person as it stands, never as a traceback."""

    def __init__(self, sentence: object = "") -> None:
        super().__init__(readable(str(sentence)))


def readable(sentence: str) -> str:
    """A sentence that fits any screen: what has no letter is told by its number, what is too long loses its middle."""
    spelt = "".join(c if c.isprintable() else repr(c)[1:-1] for c in sentence)
    return _shortened(re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: _shortened(word[0], LONGEST_WORD), spelt), LONGEST)


def _shortened(text: str, most: int) -> str:
    """The beginning and the end of a text that is too long."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 4 :]}"
