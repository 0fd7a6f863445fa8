"""Every task can be treated as text to text: a decoder that writes the label as a word is as accurate as a classifier
on top of the model."""

from playground.claims import Arm, Claim, Lab, alike
from playground.claims.figures.benefit import accuracy_on
from playground.finetuning.tasks.sentiment import SENTIMENT
from playground.finetuning.tasks.text_to_text import as_text


def right(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of unseen texts whose label is right: written as a word and nothing else, or chosen by a classifier."""
    if arm.figure == "word":
        return accuracy_on(lab, arm, seed, as_text("sst2"), "exact match")
    return accuracy_on(lab, arm, seed, SENTIMENT)


K080 = Claim(
    title="Labels as words",
    source="Liu et al., sec. 2.3; Weng, T5; Raffel et al., arXiv:1910.10683, sec. 2.4",
    prediction="The share of right answers differs by at most 0.05 between written and classified labels; an invalid "
    "word counts as wrong.",
    otherwise="One of the two is better by more.",
    common=Arm(entry="T5 spans", corpus="reviews", one_model=True, train_size=128, tuning_steps=120),
    arms={"word": {"figure": "word"}, "class": {"figure": "class"}},
    compute=right,
    rules=(alike("word", "class", within=0.05),),
    unit="accuracy",
    scale="One model for all seeds, which draw other texts and heads. One task with two labels and 128 texts. A "
    "decoder must also learn to write nothing after the word.",
)
