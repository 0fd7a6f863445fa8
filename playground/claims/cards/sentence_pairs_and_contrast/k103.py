"""Segment embeddings are needed for pairs of texts and not for single sentences."""

from copy import deepcopy
from dataclasses import replace

import torch

from playground.claims import Arm, Claim, Lab, alike, higher
from playground.compression.classifier import fine_tuned, score_all
from playground.finetuning.comparing.compare import TEST_TEXTS
from playground.finetuning.data.files import find_task
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import texts_for


def loss_of_accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy that the fine-tuned model loses when all its segment embeddings are set to 0."""
    task, words = find_task(arm.task), lab.corpus(arm).tokenizer
    base = replace(lab.base(arm, seed), task=task)
    load = texts_for(base.learner, task, [read("full")], words)
    model = fine_tuned(base, load(arm.train_size, seed, "train"), arm.tuning_steps, 16, seed)
    without, test = deepcopy(model), load(TEST_TEXTS, seed, "test")
    with torch.no_grad():
        for name, weight in without.model.named_parameters():
            if "segment" in name:
                weight.zero_()
    whole, cut = (test.answer.measure(score_all(each, test), test.labels)["accuracy"] for each in (model, without))
    return whole - cut


K103 = Claim(
    title="Segment embeddings are for pairs",
    source="Weng, BERT; From Static to Contextualized Embedding, BERT",
    prediction="Without its segment embeddings the fine-tuned model loses at least 0.02 of the accuracy on pairs "
    "(entailment), and at most 0.01 either way on single sentences (sentiment).",
    otherwise="Pairs lose nothing, or single sentences lose as much.",
    common=Arm("MLM", settings="segments=2", corpus="world", one_model=True, train_size=256, tuning_steps=120),
    arms={"pairs": {"task": "entailment"}, "single sentences": {"task": "sentiment"}},
    rules=(higher("pairs", 0.0, by=0.02), alike("single sentences", 0.0, within=0.01)),
    compute=loss_of_accuracy,
    unit="accuracy lost",
    scale="Pre-training has single texts only, so that the second segment is learned in fine-tuning; in BERT it has "
    "half of all text. One pre-trained model for all seeds; labelled texts and heads vary.",
)
