"""A pre-trained model reaches a higher accuracy on a task than the same network with random weights."""

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy


def gain(lab: Lab, arm: Arm, seed: int) -> float:
    """How much accuracy the pre-trained start has over the random one."""
    return accuracy(lab, arm, seed) - accuracy(lab, arm, seed, strategy="random start")


K104 = Claim(
    title="Pre-trained or random weights",
    source="Liu et al., sec. 3.1; Qiu et al., sec. 2.3 and 2.4",
    prediction="With 16, 64, 256 and 1,024 labelled texts, fine-tuning beats training from scratch on the same texts.",
    otherwise="With one of these numbers of labels, training from scratch is as accurate.",
    common=Arm(entry="MLM", corpus="reviews", steps=400, task="sentiment", tuning_steps=160),
    arms={f"{n:,} labels": {"train_size": n} for n in (16, 64, 256, 1024)},
    rules=tuple(higher(f"{n:,} labels", 0.0) for n in (16, 64, 256, 1024)),
    compute=gain,
    unit="gain in accuracy",
    seeds=8,
    scale="The corpus has short reviews only, and the task is about such reviews; a broad corpus needs more steps.",
)
