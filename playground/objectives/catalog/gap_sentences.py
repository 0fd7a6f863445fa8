"""Gap sentences: hide the sentences that sum up the text and let a decoder write them."""

from playground.objectives.ask import AskDecoder
from playground.objectives.catalog.text_infilling import MISSING
from playground.objectives.change import SpansToSentinels
from playground.objectives.choose import ChooseGapSentences, KeepSomeSentences
from playground.objectives.objective import Objective
from playground.objectives.see import SeeEncoderDecoder

GAP_SENTENCES = Objective(
    name="gap sentences",
    aliases=("GSG", "gap sentence generation", "PEGASUS"),
    group="Writing (seq2seq)",
    needs=("sentences",),
    stages=(
        ChooseGapSentences(),
        SpansToSentinels("mask"),
        AskDecoder(target="gaps"),
        SeeEncoderDecoder(),
    ),
    idea="Replace the sentences that repeat most of the rest by a mask each; a decoder writes them as a summary.",
    loss="Mean cross-entropy of the missing sentences and [END], given what is left and the words so far.",
    terms=(MISSING,),
    source="arXiv:1912.08777, sec. 3.1",
)

SOME_LEFT = GAP_SENTENCES.variant(
    name="PEGASUS large",
    aliases=("gap sentences, some left",),
    stages=(ChooseGapSentences(gap_sentence_ratio=0.45), KeepSomeSentences(), *GAP_SENTENCES.stages[1:]),
    idea="Choose nearly half of the sentences; mask most of them and leave the others visible; a decoder writes them "
    "all.",
    loss="Mean cross-entropy of the chosen sentences and [END], given what is left and the words so far.",
    source="arXiv:1912.08777, sec. 6.2",
)
