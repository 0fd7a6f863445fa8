"""Pre-trained models know the agreement of subject and verb, also past a noun of the other number."""

from playground.claims import Arm, Claim, higher

K204 = Claim(
    title="Subject and verb",
    source="Qiu et al., sec. 3.3.2; Linzen et al., arXiv:1611.01368",
    prediction="LM prefers the right form of the verb in at least 0.9 of the sentences without a noun in between, and "
    "more often than not with one.",
    otherwise="It is right in less than 0.9, or a noun in between brings it below a half.",
    common=Arm("LM", corpus="agreement", instrument="agreement"),
    arms={name: {"figure": name} for name in ("0 attractors", "1 attractor")},
    rules=(higher("0 attractors", 0.9), higher("1 attractor", 0.5)),
    unit="of the verbs",
    scale="The text is made of such sentences, so the model has far more examples of agreement than one of real text, "
    "and a far smaller vocabulary.",
)
