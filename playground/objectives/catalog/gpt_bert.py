"""GPT-BERT: one network and one head for MNTP and LM, which share the rows of every batch."""

from dataclasses import replace

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMaskedNext
from playground.objectives.catalog.lm import LM
from playground.objectives.catalog.mntp import MNTP
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseNgrams
from playground.objectives.mixture import mixture, renamed
from playground.objectives.see import SeeAll

CHOOSE = ChooseNgrams(mask_ratio=0.3, sampler="uniform", whole_words=False, num_special_tokens=0)
"""One to three tokens together, each number equally often, up to the share at which training begins."""

STAGES = (ArrangeText(add_special_tokens=True), CHOOSE, ChangeTokens(replace_unit="span"), SeeAll(), AskMaskedNext())

PARTS = (
    (15 / 16, renamed(replace(MNTP, stages=STAGES), "hidden words", "hidden words", 15 / 16)),
    (1 / 16, renamed(LM, "next word", "next word", 1 / 16)),
)
"""The two objectives with their published shares, by which their losses count as well (released code)."""

GPT_BERT = mixture(
    "GPT-BERT",
    PARTS,
    by_row=True,
    aliases=("causal-masked hybrid",),
    group="In combination",
    idea="In 15 of 16 rows predict hidden spans from both sides, in the others every word from its left; both are "
    "predicted at the position before the word, by one head.",
    loss="Mean cross-entropy of the hidden words times 15/16, plus that of every next word times 1/16.",
    source="arXiv:2410.24159, sec. 2, and the released code",
)
