"""The frames that only a real model can fill: forward, guesses, loss; and inside one update what the step changed.

Every number is one that the model itself made of the very example that is drawn (see `glance.read`); nothing is
computed again here.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from playground.analysis.predictions import ForwardTrace, Prediction
from playground.trace.frames import attention

Record = Mapping[str, Any]

FORWARD = {"forward": "Forward", "predict": "Guesses", "loss": "Loss"}
UPDATE = {"gradient": "Gradient", "change": "Change", "after": "Guesses after"}


def numbers(record: Record, seen: ForwardTrace, model: str, layers: Sequence[int] | None = None) -> dict[str, Any]:
    """What a model says of the example of a record, ready for JSON; `model` names it and says how long it learned."""
    shapes = {matrix["name"]: matrix["shape"] for matrix in record["frames"][-1]["matrices"]}
    weights = {n: attention(w, shapes[n], layers) for n, w in seen.weights.items() if n in shapes}
    return {
        "model": model,
        "attention": weights,
        "guesses": [told(guess) for guess in seen.guesses],
        "losses": {name: round(value, 4) for name, value in seen.losses.items()},
        "captions": {"forward": _forward(seen, model), "predict": _guesses(seen), "loss": _loss(seen)},
    }


def told(guess: Prediction) -> dict[str, Any]:
    """A guess as data; probabilities to a ten-thousandth."""
    return {
        "place": guess.position,
        "question": guess.question,
        "reader": guess.reader,
        "truth": guess.truth,
        "probability": round(guess.probability, 4),
        "loss": round(guess.loss, 4),
        "top": [[word, round(share, 4)] for word, share in guess.top],
    }


def with_numbers(record: Record, made: Record, frames: Mapping[str, str] = FORWARD) -> dict[str, Any]:
    """The record with the frames that show a model's numbers, over the lanes and matrices of its last frame."""
    last = record["frames"][-1]
    more = [
        {"name": name, "title": title, "caption": made["captions"][name], "numbers": True}
        | {part: last[part] for part in ("lanes", "matrices")}
        for name, title in frames.items()
    ]
    return {**record, "frames": [*record["frames"], *more], "numbers": dict(made)}


def _forward(seen: ForwardTrace, model: str) -> str:
    if not seen.weights:
        return f"{model} hides its attention weights: the squares only say who may look at whom. Its guesses are real."
    return f"{model}: filled squares are attention, a row shares out 100 %; forbidden cells stay empty."


def _guesses(seen: ForwardTrace) -> str:
    if not seen.guesses:
        return "Nothing is scored here, so nothing is guessed."
    first = sum(bool(g.top) and g.top[0][0] == g.truth for g in seen.guesses)
    return f"The likeliest answer is the true one at {first} of {_count(seen.guesses, 'scored position')}."


def _loss(seen: ForwardTrace) -> str:
    if not seen.guesses:
        return "Nothing is scored here, so there is no loss."
    mean = fmean(g.loss for g in seen.guesses)
    parts = ", ".join(f"{name} {value:.2f}" for name, value in seen.losses.items())
    more = f" The loss of each question: {parts}." if len(seen.losses) > 1 else ""
    return f"Only scored positions cost something: {mean:.2f} nats on average over {len(seen.guesses)}.{more}"


def _count(things: Sequence[Any], what: str) -> str:
    return f"{len(things)} {what}" if len(things) == 1 else f"{len(things)} {what}s"
