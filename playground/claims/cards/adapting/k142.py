"""One BERT with projected attention layers for each task matches a fine-tuned BERT for each, with about 7 times fewer
parameters for 8 tasks."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher

TASKS = 4
"""The task of the arm and the three others that share its model."""


def against_separate(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy less that of a model of its own, or the weights of a model for each task over those with PALs."""
    shared, own = (lab.tuned(replace(arm, strategy=name, figure=""), seed) for name in (arm.strategy, "full"))
    return TASKS * own.stored / shared.trainable / TASKS if arm.figure == "saving" else shared.accuracy - own.accuracy


K142 = Claim(
    title="PALs share one model",
    source="Qiu et al., sec. 5.3; Stickland and Murray, arXiv:1902.02671",
    prediction="The accuracy is at most 0.02 lower, and at least seven eighths of what sharing could save is saved.",
    otherwise="The shared model is less accurate, or its additions are large.",
    common=Arm(
        "RoBERTa", steps=600, one_model=True, task="sentiment", train_size=256, strategy="projected attention layers"
    ),
    arms={name: {"figure": name} for name in ("accuracy", "saving")},
    rules=(higher("accuracy", 0.0, by=-0.02), higher("saving", 7 / 8, exact=True)),
    compute=against_separate,
    unit="(difference of accuracies, share of the largest saving)",
    published="About 7 times fewer parameters.",
    scale="Four tasks share a model of two layers; a small attention is a larger part of it than of BERT. "
    "All tasks share the same number of steps, so that each learns from fewer. One pre-trained model for all seeds.",
)
