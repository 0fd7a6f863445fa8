"""Replaced token detection teaches most with a generator of a quarter to half of the model's width."""

from playground.claims import Arm, Claim, higher

K092 = Claim(
    title="A small generator is best",
    source="Weng, ELECTRA; Clark et al., arXiv:2003.10555, sec. 3.2",
    prediction="Fine-tuned for sentiment, the model with a generator of a quarter of its width is more accurate than "
    "that with one of its own width, and than that with one of an eighth.",
    otherwise="The width of the generator makes no difference, or another width is better.",
    common=Arm("RTD", corpus="world", steps=200, task="sentiment", figure="accuracy"),
    arms={
        "an eighth": {"settings": "generator_ratio=0.125"},
        "a quarter": {"settings": "generator_ratio=0.25"},
        "full width": {"settings": "generator_ratio=1"},
    },
    rules=(higher("a quarter", "full width"), higher("a quarter", "an eighth")),
    unit="accuracy",
    seeds=4,
    published="A generator of 1/4 to 1/2 of the size of the discriminator",
    scale="An eighth is 8 units here, and all generators have two layers. After 200 steps none of them is good, so the "
    "replacements of the largest are not yet too hard.",
)
