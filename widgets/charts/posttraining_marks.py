"""Marks and titles of the charts of post-training, of which there are live and still ones."""

from widgets.charts.legend import Mark
from widgets.design_tokens import GREY

FRONTIER = Mark("exact frontier", GREY, "dashed", width=2)
OPTIMUM = Mark("optimum at this beta", GREY, "solid", "star", width=0)
PROXY = "dashed"
"""How a proxy is drawn; the true reward is solid."""

TITLES = {
    "kl": "KL to the optimum: KL(policy || optimum)", "reward": "Mean reward",
    "goodhart": "Mean reward: true (solid) and proxy (dashed)", "plane": "Reward over KL(policy || reference)",
    "forgetting": "Forgetting: rise of the pre-training loss",
}  # fmt: skip
