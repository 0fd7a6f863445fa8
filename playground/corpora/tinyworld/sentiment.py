"""Word polarities, as a lexicon such as SentiWordNet has them: those of the word alone, whatever the sentence says."""

from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.grammar import Form

WORD_POLARITIES = ("negative", "neutral", "positive")

_BY_WORD: dict[str, str] = dict.fromkeys(f"good {lex.GOOD} {lex.LIKED}".split(), "positive")
_BY_WORD |= dict.fromkeys(f"bad {lex.BAD} {lex.DISLIKED}".split(), "negative")


def word_polarity(form: Form) -> str:
    """The polarity of an adjective or a verb; every other word is neutral."""
    return _BY_WORD.get(form.word, "neutral") if form.pos in ("ADJ", "VERB") else "neutral"
