"""Replacing modules by smaller ones with the loss of the task alone keeps 98 % and is 1.94 times faster."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher

WHOLE = "quantization(bits=32, embedding_bits=32)"
"""A pipeline that changes nothing."""


def against_whole(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy over that of the whole model, or the operations of the whole model over its own."""
    small, whole = (lab.compressed(replace(arm, pipeline=name), seed) for name in (arm.pipeline, WHOLE))
    return small.accuracy / whole.accuracy if arm.figure == "accuracy" else whole.operations / small.operations


K190 = Claim(
    title="Module replacing keeps 98 %",
    source="Qiu et al., sec. 4.5.5; Xu et al., arXiv:2002.02925",
    prediction="Theseus keeps more than 98 % of the accuracy and needs at most the 1.94th part of the operations.",
    otherwise="It keeps less, or computes more.",
    common=Arm(
        entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", train_size=256,
        pipeline="Theseus",
    ),
    arms={"accuracy": {"figure": "accuracy"}, "operations": {"figure": "operations"}},
    rules=(higher("accuracy", 0.98), higher("operations", 1.94)),
    compute=against_whole,
    unit="ratio",
    seeds=8,
    published="1.94 times faster, more than 98 % of the performance.",
    scale="One layer replaces two. Operations are counted, not seconds, in which such a small model gains less.",
)  # fmt: skip
