"""That BERT is bidirectional is its single most important contribution."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher

TASKS = ("entities", "question answering")


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The mean accuracy of two fine-tuned tasks."""
    return sum(lab.tuned(replace(arm, task=task), seed).accuracy for task in TASKS) / len(TASKS)


K022 = Claim(
    title="Both directions at once",
    source="Weng, BERT; Liu et al., sec. 3.1; arXiv:1810.04805, sec. 5.1",
    prediction="The same network learns entities and question answering better from MLM than from LM.",
    otherwise="LM is as good, or better.",
    common=Arm(corpus="world", task="entities", figure="mean accuracy"),
    arms={"MLM": {"entry": "MLM"}, "LM": {"entry": "LM"}},
    rules=(higher("MLM", "LM"),),
    compute=accuracy,
    scale="At 300 steps LM learns from every word and MLM from one in seven, which favours LM; this card "
    "cannot separate it from the direction.",
    also=("attention",),
)
