"""Language models of bytes still have a gap to those of words."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.bits import bits

K034 = Claim(
    title="Bytes against words",
    source="Weng, GPT-2; Radford et al. 2019, sec. 2.2",
    prediction="After as many steps on as many tokens the model of bytes needs at least 0.1 bits a character more.",
    otherwise="Both need as many bits.",
    common=Arm("LM", corpus="world"),
    arms={"bytes": {"corpus": "world(tokenizer=bytes, vocab_size=300)"}, "words": {"corpus": "world"}},
    rules=(higher("bytes", "words", by=0.1),),
    compute=bits,
    unit="bits a character",
    scale="A row of 32 tokens holds about five times as much text in words as in bytes, so that the model of bytes "
    "reads less text in as many steps. All words are known here; for an unknown one the model of words has no "
    "probability at all.",
)
