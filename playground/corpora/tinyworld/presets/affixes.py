"""Invented stems with endings and beginnings that always mean the same; some combinations are never written."""

from playground.corpora.tinyworld.grammar import Form, Way, Ways
from playground.corpora.tinyworld.lexicon import AFFIXES as KINDS
from playground.corpora.tinyworld.lexicon import STEMS
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import phrase

POS = {"un-": "VERB", "re-": "VERB", "over-": "VERB", "-er": "NOUN", "-able": "ADJ", "-ment": "NOUN"}
"""What a stem becomes; by itself it is a verb."""


def derive(stem: str, affix: str) -> str:
    """A stem with an affix: "re-" makes "reblick", "-er" makes "blicker"."""
    return stem + affix[1:] if affix[0] == "-" else affix[:-1] + stem


def held_out(stem: str, affix: str) -> bool:
    """Whether a combination is never written; each affix goes without four stems, each stem without some affix."""
    return (STEMS.split().index(stem) + KINDS.index(affix)) % 4 == 0


def words() -> Ways:
    """A document for every stem: what they do, and sentences with the stem and each affix that it may have."""
    ways: dict[str, list[Way]] = {"Document": []}
    for stem in STEMS.split():
        ways["Document"].append((1.0, (f"Entry-{stem}",)))
        ways[f"Entry-{stem}"] = [(1.0, (f"Plain-{stem}", *[f"Made-{stem}"] * 3))]
        ways[f"Plain-{stem}"] = [(1.0, _sentence(stem, ""))]
        ways[f"Made-{stem}"] = [(1.0, _sentence(stem, affix)) for affix in KINDS if not held_out(stem, affix)]
    return ways


def _sentence(stem: str, affix: str) -> tuple:
    """A sentence in which the affix means what it means."""
    form = Form(derive(stem, affix) if affix else stem, POS.get(affix, "VERB"))
    marked = (f"stem:{stem}{{", *((f"affix:{affix}{{", form, "affix}") if affix else (form,)), "stem}")
    they, it = phrase("NP:agent", "they"), phrase("NP:patient", "it")
    match affix:
        case "un-":
            return (*they, *phrase("VP:action", *marked), *it, "back", ".")
        case "re-":
            return (*they, *phrase("VP:action", *marked), *it, "again", ".")
        case "over-":
            return (*they, *phrase("VP:action", *marked), *it, "so", "very", ".")
        case "-er":
            return (*phrase("NP", "the", *marked), *phrase("VP", "likes"), *phrase("NP", "it"), ".")
        case "-able":
            return (*phrase("NP", "it"), *phrase("VP", "is"), *phrase("AP", *marked), ".")
        case "-ment":
            return (*phrase("NP", "the", *marked), *phrase("VP", "is"), *phrase("AP", "Anyhow"), ".")
        case _:
            return (*they, *phrase("VP:action", *marked), *it, ".")


AFFIXES = Preset(
    name="affixes",
    aliases=("stems",),
    tokens=300_000,
    apart=True,
    idea="Invented verbs with prefixes and suffixes of one meaning "
    "each; a quarter of the combinations is never written.",
    rules="",
    words=words,
)
