"""CLM then MLM: the first half of the training predicts next words, the second half hidden words."""

from playground.objectives.catalog.lm import LM
from playground.objectives.catalog.masking_rates import MLM_40
from playground.objectives.curriculum import Stretch
from playground.objectives.mixture import scheduled

CLM_THEN_MLM = scheduled(
    "CLM then MLM",
    (LM, MLM_40),
    (Stretch(0.5, (1.0, 0.0)), Stretch(0.5, (0.0, 1.0))),
    aliases=("CLM+MLM", "biphasic pre-training", "CLM to MLM"),
    group="In combination",
    idea="Train a causal language model first, then continue as a masked one; for equal numbers of steps the paper "
    "finds a better encoder than by hiding words from the start.",
    loss="Mean cross-entropy of every next word in the first half of the steps, of the hidden words in the second.",
    source="arXiv:2507.00994",
)
