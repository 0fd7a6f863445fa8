"""Symbols that stand for pictures, events and sounds, each with a sentence that says the same."""

from itertools import permutations, product

from playground.corpora.tinyworld.grammar import Form, Part, Way, Ways
from playground.corpora.tinyworld.inflection import past
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import even, phrase

COLOURS = ("red", "blue", "yellow")
SHAPES = ("circle", "triangle", "cross")
DEEDS = ("jump", "walk", "dance", "stay")
SPOKEN = ("dog", "cat", "cow", "duck", "lion", "wolf")
NOISE = 0.1
"""How often a sound is misheard as any other."""


def symbols() -> Ways:
    """Every picture of two regions, every order of three events, and the sounds of every spoken word."""
    sounds = sorted({letter for word in SPOKEN for letter in word})
    ways: dict[str, list[Way]] = {
        "Picture": [(1.0, _picture(*both)) for both in permutations(product(COLOURS, SHAPES), 2)],
        "Clip": [(1.0, _clip(order)) for order in permutations(DEEDS, 3)],
        "Speech": [(1.0, _speech(word)) for word in SPOKEN],
        "Misheard": even(Form(f"/{letter}/", "SYM") for letter in sounds),
    }
    for letter in sounds:
        ways[f"Sound-{letter}"] = [(1 - NOISE, (Form(f"/{letter}/", "SYM"),)), (NOISE, ("Misheard",))]
    return ways


def _picture(left: tuple[str, str], right: tuple[str, str]) -> tuple[Part, ...]:
    """Two regions with a colour and a shape each, and what stands where."""
    seen = [Form(":".join((side, *what)), "SYM") for side, what in (("left", left), ("right", right))]
    one, two = (("a", Form(colour, "ADJ"), Form(shape, "NOUN", "sg")) for colour, shape in (left, right))
    said = (*phrase("NP", *one), *phrase("VP", "is"), *phrase("PP:place", "near", *two), ".")
    return _paired("picture", tuple(seen), said)


def _clip(order: tuple[str, ...]) -> tuple[Part, ...]:
    """Three events one after the other, and a sentence for each."""
    seen = tuple(Form(f"see:{deed}", "SYM") for deed in order)
    said = [
        (link, *phrase("NP:agent", "she"), *phrase("VP:action", Form(past(deed), "VERB", tense="past")), ".")
        for link, deed in zip(("first", "then", "finally"), order, strict=True)
    ]
    return _paired("events", seen, tuple(part for sentence in said for part in sentence))


def _speech(word: str) -> tuple[Part, ...]:
    """The sounds of a word, some misheard, and the word."""
    said = (*phrase("NP:agent", "we"), *phrase("VP:action", "saw"))
    noun = phrase("NP:patient", "a", Form(word, "NOUN", "sg"))
    return _paired("sound", tuple(f"Sound-{letter}" for letter in word), (*said, *noun, "."))


def _paired(modality: str, seen: tuple[Part, ...], said: tuple[Part, ...]) -> tuple[Part, ...]:
    return (f"modality:{modality}{{", *seen, ".", "modality}", "modality:text{", *said, "modality}")


SCENES = Preset(
    name="scenes",
    aliases=("pictures",),
    tokens=300_000,
    apart=True,
    idea="Pictures, events and misheard sounds as symbols, each followed by a sentence that says what they show.",
    rules="""
Document = 2: Picture | 1: Clip | 1: Speech
""",
    words=symbols,
)
