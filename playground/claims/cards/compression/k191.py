"""A model whose depth adapts to each text needs fewer layers with hardly a loss."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, lower

LAYERS = 2
"""Layers of the model."""


def against_whole(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy lost, or the share of the layers that a text takes."""
    small, whole = (lab.compressed(replace(arm, pipeline=name), seed) for name in (arm.pipeline, "uncompressed"))
    return whole.accuracy - small.accuracy if arm.figure == "accuracy lost" else small.layers_used / LAYERS


K191 = Claim(
    title="Easy texts leave early",
    source="Qiu et al., sec. 4.5.6; Liu et al., arXiv:2004.02178",
    prediction="At the default speed a text takes at most 0.9 of the layers on average, and at most 0.01 of the "
    "accuracy is lost.",
    otherwise="Few texts leave early, or they are answered wrongly.",
    common=Arm(
        entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", train_size=256,
        pipeline="early exit",
    ),
    arms={name: {"figure": name} for name in ("accuracy lost", "layers used")},
    rules=(lower("accuracy lost", 0.0, by=-0.01), lower("layers used", 1.0, by=0.1)),
    compute=against_whole,
    unit="(accuracy, share of the layers)",
    scale="Two layers, so that a text takes one or both; BERT has twelve. One pre-trained model for all seeds; "
    "labelled texts and heads vary.",
)  # fmt: skip
