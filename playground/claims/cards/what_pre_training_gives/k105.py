"""A pre-trained model converges in fewer fine-tuning steps than a network with random weights."""

from playground.claims import Arm, Claim, Lab, lower
from playground.claims.figures.tuning import course

LOOKS = 40


def steps_needed(lab: Lab, arm: Arm, seed: int) -> float:
    """The first step at which the accuracy is 90 % of the last one."""
    accuracies = course(lab, arm, seed, LOOKS)
    first = next(k for k, value in enumerate(accuracies, 1) if value >= 0.9 * accuracies[-1])
    return first * arm.tuning_steps / LOOKS


K105 = Claim(
    title="Pre-training speeds up convergence",
    source="Qiu et al., sec. 2.3; Weng, GPT",
    prediction="The pre-trained model needs fewer steps to reach 90 % of its final accuracy.",
    otherwise="Both need the same number of steps.",
    common=Arm(entry="MLM", corpus="reviews", steps=400, task="sentiment", train_size=512, tuning_steps=160),
    arms={"pre-trained": {"strategy": "full"}, "random": {"strategy": "random start"}},
    rules=(lower("pre-trained", "random"),),
    compute=steps_needed,
    unit="steps",
    seeds=8,
    scale="The accuracy on 128 unseen texts is measured every 4 steps, and each is compared with its own last one. "
    "Guessing already reaches half of the final accuracy.",
)
