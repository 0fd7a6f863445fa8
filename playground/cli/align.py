"""`playground align`: rotate the word vectors of one language onto those of another and count translations."""

import argparse
from typing import TypedDict

from playground.analysis.procrustes import align, dictionary, shuffled, spaces
from playground.cli.options import Parser, common_options, number_of, say
from playground.corpora import open_corpus


class AlignedWords(TypedDict):
    """How many word pairs there are, and of how many the nearest neighbour is the translation."""

    words: int
    before: int
    """Before the rotation."""
    after: int
    """After the rotation."""


class AlignFacts(TypedDict):
    """Word vectors of two languages before and after the best rotation."""

    corpus: str
    seed: int
    width: int
    """Dimensions of a word vector."""
    window: int
    """Words to either side that are counted."""
    known: AlignedWords
    """Word pairs to which the rotation is fitted."""
    new: AlignedWords
    """Word pairs that it has not seen."""
    chance: float
    """Share of translations among random neighbours."""


FACTS = (AlignFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show_alignment)
    option = command.add_argument
    option("--corpus", default="parallel", help="a corpus of two languages by name; parallel by default")
    option("--known", type=number_of(), metavar="K", help="word pairs to which the rotation is fitted; default: 2 in 3")
    option("--width", type=number_of(), default=32, metavar="D", help="dimensions of a word vector")
    option("--window", type=number_of(), default=8, metavar="W", help="context window: words to either side")


def show_alignment(given: argparse.Namespace) -> int:
    """Align two word spaces and print how many nearest neighbours are translations, before and after."""
    corpus = open_corpus(given.corpus)
    both = spaces(corpus, given.width, given.window)
    pairs = shuffled(dictionary(corpus), given.seed)
    known = given.known or len(pairs) * 2 // 3
    found = align(*both, pairs, known)
    before, new = found.before, len(pairs) - known
    facts: AlignFacts = {
        "corpus": corpus.name,
        "seed": given.seed,
        "width": given.width,
        "window": given.window,
        "known": _row(known, before.known, found.known),
        "new": _row(new, before.new, found.new),
        "chance": found.chance,
    }
    titled = {"shown to it": facts["known"], "never shown": facts["new"]}
    lines = [
        f"Two word spaces of {corpus.name} ({given.width} factors of the positive PMI, window {given.window}): "
        "nearest neighbours that are translations, before and after the rotation.",
        *(
            f"  {t:<12}{r['words']:>4} words   before {_counted(r, r['before'])}   after {_counted(r, r['after'])}"
            for t, r in titled.items()
        ),
        f"  by chance   {found.chance:.1%}",
        "Which words are shown is random (--seed); words that can replace each other, such as towns, are often "
        "confused.",
    ]
    return say(given, facts, lines)


def _row(words: int, before: float, after: float) -> AlignedWords:
    return {"words": words, "before": round(before * words), "after": round(after * words)}


def _counted(row: AlignedWords, right: int) -> str:
    return f"{right:>4} ({right / row['words']:.0%})"
