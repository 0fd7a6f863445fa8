"""Features and adapters leave the pre-trained weights as they are; fine-tuning changes them."""

from playground.claims import Arm, Claim, Lab, equal, higher


def moved(lab: Lab, arm: Arm, seed: int) -> float:
    """The distance that the pre-trained weights have moved, all layers together."""
    return sum(lab.tuned(arm, seed).moved)


K162 = Claim(
    title="Which strategies change the weights",
    source="Liu et al., sec. 5.1 and 5.2",
    prediction="The weights move by exactly 0 for features and for adapters, and by more than 0 in full fine-tuning.",
    otherwise="A frozen weight moves.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="sentiment"),
    arms={
        "features": {"strategy": "feature-based"},
        "adapters": {"strategy": "adapters"},
        "full": {"strategy": "full"},
    },
    rules=(equal("features", 0.0), equal("adapters", 0.0), higher("full", 0.0, exact=True)),
    compute=moved,
    unit="distance",
    seeds=2,
    scale="This holds at any size. Adapters train copies of the norms, and the copies are theirs.",
)
