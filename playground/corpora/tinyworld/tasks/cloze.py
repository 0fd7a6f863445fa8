"""Facts as sentences with a gap, to ask a model what it has kept (LAMA, arXiv:1909.01066, sec. 4)."""

from dataclasses import dataclass

from playground.corpora.tinyworld.facts import FACTS, Fact
from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.presets.facts import wordings
from playground.corpora.tinyworld.world import closed


@dataclass(frozen=True)
class Cloze:
    """A sentence that tells a fact, the place of the word that is asked for, and the fact."""

    words: list[str]
    place: int
    fact: Fact


def fact_questions(wording: int = 0) -> tuple[Cloze, ...]:
    """Every fact in its first or second wording; a fact with 0 mentions was never told in the corpus `facts`."""
    return tuple(_cloze(fact, wording) for fact in FACTS)


def _cloze(fact: Fact, wording: int) -> Cloze:
    forms = [closed(p) if isinstance(p, str) and p[-1] not in "[]{}" else p for p in wordings(fact)[wording]]
    words = spell(*_numbered([form for form in forms if isinstance(form, Form)]))
    return Cloze(words, len(words) - 1 - words[::-1].index(fact.object), fact)


def _numbered(forms: list[Form]) -> tuple[list[Form], range]:
    return forms, range(len(forms))
