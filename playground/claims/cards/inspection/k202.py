"""The senses of a word are encoded in a subspace of few dimensions."""

from typing import Any

from playground.claims import Arm, Claim, Lab, higher


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy of the sense probe in so many dimensions of a space: "8 trained"."""
    columns: Any = lab.finding(arm, seed).tables[0].columns
    rows = zip(columns["dimensions"], columns["space"], columns["accuracy"], strict=True)
    return {f"{size} {space}": share for size, space, share in rows}[arm.figure]


K202 = Claim(
    title="Senses in few dimensions",
    source="Liu et al., sec. 7; Coenen et al., arXiv:1906.02715",
    prediction="Eight dimensions that are fitted to the senses, an eighth of all, are as accurate as all "
    "dimensions up to 0.02, and better than eight random ones.",
    otherwise="Fewer dimensions lose accuracy, or random ones are as good.",
    common=Arm("MLM", corpus="world", steps=500, instrument="sense subspace"),
    arms={
        "8 fitted": {"figure": "8 trained"}, "8 random": {"figure": "8 random"},
        "all 64": {"figure": "64 principal"},
    },
    rules=(higher("8 fitted", "all 64", by=-0.02), higher("8 fitted", "8 random", by=0.05)),
    compute=accuracy,
    unit="of the words",
    scale="A few words of two senses each, all in one probe. The dimensions are linear discriminants; the paper fits "
    "a map of distances to hundreds of senses.",
)  # fmt: skip
