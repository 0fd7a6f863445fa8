"""A small language model of film reviews and some prompts, which the tests of post-training share."""

from functools import cache

from playground.corpora import open_corpus
from playground.finetuning.run.base import Base, base_of
from playground.posttraining import AnswerSpace, Setting, draw_prompts, find_reward
from playground.rng import generator
from playground.training.events import Started
from playground.training.loop import Run, train
from playground.zoo import entry_to_train
from playground.zoo.preset import FAST

STEPS = 80


@cache
def corpus():
    return open_corpus("reviews", tokens=40_000)


@cache
def base() -> Base:
    """An LM after few steps; nothing may train its model."""
    events = train(Run(FAST(entry_to_train("LM")), corpus(), 0, steps=STEPS, evaluate_every=STEPS))
    learner = next(event for event in events if isinstance(event, Started)).learner
    for _ in events:
        pass
    return base_of(learner, corpus())


@cache
def space(number: int = 2) -> AnswerSpace:
    return draw_prompts(corpus(), number, 7, generator(0, "prompts"))


@cache
def setting(reward: str = "grammatical", beta: float = 0.1) -> Setting:
    return Setting.of(base().learner.model.eval(), space(), find_reward(reward), beta)
