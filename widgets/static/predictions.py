"""What the model predicts for a fixed sentence, as a small table: the truth, and the likeliest words with bars."""

from collections.abc import Iterable
from html import escape

from playground.analysis.predictions import Predictions
from widgets.design_tokens import BLUE, GREEN

MOST = 8
"""Positions that are listed."""

LEFT = 'style="text-align:left;padding:2px 10px 2px 0"'
"""Notebooks set all cells of a table to the right; words begin on the left."""


def markup(glance: Predictions | None) -> str:
    """The sentence as the model sees it and its guesses at the scored positions."""
    if glance is None:
        return '<p class="quiet">Predictions appear with the first step.</p>'
    scored = {g.position for g in glance.guesses} if "decoder" not in glance.weights else set()
    marked = scored if len(scored) < len(glance.sees) else set()
    style = f' style="border-bottom:2px solid {BLUE}"'
    seen = " ".join(f"<span{style * (k in marked)}>{escape(word)}</span>" for k, word in enumerate(glance.sees))
    if glance.unscored:
        return f'<p style="margin:0 0 .3em">{seen}</p><p class="quiet">{escape(glance.unscored)}</p>'
    rows = "".join(
        row(guess.truth, guess.probability, [(word, share, word == guess.truth) for word, share in guess.top[:3]])
        for guess in glance.guesses[:MOST]
    )
    more = len(glance.guesses) - MOST
    rest = f'<p class="quiet">and {more} more positions</p>' if more > 0 else ""
    measure = glance.guesses[0].measure if glance.guesses else "probability"
    ranked = "likeliest" if measure == "probability" else "nearest"
    return (
        f'<p style="margin:0 0 .3em">{seen}</p><div style="overflow-x:auto"><table><tr style="line-height:1.1">'
        f"<th {LEFT}>target</th>"
        f"<th {LEFT}>{measure}</th><th {LEFT}>{ranked} answers</th></tr>{rows}</table></div>{rest}"
    )


def row(word: str, probability: float, likeliest: Iterable[tuple[str, float, bool]]) -> str:
    """A word with its probability, and the likeliest words with their shares and whether they are right."""
    bars = " ".join(bar(*each) for each in likeliest)
    return (
        f'<tr><td {LEFT}><b>{escape(word)}</b></td><td class="number" style="padding:2px 10px 2px 0">'
        f'{probability:.2f}</td><td style="white-space:nowrap;text-align:left;padding:2px 0">{bars}</td></tr>'
    )


def bar(word: str, share: float, right: bool) -> str:
    """A word on a bar as long as its share; a right one has a tick."""
    colour, mark = (GREEN, " ✓") if right else (BLUE, "")
    filled = f"linear-gradient(90deg,{colour}55 {share:.0%},#8882 {share:.0%})"
    return (
        f'<span style="display:inline-flex;justify-content:space-between;align-items:baseline;gap:10px;min-width:96px;'
        f'padding:1px 8px;margin-right:4px;border-radius:5px;background:{filled}"><span>{escape(word)}{mark}</span>'
        f'<small class="number" style="opacity:.75">{share:.2f}</small></span>'
    )
