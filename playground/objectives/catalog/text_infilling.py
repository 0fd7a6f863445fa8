"""Text infilling, as the survey's Table 2 prints it."""

from playground.objectives.ask import AskDecoder
from playground.objectives.change import SpansToSentinels
from playground.objectives.choose import ChooseSpans
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeEncoderDecoder
from playground.objectives.symbols import SIGN_BEHIND, written

WRITTEN = "written words"

OPEN_END = Term.by(written, WRITTEN, SIGN_BEHIND, target="gaps", add_eos=False)

MISSING = Term.by(written, WRITTEN, SIGN_BEHIND, target="gaps", add_eos=True)

TEXT_INFILLING = Objective(
    name="text infilling",
    aliases=("infilling", "infilling (survey)"),
    row="Text Infilling",
    printed=Printed({"spans": ["3:3"]}),
    group="Denoising",
    stages=(ChooseSpans(), SpansToSentinels("mask"), AskDecoder(target="gaps", add_eos=False), SeeEncoderDecoder()),
    idea="Replace spans of words by one mask each; a decoder writes only what is missing (the survey's form).",
    loss="Mean cross-entropy of the missing words, each given the corrupted text and the missing words so far.",
    terms=(OPEN_END,),
    source="survey, Table 2 and sec. 4.3",
)
