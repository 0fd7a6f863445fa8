"""Representations of multi-task learning adapt better to a new domain than those of BERT."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import result
from playground.finetuning.data.files import find_task
from playground.finetuning.run.base import replace_model
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import texts_for

FIRST, LABELS, STEPS = "similarity", 512, 160
"""The task that is learned first, with two others; its labelled texts, and its steps."""


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy on a new task with few labels, after other tasks or after pre-training alone."""
    base, words = lab.base(arm, seed), lab.corpus(arm).tokenizer
    if arm.figure:
        strategy, first = read(arm.figure), replace(base, tokenizer=words, task=find_task(FIRST))
        train = texts_for(base.learner, find_task(FIRST), [strategy], words)(LABELS, seed, "train")
        run = Finetuner(first, strategy, train, FinetuneConfig(steps=STEPS), seed)
        for step in range(STEPS):
            run.learn(step)
        base = replace(base, learner=replace_model(base.learner, run.model.requires_grad_(True)))
    return result(base, words, arm, seed).accuracy


K147 = Claim(
    title="Multi-task learning, then a new domain",
    source="Liu et al., sec. 5.3; Liu et al. 2019, arXiv:1901.11504 (MT-DNN), sec. 4.5",
    prediction="With 32 labels the topic task is more accurate after similarity, entailment and sentiment.",
    otherwise="The other tasks do not help, or they harm.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="topic", train_size=32),
    arms={"multi-task": {"figure": "multi-task(num_tasks=2)"}, "pre-trained": {"figure": ""}},
    rules=(higher("multi-task", "pre-trained"),),
    compute=accuracy,
    unit="accuracy",
    seeds=8,
    scale="A new task, not a new domain: the domains here share too few words for one model. The topic task and "
    "similarity both read stories. 512 labels of each of three tasks before. One pre-trained model for all seeds.",
    history=(
        "Seeds 0 and 1 were seen with paraphrases as the new task: both arms were at chance (0.48 to 0.53), so that "
        "nothing was measured; topics can be learned from few labels.",
    ),
)
