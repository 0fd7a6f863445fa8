"""Objectives as papers combine them: words and the relation of two texts in one step."""

from playground.objectives.arrange import ArrangePair, ArrangeText
from playground.objectives.ask import AskMasked, AskMoved, AskPair
from playground.objectives.change import ChangeTokens, ChangeTrigrams
from playground.objectives.choose import ChooseNgrams, ChooseTokens, ChooseTrigrams, ChooseWholeUnits
from playground.objectives.family.masking import WORD_ORDER
from playground.objectives.family.pairs import PAIR
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

GROUP = "In combination"

HIDDEN = Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x})")

MLM_AND_NSP = Objective(
    name="MLM + NSP",
    aliases=("BERT's objective",),
    group=GROUP,
    rank=111,
    needs=("pair",),
    stages=(
        ArrangePair(("next", "other")),
        ChooseTokens(num_special_tokens=3),
        ChangeTokens(),
        SeeAll(),
        AskMasked(),
        AskPair(("Next Sent", "Random Sent")),
    ),
    idea="Hide words in two texts side by side; guess them, and say whether the second text follows the first.",
    loss="Mean cross-entropy of the hidden words, plus that of the one label of each pair.",
    terms=(HIDDEN, *PAIR),
    source="arXiv:1810.04805, sec. 3.1",
)

ALBERT = Objective(
    name="ALBERT",
    aliases=("n-gram MLM + SOP",),
    group=GROUP,
    rank=112,
    needs=("pair",),
    stages=(
        ArrangePair(("next", "previous")),
        ChooseNgrams(num_special_tokens=3),
        ChangeTokens(),
        SeeAll(),
        AskMasked(),
        AskPair(("in order", "reversed")),
    ),
    idea="Hide runs of one to three words in two neighbours; guess them, and say whether the two were swapped.",
    loss="Mean cross-entropy of the hidden words, plus that of the one label of each pair.",
    terms=(HIDDEN, *PAIR),
    source="arXiv:1909.11942, sec. 3.1 and 4.1",
)

STRUCTBERT = Objective(
    name="StructBERT",
    aliases=("word and sentence structure",),
    group=GROUP,
    rank=113,
    needs=("pair",),
    stages=(
        ArrangePair(("next", "previous", "other")),
        ChooseTokens(num_special_tokens=3),
        ChangeTokens(),
        AskMasked(),
        ChooseTrigrams(),
        ChangeTrigrams(),
        SeeAll(),
        AskMoved(),
        AskPair(("next", "previous", "random")),
    ),
    idea="Hide words, shuffle runs of three and exchange texts; undo all three.",
    loss="Mean cross-entropy of the hidden words, plus that of the shuffled ones, plus that of the label of each pair.",
    terms=(HIDDEN, WORD_ORDER, *PAIR),
    source="arXiv:1908.04577, sec. 2.2-2.3",
)

ERNIE = Objective(
    name="ERNIE",
    aliases=("knowledge masking", "ERNIE (Baidu)"),
    group="With knowledge",
    rank=114,
    needs=("label:phrase", "label:mention"),
    stages=(ArrangeText(), ChooseWholeUnits("knowledge", sampler="iid"), ChangeTokens(), SeeAll(), AskMasked()),
    idea=(
        "Hide names, phrases and single words, each as a whole, so that knowledge must bring them back. All three are "
        "drawn in every step; the paper trains words, then phrases, then names."
    ),
    loss="Mean cross-entropy of every word of the chosen units given the corrupted text.",
    terms=(HIDDEN,),
    source="arXiv:1904.09223, sec. 3.2",
)
