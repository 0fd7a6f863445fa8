"""The language model that is post-trained where none is named."""

from collections.abc import Callable

from playground.finetuning.run.base import Base, from_checkpoint
from playground.training.store.ready_made import build, load, ready_made

PRETRAINING_STEPS = 60
"""Steps of the model that is made where none is named: few, so that it still makes mistakes."""


def small_base(corpus: str, steps: int = PRETRAINING_STEPS, after_each: Callable[[], object] = lambda: None) -> Base:
    """An LM of a corpus after so many steps, which is trained once and kept; `after_each` is called after each step."""
    made = ready_made("LM", corpus, steps=steps)
    for _ in build(made):
        after_each()
    return from_checkpoint(load(made))
