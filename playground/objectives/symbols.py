"""The loss in symbols under every knob that changes it: which answers count, and what each of them is given.

Every function takes the knobs of a chain by their names and gives LaTeX; `Term.under` asks it again when a knob turns.
"""

from collections.abc import Mapping
from typing import Any

Knobs = Mapping[str, Any]

SIGN_BEHIND = {"T+1": "the position of the special token [END]"}
SIGN_BEFORE = {"t=0": "the position of [START], which ends a text that is read from the right"}
IN_LAYERS = {"k": "the number of words that a position attends to in each layer", "L": "the number of layers"}


def next_word(knobs: Knobs, given: str = "") -> str:
    """Each word from those to its left, behind the first `context_size` ones; `given` stands before them all."""
    end, skip = int(knobs["add_eos"]), knobs["context_size"]
    seen = r"x_{t-(k-1)L-1}, \ldots, x_{t-1}" if knobs["sliding_window"] else f"{given}x_{{<t}}"
    return rf"-\frac{{1}}{{{_plus('T', end - skip)}}}\sum_{{t={skip + 1}}}^{{{_plus('T', end)}}}\log p(x_t \mid {seen})"


REARRANGED = {
    "x": "the text in its new order, with its special tokens",
    "T": "the number of its tokens",
    "S": "its positions that hold no sentinel",
}


def rearranged(knobs: Knobs) -> str:
    """Each token of a text in a new order from those before it, with or without the sentinels between its parts."""
    over = r"\frac{1}{T}\sum_{t=1}^{T}" if knobs["score_sentinels"] else r"\frac{1}{|S|}\sum_{t \in S}"
    seen = r"x_{t-(k-1)L-1}, \ldots, x_{t-1}" if knobs["sliding_window"] else r"x_{<t}"
    return rf"-{over}\log p(x_t \mid {seen})"


def previous_word(knobs: Knobs) -> str:
    """Each word from those to its right, but for the last `context_size` ones."""
    end, skip = int(knobs["add_eos"]), knobs["context_size"]
    seen = r"x_{t+1}, \ldots, x_{t+(k-1)L+1}" if knobs["sliding_window"] else "x_{>t}"
    sum_of = rf"\sum_{{t={1 - end}}}^{{{_plus('T', -skip)}}}"
    return rf"-\frac{{1}}{{{_plus('T', end - skip)}}}{sum_of}\log p(x_t \mid {seen})"


def one_sided(knobs: Knobs, left: bool = True) -> str:
    """Hidden words at their own places, each from the corrupted text on one side and from its own place."""
    far, near = (r"\hat{x}_{t-(k-1)L}", r"\hat{x}_t") if left else (r"\hat{x}_t", r"\hat{x}_{t+(k-1)L}")
    whole = r"\hat{x}_{\leq t}" if left else r"\hat{x}_{\geq t}"
    seen = rf"{far}, \ldots, {near}" if knobs["sliding_window"] else whole
    return rf"-\frac{{1}}{{|M|}}\sum_{{t \in M}}\log p(x_t \mid {seen})"


def continuation(knobs: Knobs) -> str:
    """The second part, each word from the first part and the words before it; or the first part too."""
    if knobs["loss_on"] == "all":
        return r"-\frac{1}{T-1}\sum_{t=2}^{T}\log p(x_t \mid x_{\leq \max(c,\,t-1)})"
    return r"-\frac{1}{T-c}\sum_{t=c+1}^{T}\log p(x_t \mid x_{\leq c}, x_{c+1:t-1})"


