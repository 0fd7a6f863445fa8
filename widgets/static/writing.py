"""What a model has written: each token tinted by its probability, with the likeliest tokens in its place."""

from collections.abc import Iterator, Sequence
from html import escape

from playground.analysis.generation import Hypothesis, TokenChoice, Written
from playground.tokenizing import Tokenizer
from widgets.bundle import sheet
from widgets.design_tokens import BLUE
from widgets.static.predictions import LEFT, row

MOST = 8
"""Texts that are shown, the best first."""

STYLE = f"<style>{sheet(__file__)}</style>"


def markup(written: Written) -> str:
    """The texts behind their prompt with their log-probabilities, and of the first one a table of its tokens."""
    texts, tokenizer = written.texts, written.tokenizer
    shown = "".join(_text(one, tokenizer, written.prompt) for one in texts[:MOST])
    rows = "".join(_row(token, tokenizer) for token in texts[0].tokens)
    head = f"<tr><th {LEFT}>token</th><th {LEFT}>probability</th><th {LEFT}>likeliest tokens here</th></tr>"
    which = f"Every token{' of the first text' * (len(texts) > 1)} and the likeliest alternatives"
    table = f'<div class="alternatives"><table>{head}{rows}</table></div>'
    return f"{STYLE}{shown}<details><summary>{which}</summary>{table}</details>"


def summary(one: Hypothesis) -> str:
    """The log-probability of a text and how it came to its end, in words."""
    number = len(one.ids)
    count = f"{number} token{'s' * (number != 1)}"
    ended = "" if one.ended else "; cut there"
    return f"log-probability {_minus(one.log_prob)} nats for {count}, {_minus(one.log_prob / number)} per token{ended}"


def pieces(ids: Sequence[int], tokenizer: Tokenizer) -> Iterator[str]:
    """The text of ids in pieces, one for each, with the spaces between them."""
    done = ""
    for length, number in enumerate(ids, 1):
        text = tokenizer.join(ids[:length])
        yield text[len(done) :] if text.startswith(done) else f" {tokenizer.decode([number])[0]}"
        done = text


def _text(one: Hypothesis, tokenizer: Tokenizer, prompt: str) -> str:
    tokens = zip(pieces(one.shown, tokenizer), one.tokens, strict=False)
    spans = "".join(_tinted(piece, token, tokenizer) for piece, token in tokens)
    end = _tinted(tokenizer.decode(one.ids[-1:])[0], one.tokens[-1], tokenizer, "end") if one.ended else " …"
    space = " " * (not spans.startswith(" "))
    before = f'<span class="prompt">{escape(prompt)}</span>{space}' if prompt else ""
    return f'<p class="written">{before}{spans}{end}</p><p class="quiet">{escape(summary(one))}</p>'


def _tinted(text: str, token: TokenChoice, tokenizer: Tokenizer, kind: str = "") -> str:
    likely = ", ".join(f"{tokenizer.decode([number])[0]} {share:.2f}" for number, share in token.top)
    tip = f"probability {token.probability:.2f}; likeliest: {likely}"
    colour = f"{BLUE}{round(0x99 * token.probability):02x}"
    space, word = " " * text.startswith(" "), escape(text.strip(" "))
    return f'{space}<span class="{kind}" title="{escape(tip)}" style="background:{colour}">{word}</span>'


def _row(token: TokenChoice, tokenizer: Tokenizer) -> str:
    likeliest = [(tokenizer.decode([number])[0], share, number == token.id) for number, share in token.top]
    return row(tokenizer.decode([token.id])[0], token.probability, likeliest)


def _minus(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
