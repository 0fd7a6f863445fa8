"""Post-training against the exact optimum: all answers of two words are enumerated, so that nothing is estimated."""

import playground.posttraining.methods
import playground.posttraining.rewards  # noqa: F401
from playground.posttraining.answer_space import AnswerSpace, draw_prompts, open_space, read_prompts
from playground.posttraining.comparison import Comparison, compare
from playground.posttraining.method import Method, Setting, find_method, methods
from playground.posttraining.optimum import FrontierPoint, Optimum, top_answers
from playground.posttraining.reference import small_base
from playground.posttraining.reward import Reward, find_reward, rewards
from playground.posttraining.run import Measured, PostTraining, post_train, setting_of

__all__ = [
    "AnswerSpace", "Comparison", "FrontierPoint", "Measured", "Method", "Optimum", "PostTraining", "Reward", "Setting",
    "compare", "draw_prompts", "find_method", "find_reward", "methods", "open_space", "post_train", "read_prompts",
    "rewards", "setting_of", "small_base", "top_answers",
]  # fmt: skip
