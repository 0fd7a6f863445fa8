"""Sequence models are easy to train; the transformer has less bias and overfits small data."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher, lower


def lead(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy of an LSTM less that of a transformer, both from a random start."""
    one, other = (lab.tuned(replace(arm, settings=f"kind={kind}"), seed).accuracy for kind in ("lstm", "transformer"))
    return one - other


K024 = Claim(
    title="Few texts and no pre-training",
    source="Qiu et al., sec. 2.2.3",
    prediction="From a random start an LSTM classifies better than a transformer with 64 labelled texts, and leads by "
    "less with 1,024.",
    otherwise="The transformer is as good with few texts, or its lag does not shrink.",
    common=Arm("LM", steps=0, task="sentiment", tuning_steps=200, figure="lead of the LSTM"),
    arms={"64 texts": {"train_size": 64}, "1,024 texts": {"train_size": 1024}},
    rules=(higher("64 texts", 0.0), lower("1,024 texts", "64 texts")),
    compute=lead,
    unit="of accuracy",
    scale="Two layers of width 64 that read from left to right, 200 steps with the same rates. The claim is about "
    "models of other sizes and rates tuned for each.",
)
