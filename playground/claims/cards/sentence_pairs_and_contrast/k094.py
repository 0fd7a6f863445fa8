"""The discriminator of replaced token detection has better representations than its generator, which predicts hidden
words."""

from dataclasses import replace
from statistics import fmean

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import TASKS, result
from playground.finetuning.run.base import base_of
from playground.interop.generator import take_generator
from playground.objectives import find_objective
from playground.training.train_state import TrainState

GENERATOR = "generator"


def of_features(lab: Lab, arm: Arm, seed: int) -> float:
    """The mean accuracy over tasks of a head on the frozen states of one of the two networks."""
    learner, corpus = lab.learner(arm, seed), lab.corpus(arm)
    if arm.figure == GENERATOR:
        shape, weights = take_generator(learner.model.shape, learner.model.state_dict())
        entry = replace(learner.entry, model=shape, objective=find_objective("MLM"))
        learner = TrainState.new(entry, corpus.tokenizer.words, seed, learner.device)
        learner.model.load_state_dict(weights)
    base = base_of(learner, corpus)
    return fmean(result(base, corpus.tokenizer, replace(arm, task=task), seed).accuracy for task in TASKS)


K094 = Claim(
    title="Discriminator or generator",
    source="Liu et al., sec. 3.1",
    prediction="As features for three tasks, the states of the discriminator are more accurate on average than those "
    "of a generator of the same size.",
    otherwise="The states of the generator are as good.",
    common=Arm(
        "RTD", settings="generator_ratio=1", corpus="world", steps=200, task="sentiment", strategy="feature-based"
    ),
    arms={name: {"figure": name} for name in ("discriminator", GENERATOR)},
    rules=(higher("discriminator", GENERATOR),),
    compute=of_features,
    unit="mean accuracy of three tasks",
    seeds=4,
    scale="Sentiment, topic and part of speech. Both networks have learned for 200 steps and share their embeddings.",
)
