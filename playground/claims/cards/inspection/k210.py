"""Attention weights need not explain a prediction: others give the same one, and gradients disagree."""

from playground.claims import Arm, Claim, lower

K210 = Claim(
    title="Is attention an explanation?",
    source="Qiu et al., sec. 8; Jain and Wallace, arXiv:1902.10186",
    prediction="With permuted weights half of the predictions change by less than 0.1, and attention ranks the words "
    "otherwise than gradients do: the rank correlation is below 0.5.",
    otherwise="Permuted weights change most predictions, or attention and gradients agree.",
    common=Arm("MLM", corpus="world", instrument="attention as explanation"),
    arms={
        "median change": {"figure": "median change of the prediction"},
        "correlation": {"figure": "attention against gradients"},
    },
    rules=(lower("median change", 0.0, by=-0.1), lower("correlation", 0.0, by=-0.5)),
    unit="(total variation, Kendall's tau)",
    scale="All heads of two layers are permuted at once; the paper permutes one layer of attention over an LSTM, "
    "whose states already hold the neighbours.",
)
