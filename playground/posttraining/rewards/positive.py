"""Whether the answer is grammatical and says something good."""

from torch import Tensor

from playground.posttraining.answer_space import AnswerSpace
from playground.posttraining.reward import Reward, statement_polarity
from playground.posttraining.rewards.grammatical import grammatical


def positive(space: AnswerSpace) -> Tensor:
    """1 where the answer is grammatical and its words are positive in sum, "not" counted, else 0."""
    return grammatical(space) * (statement_polarity(space) > 0)


POSITIVE = Reward(
    name="positive",
    aliases=("polite", "sentiment"),
    idea='1 for a grammatical answer that says something good ("not dull" does), 0 for any other.',
    score=positive,
)
