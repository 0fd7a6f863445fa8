"""Sentence shuffling in both meanings: the survey shuffles words, BART shuffles sentences."""

from playground.objectives.ask import AskDecoder
from playground.objectives.catalog.bart import WHOLE
from playground.objectives.catalog.text_infilling import WRITTEN
from playground.objectives.change import ChangeSentenceOrder, ChangeWordOrder
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeEncoderDecoder
from playground.objectives.symbols import SIGN_BEHIND, written

WORD_SHUFFLING = Objective(
    name="sentence shuffling",
    aliases=("word shuffling", "sent shuffling", "shuffling", "deshuffling"),
    row="Sent Shuffling",
    printed=Printed({"order": [8, 7, 2, 1, 5, 6, 3, 4]}),
    group="Denoising",
    stages=(ChangeWordOrder(), AskDecoder(target="text", add_eos=False), SeeEncoderDecoder()),
    idea="Shuffle the words of the sentence; a decoder writes them in order (the survey's meaning).",
    loss="Mean cross-entropy of the whole text, each word given the shuffled text and the words before it.",
    terms=(Term.by(written, WRITTEN, SIGN_BEHIND, target="text", add_eos=False),),
    source="survey, Table 2 and sec. 4.3",
)

SENTENCE_PERMUTATION = WORD_SHUFFLING.variant(
    name="sentence permutation",
    aliases=("sentences shuffling", "sentence shuffling (BART)", "shuffle sentences"),
    needs=("sentences",),
    stages=(ChangeSentenceOrder(), AskDecoder(target="text"), SeeEncoderDecoder()),
    idea="Shuffle whole sentences; a decoder writes the text in order (BART's meaning).",
    loss="Mean cross-entropy of the whole text and [END], each given the shuffled text and what is written.",
    terms=(WHOLE,),
    source="arXiv:1910.13461, sec. 2.2",
)
