"""K034: a model of bytes needs more bits for a text than a model of words."""

from math import log
from typing import TYPE_CHECKING

from playground.claims import Arm, Claim, higher
from playground.tokenizing.words import join_words

if TYPE_CHECKING:
    from playground.claims.lab import Lab


def bits(lab: "Lab", arm: Arm, seed: int) -> float:
    """Bits for each character of the held-out text."""
    held_out_loss = lab.facts(arm, seed)["loss"]["held_out"]
    corpus, words = lab.corpus(arm), lab.corpus(COMMON)
    assert held_out_loss is not None
    text = words.ids[words.held_out_from :]
    kept = text[words.tokenizer.specials.in_text(text)].tolist()
    characters = len(join_words([words.tokenizer.words[k] for k in kept]))
    share = len(corpus.ids[corpus.held_out_from :]) / characters
    return held_out_loss / log(2) * share


COMMON = Arm("LM", corpus="world")

K034 = Claim(
    name="K034",
    title="Bytes against words",
    group="Direction and architecture",
    statement="Language models of bytes still have a gap to those of words.",
    source="Weng, GPT-2; Radford et al. 2019, sec. 2.2",
    prediction="After as many steps on as many tokens the model of bytes needs at least 0.1 bits a character more.",
    otherwise="Both need as many bits.",
    common=COMMON,
    arms={"bytes": {"corpus": "world(tokenizer=bytes, vocab_size=300)"}, "words": {"corpus": "world"}},
    rules=(higher("bytes", "words", by=0.1),),
    compute=bits,
    unit="bits a character",
    scale="A row of 32 tokens holds about five times as much text in words as in bytes, so that the model of bytes "
    "reads less text in as many steps. All words are known here; for an unknown one the model of words has no "
    "probability at all.",
)
