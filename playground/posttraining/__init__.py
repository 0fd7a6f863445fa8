"""Post-training against the exact optimum: all answers of two words are enumerated, so that nothing is estimated."""

import playground.posttraining.methods
import playground.posttraining.rewards  # noqa: F401
from playground.posttraining.answer_space import AnswerSpace, draw_prompts, read_prompts
from playground.posttraining.method import Method, Setting, find_method, methods
from playground.posttraining.optimum import FrontierPoint, Optimum, top_answers
from playground.posttraining.reward import Reward, find_reward, rewards
from playground.posttraining.run import Measured, PostTraining, post_train, setting_of

__all__ = [
    "AnswerSpace", "FrontierPoint", "Measured", "Method", "Optimum", "PostTraining", "Reward", "Setting",
    "draw_prompts", "find_method", "find_reward", "methods", "post_train", "read_prompts", "rewards", "setting_of",
    "top_answers",
]  # fmt: skip
