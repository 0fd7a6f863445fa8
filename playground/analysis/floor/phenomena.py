"""What each word that the grammar writes is an instance of: agreement, a fact, one of two joined adjectives."""

from playground.corpora.tinyworld.facts import FACTS
from playground.corpora.tinyworld.grammar import Form

AGREEMENT = {
    "0": "agreement, no attractor",
    "1": "agreement, 1 attractor",
    **{str(n): f"agreement, {n} attractors" for n in (2, 3, 4)},
}
"""The number of a verb by the nouns of the other number that stand between it and its subject (arXiv:1611.01368)."""

RULES = {
    "Pair": "two joined adjectives",
    "Adjective": "adjective, right polarity",
    "Verb": "verb, right polarity",
    "Anchor": "good or bad in the title",
    "Aspect": "what is reviewed (one)",
    "Aspects": "what is reviewed (several)",
    "Film": "a word for film",
    "Very": "adverb of degree",
    "Praise": "frame of a judgement",
    "Felt": "frame of a feeling",
    "Title": "frame of a title",
    "Topmost": "frame of a subject",
    "Some": "determiner, right number",
    "By": "preposition of place",
    "Beside": "frame of a place",
    "Person": "person, topic and number",
    "Noun": "thing, topic and number",
    "Does": "which verb, and full stop",
    "Stay": "which verb of waiting",
    "Quality": "adjective of the topic",
    "Anyhow": "adjective of any topic",
}
"""What the words of a rule are, by the rule's name without its features; other rules are named as the grammar does."""

END = "end of a document"
WORDING = "wording of a fact"
"""Words of a sentence that tells a fact, apart from the answer."""

_MENTIONS = {f"Told-{fact.name}": fact for fact in FACTS}


def phenomenon(rule: str, form: Form) -> str:
    """What a form that this rule writes is an instance of."""
    if form.attractors:
        return AGREEMENT[form.attractors]
    if rule in _MENTIONS:
        fact = _MENTIONS[rule]
        answers = form.word in fact.object.split() and form.entity != fact.subject
        return f"fact stated {fact.mentions} time{'s' * (fact.mentions != 1)} a round" if answers else WORDING
    family = rule.partition("-")[0]
    return RULES.get(family, f"rule {family}")
