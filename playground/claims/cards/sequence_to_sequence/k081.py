"""A rating becomes a word when it is rounded to steps of 0.2, so 2.57 becomes 2.6 and little is lost."""

from playground.claims import Arm, Claim, Lab, alike
from playground.corpora.tinyworld.vocabulary import as_word


def rounding_error(lab: Lab, arm: Arm, seed: int) -> float:
    """The largest difference between a rating from 0 to 4, in steps of 0.01, and the word it is written as."""
    del lab, arm, seed
    ratings = [k / 100 for k in range(401)]
    return max(abs(float(as_word(rating)) - rating) for rating in ratings)


K081 = Claim(
    title="2.57 is written as 2.6",
    source="Liu et al., sec. 2.3; Raffel et al., arXiv:1910.10683, sec. 2.4",
    prediction="No rating differs from its word by more than half a step, 0.1.",
    otherwise="Some rating differs by more.",
    common=Arm(entry="text-to-text", corpus="text to text", steps=0),
    arms={"rating": {}},
    compute=rounding_error,
    rules=(alike("rating", 0.0, within=0.1, exact=True),),
    seeds=1,
    unit="of a rating from 0 to 4",
    scale="This is arithmetic, so no size of model changes it. Whether a model writes the right number is not "
    "measured.",
)
