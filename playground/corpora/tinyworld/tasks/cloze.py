"""Facts as cloze questions (LAMA, arXiv:1909.01066, sec. 4)."""

from dataclasses import dataclass

from playground.corpora.tinyworld.facts import FACTS, Fact
from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.presets.facts import wordings
from playground.corpora.tinyworld.world import closed


@dataclass(frozen=True)
class Cloze:
    """A sentence that states a fact, the position of the word in question, and the fact."""

    words: list[str]
    position: int
    fact: Fact


def fact_questions(wording: int = 0) -> tuple[Cloze, ...]:
    """Every fact in its first or second wording; the corpus `facts` does not contain facts with 0 mentions."""
    return tuple(_cloze(fact, wording) for fact in FACTS)


def _cloze(fact: Fact, wording: int) -> Cloze:
    parts = [closed(p) if isinstance(p, str) and p[-1] not in "[]{}" else p for p in wordings(fact)[wording]]
    words = spell([form for form in parts if isinstance(form, Form)])
    return Cloze(words, len(words) - 1 - words[::-1].index(fact.object), fact)
