"""Whether the grammar of the corpus can write the answer after the prompt."""

from torch import Tensor

from playground.posttraining.answer_space import AnswerSpace
from playground.posttraining.grammar import continuation_chances
from playground.posttraining.reward import Reward


def grammatical(space: AnswerSpace) -> Tensor:
    """1 where the grammar writes the answer after the prompt, else 0."""
    return (continuation_chances(space) > 0).double()


GRAMMATICAL = Reward(
    name="grammatical",
    aliases=("grammar", "acceptable"),
    idea="1 for an answer that the grammar of the corpus can write after the prompt, 0 for any other.",
    score=grammatical,
)
