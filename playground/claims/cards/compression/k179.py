"""Sharing layers cuts parameters, but not the time of training and inference."""

import time
from dataclasses import replace
from statistics import median

from playground.claims import Arm, Claim, Lab, alike, equal, lower

ROUNDS = 60


def shared_over_own(lab: Lab, arm: Arm, seed: int) -> float:
    """A cost of the network whose layers share their weights over that of one whose layers have their own."""
    pair = [lab.learner(replace(arm, settings=f"{arm.settings}, layer_sharing={how}"), seed) for how in ("all", "none")]
    text = lab.base(replace(arm, settings=f"{arm.settings}, layer_sharing=none"), seed).held_out
    if arm.figure == "parameters":
        shared, own = (sum(p.numel() for p in one.model.parameters()) for one in pair)
        return shared / own
    if arm.figure == "operations":
        shared, own = (one.operations(one.batch(text, "cost")) for one in pair)
        return shared / own
    ratios = []
    for _ in range(ROUNDS):
        began = time.process_time()
        pair[0].model.features(text)
        middle = time.process_time()
        pair[1].model.features(text)
        ratios.append((middle - began) / (time.process_time() - middle))
    return median(ratios)


K179 = Claim(
    title="Sharing saves parameters, not time",
    source="Qiu et al., sec. 4.5.3, against Weng, ALBERT, and Liu et al., sec. 3.1 (1.7 times faster)",
    prediction="At equal depth and width there are fewer parameters, as many operations, and the seconds agree to 5 %.",
    otherwise="The network with shared layers also computes less or is faster.",
    common=Arm(entry="MLM", settings="layers=4", corpus="world", steps=0),
    arms={name: {"figure": name} for name in ("parameters", "operations", "seconds")},
    rules=(
        lower("parameters", 1.0, by=0.3, exact=True), equal("operations", 1.0), alike("seconds", 1.0, within=0.05),
    ),
    compute=shared_over_own,
    unit="of the same without sharing",
    published="1.7 times faster with 18 times fewer parameters, but for a smaller network; 3 times slower as xxlarge.",
    scale="The sources compare networks of different sizes; here depth and width are the same. Seconds of the "
    "processor, median of 60 rounds.",
)  # fmt: skip
