"""A translator whose encoder begins with the weights of BERT is better, above all on another domain."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.languages import alone, trained
from playground.corpora.tinyworld.tasks.translations import polar_pairs, translated
from playground.finetuning.apply.add_decoder import with_decoder
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.files import find_task
from playground.finetuning.data.task import Split, Task
from playground.finetuning.run.base import base_of
from playground.finetuning.run.measure import result_of
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import texts_for

TESTS = 200
"""Sentences that are translated in each domain."""

IN, OUT = "in the domain", "out of the domain"


def others(count: int, seed: int, split: Split) -> list[Item]:
    """Sentences that are not of reviews, with their translations."""
    reviews = {tuple(one) for (one, _), _ in polar_pairs(300, 0, split)}
    words = {word for one in reviews for word in one}
    pairs = [(one, other) for one, other in translated(3 * count, seed, split) if not set(one) <= words]
    return [Item((one,), other) for one, other in pairs[:count]]


def reviews(count: int, seed: int, split: Split) -> list[Item]:
    """Sentences of reviews with their translations."""
    return [Item((one,), other) for (one, other), _ in polar_pairs(count, seed, split)]


def accuracies(lab: Lab, arm: Arm, seed: int, strategy: str) -> dict[str, float]:
    """The accuracy per word of a translator that was trained on sentences that are not of reviews, in each domain."""
    corpus, plan = lab.corpus(arm), read(strategy)
    learner = trained(lab, arm, seed, alone(corpus, 0))
    base = base_of(with_decoder(learner, corpus.tokenizer, None, None), alone(corpus, 0))
    known: dict[str, Task] = {IN: replace(find_task(arm.task), items=others)}
    known[OUT] = replace(known[IN], items=reviews)
    base = replace(base, tokenizer=corpus.tokenizer, task=known[IN])
    texts = {name: texts_for(base.learner, task, [plan], corpus.tokenizer) for name, task in known.items()}
    run = Finetuner(base, plan, numbered(texts[IN](arm.train_size, seed, "train"), base),
                    FinetuneConfig(steps=arm.tuning_steps), seed)  # fmt: skip
    for step in range(arm.tuning_steps):
        run.learn(step)
    return {
        name: result_of(run, numbered(load(TESTS, seed, "test"), base), 0.0).accuracy for name, load in texts.items()
    }


def gain(lab: Lab, arm: Arm, seed: int) -> float:
    """How much more accurate the translator is with a pre-trained encoder than from a random start."""
    own, control = (
        lab.once(("translator", name, seed), lambda name=name: accuracies(lab, arm, seed, name))
        for name in ("full", "random start")
    )
    return own[arm.figure] - control[arm.figure]


K153 = Claim(
    title="A translator that begins as BERT",
    source="Qiu et al., sec. 7.5; Clinchant et al., arXiv:1909.12744",
    prediction="With a pre-trained encoder more words are right in the domain of training, and the gain is larger on "
    "reviews, none of which was in the training.",
    otherwise="There is no gain, or it is as large in both domains.",
    common=Arm("MLM", corpus="parallel", task="translation", train_size=512, tuning_steps=200),
    arms={name: {"figure": name} for name in (IN, OUT)},
    rules=(higher(IN, 0.0), higher(OUT, IN)),
    compute=gain,
    unit="gain in accuracy per word",
    scale="The right words before each are given. MLM has read the first language alone, reviews among it; most words "
    "of reviews are never seen in translation, so that no translator can write them.",
)
