"""ERNIE: MLM over phrases and named entities, and what its three steps hide together."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked
from playground.objectives.catalog.bert import HIDDEN
from playground.objectives.catalog.static_mlm import STATIC_MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseWholeUnits
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

PHRASES = STATIC_MLM.variant(
    name="phrase masking",
    aliases=("phrase-level masking",),
    needs=("label:phrase",),
    stages=(ArrangeText(), ChooseWholeUnits("phrase", sampler="iid"), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide whole phrases, so that they must be predicted from the rest of the sentence.",
    loss="Mean cross-entropy of every word of the chosen phrases given the corrupted text.",
    source="arXiv:1904.09223, sec. 3.2.2",
)

ENTITIES = STATIC_MLM.variant(
    name="entity masking",
    aliases=("entity-level masking", "name masking"),
    needs=("label:mention",),
    stages=(ArrangeText(), ChooseWholeUnits("entity", sampler="iid"), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide whole names, so that the model must know facts about a person or place to predict them.",
    loss="Mean cross-entropy of every word of the chosen names given the corrupted text.",
    source="arXiv:1904.09223, sec. 3.2.3",
)

KNOWLEDGE = Objective(
    name="knowledge masking",
    aliases=("phrases and names",),
    group="With knowledge",
    needs=("label:phrase", "label:mention"),
    stages=(ArrangeText(), ChooseWholeUnits("knowledge", sampler="iid"), ChangeTokens(), SeeAll(), AskMasked()),
    idea=(
        "Hide names, phrases and single words, each as a whole, so that predicting them takes knowledge. All three are "
        "drawn in every step; ERNIE trains words, then phrases, then names."
    ),
    loss="Mean cross-entropy of every word of the chosen units given the corrupted text.",
    terms=(HIDDEN,),
    source="arXiv:1904.09223, sec. 3.2",
)
