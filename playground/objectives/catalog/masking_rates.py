"""MLM with more hidden words than BERT's 15 %, or with fewer from step to step, as later papers set it."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked
from playground.objectives.catalog.static_mlm import STATIC_MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.curriculum import Stretch
from playground.objectives.see import SeeAll

ALL_MASKED = ChangeTokens(mask_replace_prob=1.0, random_replace_prob=0.0)
"""No chosen word is replaced by a random one, and none is left as it is."""

MLM_30 = STATIC_MLM.variant(
    name="MLM at 30 %",
    aliases=("30 % masking", "MosaicBERT", "ModernBERT's MLM"),
    stages=(ArrangeText(), ChooseTokens(mask_ratio=0.3, selection="iid"), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide 30 % of the words, twice as many as BERT, so that each text gives twice as many targets.",
    source="arXiv:2412.13663, sec. 2.2, and released code; arXiv:2312.17482",
)

MLM_20 = MLM_30.variant(
    name="MLM at 20 %",
    aliases=("20 % masking", "NeoBERT's MLM"),
    stages=(ArrangeText(), ChooseTokens(mask_ratio=0.2, selection="iid"), ALL_MASKED, SeeAll(), AskMasked()),
    idea="Replace 20 % of the words by [MASK] and predict them; none of them stays visible or becomes another word.",
    source="arXiv:2502.19587, sec. 3, and released code",
)

MLM_40 = MLM_30.variant(
    name="MLM at 40 %",
    aliases=("40 % masking", "Should you mask 15 %", "Wettig et al."),
    stages=(ArrangeText(), ChooseTokens(mask_ratio=0.4, selection="stochastic"), ALL_MASKED, SeeAll(), AskMasked()),
    idea="Replace 40 % of the words by [MASK]: each is predicted from less context, but there are more of them.",
    source="arXiv:2202.08005, and the names of its released models",
)

MLM_30_TO_15 = MLM_30.variant(
    name="MLM from 30 to 15 %",
    aliases=("dynamic masking rate schedule", "masking rate schedule", "Ankner et al."),
    curriculum=(Stretch(moves=(("mask_ratio", 0.3, 0.15),)),),
    idea="Hide 30 % of the words at the beginning and fewer in every step, down to 15 % at the end of the training.",
    source="arXiv:2305.15096, sec. 2",
)
