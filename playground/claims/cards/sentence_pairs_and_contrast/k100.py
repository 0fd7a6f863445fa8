"""A pre-training task should be hard but possible; very easy and impossible ones teach little."""

from playground.claims import Arm, Claim, higher

K100 = Claim(
    title="Neither too easy nor impossible",
    source="Qiu et al., sec. 3.1",
    prediction="Fine-tuned for sentiment, a model that predicted 15 % hidden words is more accurate than models that "
    "predicted 1 % or 80 %.",
    otherwise="One of the extremes is as good.",
    common=Arm("MLM", corpus="world", steps=200, task="sentiment", figure="accuracy"),
    arms={f"{share:.0%}": {"settings": f"mask_ratio={share:g}"} for share in (0.01, 0.15, 0.8)},
    rules=(higher("15%", "1%"), higher("15%", "80%")),
    unit="accuracy",
    seeds=4,
    scale="The share of hidden words also sets how many are predicted in a step, so that 1 % is easy and has few "
    "answers. That the task has much data is not tested. 200 steps.",
)
