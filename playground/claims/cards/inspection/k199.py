"""A linear map of the states makes their distances those of the words in the syntax tree."""

from playground.claims import Arm, Claim, Lab, higher


def arcs(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of gold arcs that are found, by the probe or by what it is compared with."""
    number = next(n for n in lab.finding(arm, seed).numbers if n.name == "UUAS")
    return number.value if arm.figure == "structural probe" else number.baselines[arm.figure]


K199 = Claim(
    title="Syntax trees in distances",
    source="Liu et al., sec. 7; Hewitt and Manning 2019, N19-1419",
    prediction="The structural probe finds more arcs of the gold trees than a chain of neighbours, than the same "
    "probe of a random encoder, and than that of the embeddings.",
    otherwise="One of these finds as many.",
    common=Arm("MLM", corpus="world", instrument="structural probe"),
    arms={name: {"figure": name} for name in ("structural probe", "random encoder", "embeddings", "chain")},
    rules=tuple(higher("structural probe", other, by=0.05) for other in ("chain", "random encoder", "embeddings")),
    compute=arcs,
    unit="of the arcs (UUAS)",
    scale="Short sentences of our grammar, whose trees a word and its neighbours often give away, so that the "
    "embeddings are a strong baseline.",
)
