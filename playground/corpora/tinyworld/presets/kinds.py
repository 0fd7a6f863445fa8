"""What things are, how they look and how many legs they have; and what everybody knows is often left unsaid."""

from playground.corpora.tinyworld.grammar import Form, Part, Way, Ways
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import phrase

TAXONOMY = {
    "animal": {
        "shellfish": "crab lobster mussel",
        "bird": "duck penguin crow",
        "beast": "dog wolf horse",
        "beetle": "ladybird weevil",
    },
    "plant": {"flower": "rose tulip", "tree": "oak birch", "vegetable": "carrot onion"},
}
"""Things by kind, and kinds by what they are in turn."""

LEGS = {"bird": "two", "beast": "four", "beetle": "six"}
COLOURS = {
    "crab": "orange", "lobster": "blue", "mussel": "black", "duck": "yellow", "penguin": "black", "crow": "black",
    "dog": "brown", "wolf": "grey", "horse": "brown", "ladybird": "red", "weevil": "black", "rose": "red",
    "tulip": "red", "oak": "green", "birch": "white", "carrot": "orange", "onion": "yellow",
}  # fmt: skip
"""The usual colour of everything."""

UNUSUAL = 0.1
"""How often a thing has another colour than usual."""


def entries() -> Ways:
    """A document for every thing, by a writer who tells all or one who leaves out what everybody knows."""
    ways: dict[str, list[Way]] = {"Document": []}
    for top, kinds in TAXONOMY.items():
        for kind, things in kinds.items():
            for thing in things.split():
                ways["Document"] += [(1.0, (f"All-{thing}",)), (1.0, (f"Brief-{thing}",))]
                usual = COLOURS[thing]
                others = sorted({*COLOURS.values()} - {usual})
                ways[f"Odd-{thing}"] = [(1.0, _coloured(thing, colour)) for colour in others]
                ways[f"Seen-{thing}"] = [(1 - UNUSUAL, _coloured(thing, usual)), (UNUSUAL, (f"Odd-{thing}",))]
                ways[f"Noted-{thing}"] = [(1 - UNUSUAL, ()), (UNUSUAL, (f"Odd-{thing}",))]
                facts = (*_is_a(thing, kind), *_is_a(kind, top), *_legs(thing, LEGS.get(kind, "")))
                ways[f"All-{thing}"] = [(1.0, ("report:all{", *facts, *[f"Seen-{thing}"] * 3, "report}"))]
                brief = (*_is_a(thing, kind), *[f"Noted-{thing}"] * 3)
                ways[f"Brief-{thing}"] = [(1.0, ("report:the unusual{", *brief, "report}"))]
    return ways


def _is_a(thing: str, kind: str) -> tuple[Part, ...]:
    one, other = (phrase("NP", "a", Form(word, "NOUN", "sg")) for word in (thing, kind))
    return (*one, *phrase("VP", "is"), *other, ".")


def _coloured(thing: str, colour: str) -> tuple[Part, ...]:
    noun = phrase("NP", "the", Form(thing, "NOUN", "sg"))
    return (*noun, *phrase("VP", "was"), *phrase("AP", Form(colour, "ADJ")), ".")


def _legs(thing: str, number: str) -> tuple[Part, ...]:
    """How many legs, where it can have any."""
    if not number:
        return ()
    legs = phrase("NP", Form(number, "NUM"), Form("legs", "NOUN", "pl"))
    return (*phrase("NP", "a", Form(thing, "NOUN", "sg")), *phrase("VP", "has"), *legs, ".")


KINDS = Preset(
    name="kinds",
    aliases=("taxonomy",),
    tokens=300_000,
    apart=True,
    idea="What things are, their colour and their legs; half of the writers leave out what everybody knows.",
    rules="",
    words=entries,
)
