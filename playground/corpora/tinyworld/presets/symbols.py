"""A new code in every document, which only the document itself explains (in-context learning, arXiv:2005.14165)."""

from playground.corpora.tinyworld.grammar import Form, Ways
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import even

KEYS = ("bax dov fep gim huk jal", "kez lor mip nub pag rof", "sib tud vax wem yol zan")
"""Three kinds of keys, so that no two keys of a document are the same."""

VALUES = "alpha beta gamma delta"


def code() -> Ways:
    """Keys and values without any meaning of their own."""
    keys = {f"Key-{k}": even(Form(word, "NOUN", "sg") for word in words.split()) for k, words in enumerate(KEYS, 1)}
    return {**keys, "Value": even(Form(word, "NOUN", "sg") for word in VALUES.split())}


SYMBOLS = Preset(
    name="symbols",
    aliases=("in-context learning",),
    tokens=300_000,
    apart=True,
    idea="Each document draws what three code words mean, says it once, and then says it again and again.",
    rules="""
Document = Code
Code = K1 := Key-1 V1 := Value K2 := Key-2 V2 := Value K3 := Key-3 V3 := Value Say-1 Say-2 Say-3 Again Again Again Again
Say-1 = NP[$K1] VP[is] NP[$V1] .
Say-2 = NP[$K2] VP[is] NP[$V2] .
Say-3 = NP[$K3] VP[is] NP[$V3] .
Again = Say-1 | Say-2 | Say-3
""",
    words=code,
)
