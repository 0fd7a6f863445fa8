"""BERT has many parameters that do not contribute much to its performance."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher

WAYS = {
    "half of the weights": "pruning(sparsity=0.5)",
    "half of the neurons": "neuron pruning(share=0.5)",
    "one layer for both": "layer sharing",
}


def kept(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy without some of the parameters less that of the whole model."""
    small, whole = (lab.compressed(replace(arm, pipeline=line), seed) for line in (arm.pipeline, "uncompressed"))
    return small.accuracy - whole.accuracy


K194 = Claim(
    title="Parameters that contribute little",
    source="From Static Embedding to Contextualized Embedding, BERT",
    prediction="Half of the weights, half of the neurons of the MLPs, or the weights of one of two layers can be "
    "removed with a loss of at most 0.02 each.",
    otherwise="One of the three loses more.",
    common=Arm(entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", train_size=256),
    arms={name: {"pipeline": line} for name, line in WAYS.items()},
    rules=tuple(higher(name, 0.0, by=-0.02) for name in WAYS),
    compute=kept,
    unit="accuracy kept",
    scale="One at a time, and each is trained afterwards, which the whole model is not. A model of two layers has less "
    "to spare than one of 24. One pre-trained model for all seeds; labelled texts and heads vary.",
)
