"""The texts that the Stage page offers."""

from collections.abc import Sequence

from playground.errors import readable
from playground.objectives import Objective, find_objective, objectives
from playground.trace.rebuild import SENTENCE

STORY = "Rosa baked the bread. Then her brother sold it. In the evening they danced."  # several sentences

PAIRS = {
    "pair": (SENTENCE, "We will walk home together"),
    "translation": ("How are you", "Comment vas-tu"),
}
"""The two texts with which an objective opens, by what it needs; the translations are the survey's."""

MOST_LISTED = 6  # unknown words that a sentence names

LONGEST_WORD = 40
"""Characters of a word that are shown in a sentence."""


def offered(name: str) -> set[str]:
    """The texts ("text") or second texts ("pair") that the playground itself offers."""
    pairs = [dict(zip(("text", "pair"), both, strict=True)) for both in (*PAIRS.values(), (SENTENCE, ""), (STORY, ""))]
    printed = {getattr(objective.printed, name) for objective in objectives().values()}
    return {pair[name] for pair in pairs} | (printed - {""})


def texts_for(objective: str | Objective) -> dict[str, str]:
    """The two texts with which an objective opens: its own batch, else those that fit what it needs."""
    own = find_objective(objective) if isinstance(objective, str) else objective
    if own.printed.text and not own.row:
        return {"text": own.printed.text, "pair": own.printed.pair}
    need = next((n for n in own.needs if n in PAIRS), "")
    alone = STORY if "sentences" in own.needs else SENTENCE
    return dict(zip(("text", "pair"), PAIRS.get(need, (alone, "")), strict=True))


def shorten(word: str) -> str:
    """The beginning of a word that is too long for a sentence."""
    return word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}…"


def listed(words: Sequence[str]) -> str:
    """Words in a sentence, the first few where they are many, the beginning of a very long one, odd letters escaped."""
    some = [f"“{readable(shorten(word))}”" for word in words[:MOST_LISTED]]
    if len(words) > MOST_LISTED:
        return f"{', '.join(some)} and {len(words) - MOST_LISTED} more words"
    return f"the word{'s' * (len(some) > 1)} " + " and ".join(filter(None, [", ".join(some[:-1]), some[-1]]))
