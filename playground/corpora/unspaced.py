"""Scripts without spaces between words, in which `split_words` takes a whole clause for a word."""

import re
from collections.abc import Mapping

ENOUGH = 0.02
"""Share of the letters from which a text is said to be in such a script."""

_LETTERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f]")


def describe_unspaced(words: Mapping[str, int]) -> str:
    """A sentence with the share of such letters in words and their counts; nothing of a text in other scripts."""
    total = sum(count * len(word) for word, count in words.items() if word[:1].isalnum())
    unspaced = sum(count * len(_LETTERS.findall(word)) for word, count in words.items())
    if unspaced <= ENOUGH * total:
        return ""
    return (
        f"{unspaced / max(total, unspaced):.0%} of the letters belong to a script without spaces between words (Thai, "
        "Lao, Burmese, Khmer), so what counts as one word here is often a whole clause."
    )
