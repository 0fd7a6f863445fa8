"""SenseBERT: supersense prediction."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskLabel, AskMasked
from playground.objectives.catalog.mlm import MLM
from playground.objectives.catalog.sentilr import label_term
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

SUPERSENSES = tuple("act animal artifact body food group nature person place plant substance time other".split())

SUPERSENSE = Objective(
    name="supersense prediction",
    aliases=("SenseBERT", "supersenses"),
    group="With knowledge",
    needs=("label:supersense",),
    stages=(
        ArrangeText(),
        ChooseTokens(),
        ChangeTokens(),
        SeeAll(),
        AskMasked(),
        AskLabel("supersense", SUPERSENSES),
    ),
    idea="Hide words; predict each one and the kind of thing it means, such as an animal or a food.",
    loss="Mean cross-entropy of the hidden words, plus that of the classes of their meanings.",
    terms=(*MLM.terms, label_term("supersense")),
    source="arXiv:1908.05646, sec. 3",
)