def second_part(knobs: Knobs) -> str:
    """The second part that a decoder writes, or the whole text again, and the sign that closes it."""
    if knobs["target"] == "text":
        last = _plus("T", int(knobs["add_eos"]))
        return rf"-\frac{{1}}{{{last}}}\sum_{{t=1}}^{{{last}}}\log p(x_t \mid x_{{\leq c}}, x_{{<t}})"
    if knobs["target"] == "sentinels":
        return r"-\frac{1}{|y|}\sum_{i}\log p(y_i \mid x_{\leq c}, y_{<i})"
    number, last = ("T-c+1", "T+1") if knobs["add_eos"] else ("T-c", "T")
    return rf"-\frac{{1}}{{{number}}}\sum_{{t=c+1}}^{{{last}}}\log p(x_t \mid x_{{\leq c}}, x_{{c+1:t-1}})"


def in_order(knobs: Knobs, heard: str = r"x_{z_{<t}}") -> str:
    """The last words of an order, each from what is `heard` and its place, as the streams let it be known."""
    known = {
        "two streams": f"{heard}, z_t",
        "one that sees itself": f"{heard}, x_{{z_t}}, z_t",
        "one blind to itself": f"{heard}, x_{{z_t}}, z_t",
        "positions only": "z_t",
        "an order that turns round": r"x_{1:T}, z_t",
        "words only": heard,
    }[knobs["streams"]]
    return rf"-\frac{{1}}{{T-c}}\sum_{{t=c+1}}^{{T}}\log p(x_{{z_t}} \mid {known})"


def written(knobs: Knobs, fragment: str = "") -> str:
    """What a decoder writes: the whole text, or the missing words, bare or with the special tokens between them.

    `fragment` is how a chain says the missing words that are written at their own positions.
    """
    target, end = knobs["target"], int(knobs["add_eos"])
    if target == "text":
        last = _plus("T", end)
        return rf"-\frac{{1}}{{{last}}}\sum_{{t=1}}^{{{last}}}\log p(x_t \mid \hat{{x}}, x_{{<t}})"
    if end or target == "sentinels":
        return r"-\frac{1}{|y|}\sum_{i}\log p(y_i \mid \hat{x}, y_{<i})"
    bare = r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x}, x_{M,<t})"
    return fragment or bare if target == "fragment" else bare


FRAGMENT = r"-\frac{1}{j-i+1}\sum_{t=i}^{j}\log p(x_t \mid x_{\setminus i:j}, x_{i:t-1})"
"""A hidden span, each word of it from the rest of the text and from the span so far (MASS)."""

DISCRETE = r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid x_{\setminus M}, \{x_{s-1} : s \in M, s \leq t\})"
"""Hidden words here and there, each from the rest of the text and from the words before those hidden so far."""

PAIRS, PLACES, WINDOWS = r"\frac{1}{|P|}\sum_{(c,o) \in P}", r"\frac{1}{T}\sum_{o}", r"\frac{1}{T}\sum_t "
"""What is averaged: pairs of a centre and a word near it, words, or the windows around them."""

RIGHT, WRONG = r"u_o^\top v_c", r"u_k^\top v_c"
"""The score of a right word and that of a drawn one, by its vector."""

SCORED, DRAWN = r"s(x_t \mid x_{t \pm m})", r"s(\tilde{x}_k \mid x_{t \pm m})"
"""The same in a window that is scored as a whole."""


def distinguished(knobs: Knobs, over: str = PAIRS, right: str = RIGHT, wrong: str = WRONG) -> str:
    """The right word distinguished from K drawn ones, in the four ways of `SampleNegatives`."""
    drawn = r"\sum_{k=1}^{K}"
    meanings = {
        "sampled": rf"-{over}\Big[\log\sigma({right}) + {drawn}\log\sigma(-{wrong})\Big]",
        "nce": rf"-{over}\Big[\log\sigma({right} - \log K q_o) + {drawn}\log\sigma(\log K q_k - {wrong})\Big]",
        "hinge": rf"{over}{drawn}\max\{{0,\ 1 - {right} + {wrong}\}}",
        "softmax": rf"-{over}\log\frac{{\exp({right})}}{{\exp({right}) + {drawn}\exp({wrong})}}",
    }
    return meanings[knobs["loss"]]


def _plus(name: str, number: int) -> str:
    return f"{name}{number:+d}" if number else name
