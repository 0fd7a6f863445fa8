"""`playground align`: the word vectors of two languages laid over each other by a turn."""

import argparse
from typing import Any

from playground.cli.options import command, positive, say


def add(commands: Any) -> None:
    """The options of the command."""
    made = command(commands, "align", "lay the word vectors of two languages over each other", show_alignment)
    made.add_argument("--corpus", default="parallel", help="a corpus of two languages by name; parallel by default")
    made.add_argument("--known", type=positive(int), metavar="K", help="how many words find the turn; default: 2 in 3")
    made.add_argument("--width", type=positive(int), default=32, metavar="D", help="numbers in a word vector")
    made.add_argument("--window", type=positive(int), default=8, metavar="W", help="words to either side that count")


def show_alignment(given: argparse.Namespace) -> int:
    """Count words, turn one language's factors, and say how many nearest neighbours are translations."""
    from playground.analysis.procrustes import align, dictionary, shuffled, spaces
    from playground.corpora import open_corpus

    corpus = open_corpus(given.corpus)
    both = spaces(corpus, given.width, given.window)
    pairs = shuffled(dictionary(corpus), given.seed)
    known = given.known or len(pairs) * 2 // 3
    found = align(*both, pairs, known)
    rows = {
        "known": _row(known, found.before.known, found.known),
        "new": _row(len(pairs) - known, found.before.new, found.new),
    }
    facts = {
        "corpus": corpus.name,
        "seed": given.seed,
        "width": given.width,
        "window": given.window,
        **rows,
        "chance": found.chance,
    }
    shown = {"shown to it": rows["known"], "never shown": rows["new"]}
    lines = [
        f"Two word spaces of {corpus.name} ({given.width} factors of the positive PMI, window {given.window}): "
        "nearest neighbours that are translations, before and after the turn.",
        *(f"  {t:<12}{r['words']:>4} words   {_said(r, 'before')}   {_said(r, 'after')}" for t, r in shown.items()),
        f"  by chance   {found.chance:.1%}",
        "Which words are shown is drawn by lot (--seed); those that stand in each other's place, such as towns, are "
        "mixed up.",
    ]
    return say(given, facts, lines)


def _row(words: int, before: float, after: float) -> dict[str, Any]:
    """How many of so many words lie nearest to their translation, before and after."""
    return {"words": words, "before": round(before * words), "after": round(after * words)}


def _said(row: dict[str, Any], when: str) -> str:
    return f"{when} {row[when]:>4} ({row[when] / row['words']:.0%})"
