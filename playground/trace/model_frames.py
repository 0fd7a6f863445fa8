"""The frames of a real model: forward, predictions, loss, and what one update changed, of one forward pass."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from playground.analysis.predictions import ForwardTrace, Prediction
from playground.trace.frames import attention
from playground.trace.json_schema import Guess, Numbers

Record = Mapping[str, Any]

FORWARD = {"forward": "Forward", "predict": "Guesses", "loss": "Loss"}
UPDATE = {"gradient": "Gradient", "change": "Change", "after": "Guesses after"}


def numbers(record: Record, seen: ForwardTrace, model: str, layers: Sequence[int] | None = None) -> Numbers:
    """A forward pass over the batch of a record, ready for JSON; `model` names the model and its training steps."""
    shapes = {matrix["name"]: matrix["shape"] for matrix in record["frames"][-1]["matrices"]}
    weights = {n: attention(w, shapes[n], layers) for n, w in seen.weights.items() if n in shapes}
    return {
        "model": model,
        "attention": weights,
        "guesses": [as_data(guess) for guess in seen.guesses],
        "losses": {name: round(value, 4) for name, value in seen.losses.items()},
        "captions": _captions(seen, model),
    }


def as_data(guess: Prediction) -> Guess:
    """A prediction as data; probabilities to a ten-thousandth."""
    data: Guess = {
        "position": guess.position,
        "target": guess.target,
        "reader": guess.reader,
        "truth": guess.truth,
        "probability": round(guess.probability, 4),
        "loss": round(guess.loss, 4),
        "unit": guess.unit,
        "top": [[word, round(share, 4)] for word, share in guess.top],
    }
    return data if guess.measure == "probability" else {**data, "measure": guess.measure}


def with_numbers(record: Record, made: Record, frames: Mapping[str, str] = FORWARD) -> dict[str, Any]:
    """The record with the frames that show a model's numbers, over the lanes and matrices of its last frame."""
    last = record["frames"][-1]
    more = [
        {"name": name, "title": title, "caption": made["captions"][name], "numbers": True}
        | {part: last[part] for part in ("lanes", "matrices")}
        for name, title in frames.items()
    ]
    return {**record, "frames": [*record["frames"], *more], "numbers": dict(made)}


def _captions(seen: ForwardTrace, model: str) -> dict[str, str]:
    forward = f"{model}: filled squares are attention weights; each query's row sums to 100 %, masked keys stay empty."
    if not seen.weights:
        forward = f"{model} returns no attention weights: the squares show the attention mask only."
    if seen.unscored:
        return {"forward": forward, "predict": seen.unscored, "loss": seen.unscored}
    if not seen.guesses:
        empty = "No position is scored, so there is no {}."
        return {"forward": forward, "predict": empty.format("prediction"), "loss": empty.format("loss")}
    number = len(seen.guesses)
    right = sum(guess.right for guess in seen.guesses)
    positions = f"{number} scored position{'' if number == 1 else 's'}"
    mean = f"{fmean(g.loss for g in seen.guesses):.2f} {seen.guesses[0].unit}"
    loss = f"The loss is the mean over {positions}: {mean}."
    if seen.averaged_over:
        least, most = (f"{bound(g.weight for g in seen.guesses):.2f}" for bound in (min, max))
        weight, trained = f"{least} to {most}" if least != most else most, seen.losses[seen.guesses[0].target]
        loss = (
            f"Each of the {positions} counts 1/t = {weight} times, and the sum is divided by all "
            f"{seen.averaged_over} words: {trained:.2f} {seen.guesses[0].unit} a word."
        )
    if len(seen.losses) > 1:
        loss += f" By target: {', '.join(f'{name} {value:.2f}' for name, value in seen.losses.items())}."
    first = "most probable" if seen.guesses[0].measure == "probability" else "nearest"
    predict = f"The {first} answer is the true one at {right} of {positions}; the mean loss is {mean}."
    return {"forward": forward, "predict": predict, "loss": loss}
