"""How many bits a language model needs for a character of text, whatever its tokens are."""

from math import log

from playground.claims import Arm, Lab
from playground.claims.lab import corpus_of
from playground.tokenizing.words import join_words


def bits(lab: Lab, arm: "Arm", seed: int) -> float:
    """Bits for each character of the held-out text of `world`."""
    held_out_loss = lab.facts(arm, seed)["loss"]["held_out"]
    corpus, words = lab.corpus(arm), corpus_of("world", 0)
    assert held_out_loss is not None
    text = words.ids[words.held_out_from :]
    kept = text[words.tokenizer.specials.in_text(text)].tolist()
    characters = len(join_words([words.tokenizer.words[k] for k in kept]))
    share = len(corpus.ids[corpus.held_out_from :]) / characters
    return held_out_loss / log(2) * share
