"""Fine-tuning is brittle: with the same settings, another random seed gives a very different result."""

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy, result

FAR = 1000
"""What is added to a seed for another head and another order of the same texts."""


def change(lab: Lab, arm: Arm, seed: int) -> float:
    """How far the accuracy is from full fine-tuning's: by another seed of the same, or by another method."""
    full = accuracy(lab, arm, seed, strategy="full")
    own = seed + FAR if arm.strategy == "full" else seed
    return abs(result(lab.base(arm, seed), lab.corpus(arm).tokenizer, arm, seed, own_seed=own).accuracy - full)


K150 = Claim(
    title="Fine-tuning depends on the seed",
    source="Qiu et al., sec. 5.3; Dodge et al., arXiv:2002.06305",
    prediction="On the same texts another seed changes the accuracy more than gradual unfreezing does.",
    otherwise="Seeds change less than methods do.",
    common=Arm(entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", train_size=100),
    arms={"another seed": {"strategy": "full"}, "another method": {"strategy": "gradual unfreezing"}},
    rules=(higher("another seed", "another method"),),
    compute=change,
    unit="accuracy",
    seeds=10,
    scale="The seed draws the head and the order of the texts; both are also what differs most in BERT.",
)
