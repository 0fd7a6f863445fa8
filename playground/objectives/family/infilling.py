"""Text infilling in its three forms: the survey's, T5's and BART's."""

from dataclasses import replace

from playground.objectives.ask import AskDecoder
from playground.objectives.change import SpansToSentinels
from playground.objectives.choose import ChoosePoissonSpans, ChooseSpans
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeEncoderDecoder
from playground.objectives.symbols import SIGN_BEHIND, written

WRITTEN = "written words"
OPEN_END = Term.by(written, WRITTEN, SIGN_BEHIND, target="gaps", add_eos=False)
WHOLE = Term.by(written, WRITTEN, SIGN_BEHIND, target="text", add_eos=True)
MISSING = Term.by(written, WRITTEN, SIGN_BEHIND, target="gaps", add_eos=True)
MARKED = Term.by(written, WRITTEN, SIGN_BEHIND, target="sentinels", add_eos=True)

TEXT_INFILLING = Objective(
    name="text infilling",
    aliases=("infilling", "infilling (survey)"),
    row="Text Infilling",
    printed=Printed({"spans": ["3:3"]}),
    group="Denoising",
    rank=9,
    stages=(ChooseSpans(), SpansToSentinels("mask"), AskDecoder(target="gaps", add_eos=False), SeeEncoderDecoder()),
    idea="Fold runs of words into one mask each; a decoder writes only what is missing (the survey's form).",
    loss="Mean cross-entropy of the missing words, each given the folded text and the missing words so far.",
    terms=(OPEN_END,),
    source="survey, Table 2 and sec. 4.3",
)

T5_SPANS = replace(
    TEXT_INFILLING,
    name="T5 spans",
    aliases=("T5", "span corruption", "text infilling (T5)", "infilling T5"),
    row="",
    printed=Printed(),
    rank=10,
    stages=(ChooseSpans(), SpansToSentinels("sentinel"), AskDecoder(target="sentinels"), SeeEncoderDecoder()),
    idea="Fold runs of words into numbered markers; a decoder writes each marker and what it stands for.",
    loss="Mean cross-entropy of the markers, the missing words and a closing sign, each given the folded text and what "
    "is written.",
    terms=(MARKED,),
    source="arXiv:1910.10683, sec. 3.1.4",
)

BART_INFILLING = replace(
    TEXT_INFILLING,
    name="BART infilling",
    aliases=("BART", "text infilling (BART)", "infilling BART", "denoising"),
    row="",
    printed=Printed(),
    rank=11,
    stages=(ChoosePoissonSpans(), SpansToSentinels("mask"), AskDecoder(target="text"), SeeEncoderDecoder()),
    idea="Fold runs of Poisson length, even empty ones, into one mask each; a decoder writes the whole text. "
    "BART itself also shuffles the sentences, as `BART mixture` does.",
    loss="Mean cross-entropy of the whole text and a closing sign, each given the folded text and the words before it.",
    terms=(WHOLE,),
    source="arXiv:1910.13461, sec. 2.2",
)
