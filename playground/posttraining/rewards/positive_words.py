"""How many positive words the answer has: a proxy that a policy can game."""

from torch import Tensor

from playground.posttraining.answer_space import AnswerSpace
from playground.posttraining.reward import Reward, polarities


def positive_words(space: AnswerSpace) -> Tensor:
    """The number of positive words of the answer, 0 to 2, whatever they say together."""
    positive = (polarities(space)[space.words] > 0).double()
    return (positive[:, None] + positive).expand(len(space.prompts), -1, -1)


POSITIVE_WORDS = Reward(
    name="positive words",
    aliases=("positive word count", "shortcut", "Goodhart"),
    idea="A point for each positive word of the answer; two in a row pay most, and the grammar never writes them.",
    proxy_of="positive",
    score=positive_words,
)
