"""Pre-training acts as a regularisation that avoids overfitting on small data."""

from playground.claims import Arm, Claim, Lab, lower
from playground.claims.figures.tuning import accuracy, result


def gap(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy on the labelled texts minus that on unseen ones."""
    base, words = lab.base(arm, seed), lab.corpus(arm).tokenizer
    return result(base, words, arm, seed, on_training_texts=True).accuracy - accuracy(lab, arm, seed)


K106 = Claim(
    title="Pre-training as regularisation",
    source="Qiu et al., sec. 2.3, after Erhan et al. 2010",
    prediction="With 64 labels, the accuracy falls less from the training texts to unseen texts after pre-training.",
    otherwise="The gap is as large with a pre-trained start.",
    common=Arm(entry="MLM", corpus="reviews", steps=400, task="sentiment", train_size=64, tuning_steps=160),
    arms={"pre-trained": {"strategy": "full"}, "random": {"strategy": "random start"}},
    rules=(lower("pre-trained", "random"),),
    compute=gap,
    unit="gap in accuracy",
    seeds=8,
    scale="Both read each From Static to Contextualized Embedding0 times and learn the training texts by "
    "heart, so the gap is what is lost on new ones.",
)
