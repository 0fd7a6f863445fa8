"""A pre-trained model knows semantic roles: which word is the agent and which the patient."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.comparison import value_or_baseline

K205 = Claim(
    title="Who did what to whom",
    source="Qiu et al., sec. 3.3.1; Ettinger, arXiv:1907.13528",
    prediction="A linear probe tells the role of a word better from the states than from the word alone, and better "
    "than from the states of a random encoder, in active and passive sentences.",
    otherwise="The word alone or a random encoder is as good.",
    common=Arm("MLM", corpus="roles", instrument="probing classifier(task=role)"),
    arms={
        "pre-trained": {"figure": "accuracy"}, "random encoder": {"figure": "random encoder"},
        "word alone": {"figure": "most frequent of the same word"},
    },
    rules=(higher("pre-trained", "random encoder", by=0.05), higher("pre-trained", "word alone", by=0.05)),
    compute=value_or_baseline,
    unit="of the words",
    scale="People act in both directions, so that a name does not tell its role, and a third of the sentences are "
    "passive, so that the position does not tell it either. The source tests predictions, not states.",
)  # fmt: skip
