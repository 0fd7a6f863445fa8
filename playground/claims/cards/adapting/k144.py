"""Further pre-training on text of the task's domain improves the task."""

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.pretraining import in_shared_words, pre_trained
from playground.claims.figures.tuning import result

START = Arm(entry="RoBERTa", steps=600, one_model=True)


def after_further_training(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy of the task after the model was trained on for the steps of the arm, on the corpus of the arm."""
    base = pre_trained(lab, arm, seed, start=lab.learner(START, seed))
    return result(base, in_shared_words(arm.corpus).tokenizer, arm, seed).accuracy


K144 = Claim(
    title="Further pre-training in the domain",
    source="Qiu et al., sec. 5.3, on Sun et al. 2019; Weng, ULMFiT",
    prediction="After 200 more steps on reviews the sentiment task is more accurate than after 200 on general text.",
    otherwise="More steps on general text help as much.",
    common=Arm(entry="RoBERTa", steps=200, task="sentiment", train_size=32),
    arms={"in the domain": {"corpus": "reviews"}, "general": {"corpus": "world"}},
    rules=(higher("in the domain", "general"),),
    compute=after_further_training,
    unit="accuracy",
    scale="Both start from one model of 600 steps on world, two fifths of which are reviews.",
)
