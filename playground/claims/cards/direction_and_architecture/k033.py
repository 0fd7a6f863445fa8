"""GPT-2 changed the model and its input, so its gain can come from either of the two."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.bits import bits

BEFORE = {"model": {"settings": "kind=lstm"}, "input": {}}
AFTER = {"model": {"settings": "kind=transformer"}, "input": {"corpus": "world(tokenizer=bpe, vocab_size=600)"}}


def saved(lab: Lab, arm: Arm, seed: int) -> float:
    """The bits a character that another model or another input saves."""
    one, other = (bits(lab, replace(arm, **change[arm.figure]), seed) for change in (BEFORE, AFTER))
    return one - other


K033 = Claim(
    title="The model or its input?",
    source="Liu et al., sec. 2.2; Radford et al. 2019, sec. 2.2",
    prediction="A transformer in place of an LSTM saves bits a character, and so does BPE in place of words.",
    otherwise="One of the two saves nothing, so that a gain comes from the other.",
    common=Arm("LM", corpus="world", steps=150),
    arms={name: {"figure": name} for name in BEFORE},
    compute=saved,
    rules=(higher("model", 0.0), higher("input", 0.0)),
    unit="bits a character",
    seeds=4,
    scale="The text is plain ASCII, so that BPE of characters is BPE of bytes. A row of 32 pieces holds less text than "
    "one of words. No word is unknown here, which is where pieces would gain most.",
)
