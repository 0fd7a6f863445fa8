"""Numbers as words."""

STEPS = 5
"""Words for each whole number: 0.2, 0.4 and so on."""


def as_word(number: float) -> str:
    """The nearest of 0.0, 0.2, 0.4 ... as a word, so 2.57 is "2.6" (T5, arXiv:1910.10683, sec. 2.4).

    The survey says that the score is rounded up; T5 takes the nearest, and 2.45 tells the two apart.
    """
    return f"{round(number * STEPS) / STEPS:.1f}"


def answer(said: str) -> str:
    """A typed answer: a number as the nearest word for it, all else as it stands."""
    try:
        return as_word(float(said))
    except (ValueError, OverflowError):
        return said
