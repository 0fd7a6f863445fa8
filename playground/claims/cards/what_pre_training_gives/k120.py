"""Larger models and larger corpora keep improving language models."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, lower

SIZES = {
    "width 64, much text": ("width=64", 0),
    "width 16, much text": ("width=16", 0),
    "width 64, little text": ("width=64", 20_000),
}


def loss(lab: Lab, arm: Arm, seed: int) -> float:
    """The held-out loss of a size of model and of text."""
    settings, tokens = SIZES[arm.figure]
    found = lab.facts(replace(arm, settings=settings, tokens=tokens), seed)["loss"]["held_out"]
    assert found is not None
    return found


K120 = Claim(
    title="Larger models, more text",
    source="Qiu et al., sec. 8.1; Weng, GPT-2 and GPT-3; Liu et al., sec. 4",
    prediction="The held-out loss is lower with width 64 than with 16, and lower with 500,000 tokens of text than with "
    "20,000.",
    otherwise="The smaller model or the smaller text is as good.",
    common=Arm("LM", corpus="world", steps=200),
    arms={name: {"figure": name} for name in SIZES},
    rules=(lower("width 64, much text", "width 16, much text"), lower("width 64, much text", "width 64, little text")),
    compute=loss,
    unit="nats per token",
    seeds=4,
    published="GPT-2 has 1.5 billion parameters, GPT-3 has 175 billion.",
    scale="Two sizes of each, in 200 steps. Much larger sizes cannot be trained here. "
    "The held-out text of the small corpus is another one.",
)
