"""Whole word masking: MLM over whole words (BERT, released code; Chinese BERT-wwm)."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked
from playground.objectives.catalog.static_mlm import STATIC_MLM
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseWholeUnits
from playground.objectives.see import SeeAll

WHOLE_WORDS = STATIC_MLM.variant(
    name="whole word masking",
    aliases=("BERT-wwm", "wwm", "whole words"),
    stages=(ArrangeText(), ChooseWholeUnits("word"), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide all pieces of a word or none, so that no piece gives the others away.",
    loss="Mean cross-entropy of every piece of the chosen words given the corrupted text.",
    source="arXiv:1906.08101; BERT, released code",
)
