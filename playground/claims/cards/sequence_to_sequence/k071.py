"""Of the noises of BART, text infilling together with shuffled sentences is the best."""

from statistics import fmean

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy

SINGLE = ("BART infilling", "sentence permutation", "token masking", "token deletion", "document rotation")


def both_tasks(lab: Lab, arm: Arm, seed: int) -> float:
    """The mean accuracy of understanding (topic) and generation (the words of a summary)."""
    return fmean(accuracy(lab, arm, seed, task=task) for task in ("topic", "summary"))


K071 = Claim(
    title="The best noise of BART",
    source="Liu et al., sec. 2.3; Weng, BART; Lewis et al., arXiv:1910.13461, sec. 4.3",
    prediction="On the mean of topic and summary the two together are more accurate than each of five noises alone.",
    otherwise="One noise alone is as good.",
    common=Arm(corpus="summaries", steps=120, one_model=True, task="topic", tuning_steps=40),
    arms={"both": {"entry": "BART mixture"}} | {name: {"entry": f"{name} objective"} for name in SINGLE},
    compute=both_tasks,
    rules=tuple(higher("both", name) for name in SINGLE),
    seeds=4,
    unit="mean of accuracy and share of the words",
    scale="Two tasks, 120 steps, and one model of each kind for all seeds, which draw other texts and heads. Whole "
    "sentences are shuffled, as in BART, not the words within them.",
)
