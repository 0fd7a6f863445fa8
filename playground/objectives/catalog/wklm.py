"""WKLM: entity replacement."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked, AskReplaced
from playground.objectives.catalog.mlm import MLM
from playground.objectives.change import ChangeEntities, ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

ENTITY_REPLACEMENT = Objective(
    name="entity replacement",
    aliases=("entity replacement detection", "WKLM", "ERD", "MLM + ERD"),
    group="Replaced or not",
    needs=("label:mention", "label:entity", "label:entity_type"),
    stages=(
        ArrangeText(),
        ChooseTokens(mask_ratio=0.05, outside="mention"),
        ChangeTokens(mask_replace_prob=0.9, random_replace_prob=0.0),
        AskMasked(),
        ChangeEntities(),
        SeeAll(),
        AskReplaced(weight=1.0, where="mentions"),
    ),
    idea="Replace some names by others of the same kind; say for each name whether it is the right one.",
    loss="Mean cross-entropy of a few hidden words, plus the mean yes-or-no loss at every name.",
    terms=(
        *MLM.terms,
        Term(
            "replaced?",
            r"-\frac{1}{|E|}\sum_{e \in E}\log p(y_e \mid \hat{x})",
            symbols={"E": "the names of the text", "y_e": "1 where another name replaces e"},
        ),
    ),
    source="arXiv:1912.09637, sec. 2",
)
