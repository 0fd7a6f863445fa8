"""Models of characters or of pieces of words read words that their training text never had."""

from playground.claims import Arm, Claim, Lab, equal
from playground.corpora.tinyworld.lexicon import AFFIXES, STEMS
from playground.corpora.tinyworld.presets.affixes import derive, held_out


def unknown(lab: Lab, arm: Arm, _seed: int) -> float:
    """The share of forms that the text never has, such as a known stem with a known ending, that hold an [UNK]."""
    tokenizer = lab.corpus(arm).tokenizer
    forms = [derive(stem, affix) for stem in STEMS.split() for affix in AFFIXES if held_out(stem, affix)]
    return sum(tokenizer.specials.unknown in tokenizer.encode_word(form) for form in forms) / len(forms)


K004 = Claim(
    title="Pieces leave no word unknown",
    source="Qiu et al., sec. 2.1; Weng, Byte Pair Encoding",
    prediction="Of the forms of a known stem that the text never has, a vocabulary of words knows none, those of "
    "pieces and of characters can spell all.",
    otherwise="Pieces leave some forms unknown.",
    common=Arm("LM", steps=0),
    arms={
        "words": {"corpus": "affixes"},
        "BPE": {"corpus": "affixes(tokenizer=bpe, vocab_size=200)"},
        "characters": {"corpus": "affixes(tokenizer=characters)"},
    },
    rules=(equal("words", 1.0), equal("BPE", 0.0), equal("characters", 0.0)),
    compute=unknown,
    unit="of the forms",
    scale="Whether a form can be read at all, which follows from the vocabulary; not how well a model then understands "
    "it. Invented stems with six affixes.",
    seeds=1,
)
