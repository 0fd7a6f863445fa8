"""A word that comes again after an exact number of other words, which say nothing about it."""

from playground.corpora.tinyworld.grammar import Ways
from playground.corpora.tinyworld.labels import GAPS as NUMBERS
from playground.corpora.tinyworld.lexicon import LIKES
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import even, forms


def hidden() -> Ways:
    """What can be remembered, every word as likely as the next."""
    return {"Treasure": even(forms(LIKES, "NOUN", "sg"))}


def _documents() -> str:
    """One kind of document for each gap: "anna likes tea", sentences of five words, "we want tea"."""
    kinds = " | ".join(f"Gap-{number}" for number in NUMBERS)
    return f"Document = {kinds}\n" + "".join(
        f"Gap-{number} = It := Treasure NP:agent[Anybody] VP:action[likes] NP:patient[$It] . {'Filler ' * k}"
        f"NP:agent[we] VP:action[want] NP:patient[gap:{number}{{ $It }}] .\n"
        for k, number in enumerate(NUMBERS)
    )


GAPS = Preset(
    name="gaps",
    aliases=("distances",),
    tokens=300_000,
    idea="A word is repeated after exactly 3, 8, ... or 28 other words; nothing in between gives it away.",
    rules=_documents() + "Filler = NP[the Place] VP[was] AP[Anyhow] .\n",
    words=hidden,
)
