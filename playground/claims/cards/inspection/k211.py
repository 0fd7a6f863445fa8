"""A few words that are put before any text make a pre-trained model fail on most of a class."""

from playground.claims import Arm, Claim, lower
from playground.claims.figures.comparison import value_or_baseline

K211 = Claim(
    title="Universal triggers",
    source="Liu et al., sec. 7; Qiu et al., sec. 7.7; Wallace et al., arXiv:1908.07125",
    prediction="A trigger of three words, found on other texts, takes at least 0.3 of the accuracy on one class, and "
    "at least 0.1 more than three random words.",
    otherwise="The accuracy stays, or random words do as much.",
    common=Arm("RoBERTa", steps=600, one_model=True, instrument="universal triggers"),
    arms={
        "trigger": {"figure": "fine-tuned"}, "nothing": {"figure": "nothing"},
        "random words": {"figure": "random words"},
    },
    rules=(lower("trigger", "nothing", by=0.3), lower("trigger", "random words", by=0.1)),
    compute=value_or_baseline,
    unit="of the texts of a class",
    scale="Words of praise, blame and negation are left out of the search. One pre-trained model for all seeds; texts "
    "and classifiers vary.",
)  # fmt: skip
