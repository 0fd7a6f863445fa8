"""Next sentence prediction mixes two questions, whether the topic is the same and whether the texts are coherent; a
model can rely on the topic, which is easier."""

import torch

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.pairs import from_topic, pairs, right_pairs


def rejected(lab: Lab, arm: Arm, seed: int) -> float:
    """How many random second texts are rejected, all of the same topic as the first text or all of another one."""
    rows, rng = pairs(lab, arm, seed), lab.subject(arm, seed).rng("others", seed)
    others = from_topic(rows, arm.figure == "same topic", torch.rand(len(rows.ids), len(rows.ids), generator=rng))
    return right_pairs(lab, arm, seed, "NSP", others, "random")


K086 = Claim(
    title="NSP by topic",
    source="Liu et al., sec. 2.3; Qiu et al., sec. 3.1.5; Weng, ALBERT; From Static to Contextualized "
    "Embedding; Lan et al., arXiv:1909.11942",
    prediction="A model trained with NSP rejects random second texts of another topic far more often than random ones "
    "of the same topic.",
    otherwise="It rejects as many of both.",
    common=Arm(entry="NSP + MLM", corpus="stories", steps=1000, one_model=True),
    arms={"another topic": {"figure": "another topic"}, "same topic": {"figure": "same topic"}},
    compute=rejected,
    rules=(higher("another topic", "same topic", by=0.2),),
    unit="of the random second texts",
    scale="One model for all seeds, which draw other pairs. With six equally frequent topics the topic alone gives an "
    "accuracy of 1 - 1/12 = 0.917 at NSP, and 0.5 at SOP, at any size of model.",
)
