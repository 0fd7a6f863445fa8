"""Whether the answer is grammatical and agrees with the verdict of the review."""

from torch import Tensor

from playground.posttraining.answer_space import AnswerSpace
from playground.posttraining.reward import Reward, prompt_polarity, statement_polarity
from playground.posttraining.rewards.grammatical import grammatical


def consistent(space: AnswerSpace) -> Tensor:
    """1 where the answer is grammatical and as good or bad as the prompt, else 0; a prompt without verdict pays 0."""
    verdict = prompt_polarity(space).sign()[:, None, None]
    return grammatical(space) * (statement_polarity(space).sign() * verdict > 0)


CONSISTENT = Reward(
    name="consistent",
    aliases=("true", "faithful"),
    idea="1 for a grammatical answer that is as good or bad as the review says the film is, 0 for any other.",
    score=consistent,
)
