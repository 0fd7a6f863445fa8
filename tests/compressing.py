"""A tiny fine-tuned model for the tests of compression, and methods whose training takes three steps."""

from functools import cache

import torch

from playground.compression import Pipeline, TaskData, methods, read_pipeline
from playground.compression.classifier import fine_tuned
from playground.finetuning import Base, find_task
from playground.training.data import BatchSampler
from tests.runs import learner_of, reviews

NAMES = tuple(methods())


@cache
def data(layers=2, seed=0, entry="RoBERTa", task="sentiment"):
    """Texts of a task and a base that has learnt for a few steps."""
    learner = learner_of(entry, model={"layers": layers, "width": 16, "heads": 4})
    feed = BatchSampler.of(reviews(), 16, 8, 0, learner.device, learner.objective.needs)
    for step in range(3):
        learner.learn(learner.batch(feed.at(step)))
    task, words = find_task(task), reviews().tokenizer
    base = Base(learner, feed.evaluation(8), tokenizer=words, task=task)
    train, test = (task.load(words, 24, seed, split) for split in ("train", "test"))
    return TaskData(base, task, train, test, seed, steps=6, batch_size=4)


@cache
def teacher(layers=2, task="sentiment"):
    """The base after fine-tuning."""
    known = data(layers, task=task)
    return fine_tuned(known.base, known.train, known.steps, known.batch_size, known.seed)


@cache
def of_kind(entry):
    """Texts, a base of another kind, and the same after fine-tuning."""
    known = data(entry=entry)
    return known, fine_tuned(known.base, known.train, 3, 4, 0)


def quick(line, **settings):
    """A pipeline whose methods train for three steps on few texts, at a size that makes a tiny model smaller."""
    small = {"unlabelled": 16, "embedding_size": 4, "rank": 4, "words": 40, "parts": 2, "turns": 2}
    chosen = []
    for method in read_pipeline(line).methods:
        known = {k.name for k in method.knobs}
        short = {name: 3 for name in known if name.endswith("steps")} | {k: v for k, v in small.items() if k in known}
        chosen.append(method.turn(short | {k: v for k, v in settings.items() if k in known}))
    return Pipeline(tuple(chosen))


@cache
def compressed(line, layers=2):
    """The tiny model after a quick pipeline."""
    return quick(line).apply(teacher(layers), data(layers))


def state(classifier):
    return {name: value.clone() for name, value in classifier.state_dict().items()}


def same(one, other):
    """Whether two states are equal to the bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
