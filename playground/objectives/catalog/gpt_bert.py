"""GPT-BERT: one network and one head for MNTP and LM, which share the rows of every batch."""

from dataclasses import replace

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMaskedNext
from playground.objectives.catalog.lm import LM
from playground.objectives.catalog.mntp import MNTP
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseNgrams
from playground.objectives.curriculum import Stretch
from playground.objectives.mixture import renamed, scheduled
from playground.objectives.see import SeeAll

CHOOSE = ChooseNgrams(mask_ratio=0.3, sampler="uniform", whole_words=False, num_special_tokens=0)
"""One to three tokens together, each number equally often, up to the share at which training begins."""

STAGES = (ArrangeText(add_special_tokens=True), CHOOSE, ChangeTokens(replace_unit="span"), SeeAll(), AskMaskedNext())

MASKED, CAUSAL = 15 / 16, 1 / 16
"""The shares of the rows, by which the losses count as well (released code)."""

GPT_BERT = scheduled(
    "GPT-BERT",
    (
        renamed(replace(MNTP, stages=STAGES), "hidden words", "hidden words", MASKED),
        renamed(LM, "next word", "next word", CAUSAL),
    ),
    (Stretch(shares=(MASKED, CAUSAL), moves=(("mask_ratio", 0.3, 0.15),)),),
    by_row=True,
    aliases=("causal-masked hybrid",),
    group="In combination",
    idea="In 15 of 16 rows predict hidden spans from both sides, in the others every word from its left; both are "
    "predicted at the position before the word, by one head. The share of hidden words falls from 30 % to 15 %.",
    loss="Mean cross-entropy of the hidden words times 15/16, plus that of every next word times 1/16.",
    source="arXiv:2410.24159, sec. 2, and the released code",
)
