"""From the same number of tokens, replaced token detection gives a better model than masked language modelling, because
it learns from every word."""

from playground.claims import Arm, Claim, higher

K090 = Claim(
    title="RTD learns from less text",
    source="Liu et al., sec. 2.3; Weng, ELECTRA; Qiu et al., sec. 8.3; Clark et al., arXiv:2003.10555, sec. 3",
    prediction="After the same steps on the same text, RTD is more accurate than MLM when both are fine-tuned for "
    "sentiment with 64 labelled texts.",
    otherwise="MLM is as accurate or more.",
    common=Arm(corpus="world", task="sentiment", figure="accuracy"),
    arms={"RTD": {"entry": "RTD"}, "MLM": {"entry": "MLM"}},
    rules=(higher("RTD", "MLM"),),
    unit="accuracy",
    scale="At equal tokens and 300 steps; a step of RTD takes nearly twice the time. The generator begins at random "
    "too, so its replacements are easy to see at first, and this training is short.",
)
