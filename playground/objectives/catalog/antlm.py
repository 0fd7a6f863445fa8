"""AntLM: a causal language model, then a masked one, then a causal one again, in one run."""

from playground.objectives.catalog.lm import LM
from playground.objectives.catalog.mlm import MLM
from playground.objectives.curriculum import Stretch
from playground.objectives.mixture import scheduled

CAUSAL, MASKED = (1.0, 0.0), (0.0, 1.0)

ANTLM = scheduled(
    "AntLM",
    (LM, MLM),
    (Stretch(4 / 24, CAUSAL), Stretch(16 / 24, MASKED), Stretch(4 / 24, CAUSAL)),
    aliases=("alternating CLM and MLM",),
    group="In combination",
    idea="One network is a causal language model for a sixth of the training, a masked one for two thirds, then a "
    "causal one again; the objective and the attention mask change together.",
    loss="Mean cross-entropy of every next word in the first and the last sixth of the steps, of the hidden words in "
    "those between.",
    source="arXiv:2412.03275 (4 epochs CLM, 16 MLM, 4 CLM for BabyLlama)",
)
