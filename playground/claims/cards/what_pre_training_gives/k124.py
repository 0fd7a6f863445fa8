"""A model pre-trained on texts of a domain is better at the tasks of this domain."""

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.pretraining import in_shared_words, pre_trained
from playground.claims.figures.tuning import result


def review_minus_story(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy on the task about reviews minus that on the task about stories."""
    base, words = pre_trained(lab, arm, seed), in_shared_words(arm.corpus).tokenizer
    reviews, stories = (
        result(base, words, Arm(task=task, train_size=arm.train_size), seed) for task in ("sentiment", "topic")
    )
    return reviews.accuracy - stories.accuracy


K124 = Claim(
    title="A model of the task's domain",
    source="Qiu et al., sec. 4.4, BioBERT and SciBERT",
    prediction="Pre-trained on reviews a model is better at sentiment, on stories at the topic of a story.",
    otherwise="Both tasks gain as much from either corpus.",
    common=Arm(entry="MLM", steps=300, task="sentiment", train_size=32),
    arms={"reviews": {"corpus": "reviews"}, "stories": {"corpus": "stories"}},
    rules=(higher("reviews", "stories"),),
    compute=review_minus_story,
    unit="accuracy of sentiment minus topic",
    scale="Both models have the vocabulary of the corpus world, and half of their words never occur in training. "
    "Real domains share far more.",
)
