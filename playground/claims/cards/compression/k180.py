"""A wide network with shared layers has fewer parameters than BERT and better results, but is slower."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher, lower
from playground.claims.figures.tuning import over_tasks

WIDE = "layers=4, width=112, layer_sharing=all, embedding_size=32"


def against_narrow(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy of the wide network less that of the narrow one, or its parameters or operations over those."""
    narrow, wide = replace(arm, figure=""), replace(arm, figure="", settings=WIDE)
    if arm.figure == "accuracy":
        return over_tasks(lab, wide, seed) - over_tasks(lab, narrow, seed)
    text = lab.base(narrow, seed).held_out
    small, large = (lab.learner(each, seed) for each in (narrow, wide))
    if arm.figure == "parameters":
        count, own = (sum(p.numel() for p in one.model.parameters()) for one in (large, small))
        return count / own
    return large.operations(large.batch(text, "cost")) / small.operations(small.batch(text, "cost"))


K180 = Claim(
    title="Wider, with shared layers",
    source="From Static Embedding to Contextualized Embedding, ALBERT; Lan et al., arXiv:1909.11942, table 2",
    prediction="With at most 0.8 of the parameters the mean accuracy of three tasks is higher, and a text takes at "
    "least twice as many operations.",
    otherwise="It is no better, has as many parameters, or computes as little.",
    common=Arm("MLM", settings="layers=4", corpus="world", steps=200, task="sentiment"),
    arms={name: {"figure": name} for name in ("accuracy", "parameters", "operations")},
    rules=(
        higher("accuracy", 0.0), lower("parameters", 1.0, by=0.2, exact=True), higher("operations", 2.0, exact=True),
    ),
    compute=against_narrow,
    unit="(difference, ratios to the narrow network)",
    seeds=4,
    published="ALBERT xxlarge: 70 % of the parameters of BERT large, 3.5 % better, 3 times slower.",
    scale="112 instead of 64 numbers, where ALBERT is four times as wide; in four times the width one layer has more "
    "weights than four narrow ones. That 12 layers are as good as 24 is left out.",
)  # fmt: skip
