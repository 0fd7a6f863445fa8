"""Pre-training gives a start from which fine-tuning finds a lower and wider optimum of the loss."""

from playground.claims import Arm, Claim, Lab, lower


def of_start(lab: Lab, arm: Arm, seed: int) -> float:
    """The loss on unseen texts, or its rise half a filter away, of one of the two starts."""
    name, _, start = arm.figure.partition(", ")
    number = next(n for n in lab.finding(arm, seed).numbers if n.name == name)
    return number.value if start == "pre-trained" else number.baselines["random start"]


LOSS, RISE = "loss on unseen texts", "rise half a filter away"

K201 = Claim(
    title="A wider valley",
    source="Liu et al., sec. 7; Hao et al., arXiv:1908.05620",
    prediction="From the pre-trained start the loss on unseen texts ends lower than from a random one, and it rises "
    "less around the end.",
    otherwise="The random start ends as low, or in as wide a valley.",
    common=Arm("RoBERTa", steps=600, one_model=True, instrument="loss landscape(points=3)"),
    arms={
        f"{short}, {start}": {"figure": f"{name}, {start}"}
        for name, short in ((LOSS, "loss"), (RISE, "rise"))
        for start in ("pre-trained", "random")
    },
    rules=(lower("loss, pre-trained", "loss, random"), lower("rise, pre-trained", "rise, random")),
    compute=of_start,
    unit="nats",
    scale="Sentiment with 64 texts and one pre-trained model of 600 steps for all seeds; the texts, the head and the "
    "random start vary. Four directions out of 150,000 are a small sample of a valley.",
)
