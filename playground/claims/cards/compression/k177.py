"""Sharing all layers does not hurt much, about 2 %; sharing attention costs less than sharing the MLPs."""

from playground.claims import Arm, Claim, Rule, higher
from playground.claims.figures.tuning import over_tasks

K177 = Claim(
    title="Shared layers cost little",
    source="From Static to Contextualized Embedding, ALBERT; Weng, ALBERT; Lan et al., arXiv:1909.11942, table 4",
    prediction="Shared layers lose at most 0.02 of the mean accuracy; shared attention beats shared MLPs.",
    otherwise="Shared layers lose more, or it does not matter what is shared.",
    common=Arm(entry="MLM", corpus="world", task="sentiment"),
    arms={name: {"settings": f"layer_sharing={name}"} for name in ("none", "all", "attention", "mlp")},
    rules=(Rule("all", "none", -0.02, 1.0), higher("attention", "mlp")),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    seeds=4,
    published="Sharing all removes 77M parameters and costs about 2 %; sharing attention costs nearly nothing.",
    scale="Two layers share; in BERT it is twelve.",
)
