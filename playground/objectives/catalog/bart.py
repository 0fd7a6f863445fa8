"""BART: its five corruptions, each alone, and their mixture."""

from playground.objectives.ask import AskDecoder
from playground.objectives.catalog.text_infilling import TEXT_INFILLING, WRITTEN
from playground.objectives.change import (
    ChangeSentenceOrder,
    ChangeTokens,
    DeleteTokens,
    RotateDocument,
    SpansToSentinels,
)
from playground.objectives.choose import ChoosePoissonSpans, ChooseRatio
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeEncoderDecoder
from playground.objectives.symbols import SIGN_BEHIND, written

WRITE = (AskDecoder(target="text"), SeeEncoderDecoder())

WHOLE = Term.by(written, WRITTEN, SIGN_BEHIND, target="text", add_eos=True)

TOKEN_MASKING = Objective(
    name="token masking",
    aliases=("token masking (BART)",),
    group="Denoising",
    stages=(ChooseRatio(), ChangeTokens(mask_replace_prob=1.0, random_replace_prob=0.0), *WRITE),
    idea="Replace some words by a mask each; a decoder writes the whole text.",
    loss="Mean cross-entropy of the whole text and [END], each given the corrupted text and the words before.",
    terms=(WHOLE,),
    source="arXiv:1910.13461, sec. 2.2",
)

TOKEN_DELETION = TOKEN_MASKING.variant(
    name="token deletion",
    aliases=("token deletion (BART)",),
    stages=(ChooseRatio(), DeleteTokens(), *WRITE),
    idea="Delete some words without a trace; a decoder writes the whole text, so it must find where they were.",
)

DOCUMENT_ROTATION = TOKEN_MASKING.variant(
    name="document rotation",
    aliases=("rotation", "document rotation (BART)"),
    stages=(RotateDocument(), *WRITE),
    idea="Rotate the text so that it begins at any of its words; a decoder finds the true beginning.",
)

BART_MIXTURE = TOKEN_MASKING.variant(
    name="BART mixture",
    aliases=("infilling and sentence permutation", "BART noise"),
    needs=("sentences",),
    stages=(ChoosePoissonSpans(), SpansToSentinels("mask"), ChangeSentenceOrder(), *WRITE),
    idea="Replace spans of words by one mask each and shuffle the sentences; a decoder writes the whole text in order.",
    source="arXiv:1910.13461, sec. 2.2 and 5.1",
)

BART_INFILLING = TEXT_INFILLING.variant(
    name="BART infilling",
    aliases=("BART", "text infilling (BART)", "infilling BART", "denoising"),
    stages=(ChoosePoissonSpans(), SpansToSentinels("mask"), AskDecoder(target="text"), SeeEncoderDecoder()),
    idea="Replace spans of Poisson length, even empty ones, by one mask each; a decoder writes the whole text. "
    "BART itself also shuffles the sentences, as BART mixture does.",
    loss="Mean cross-entropy of the whole text and [END], each given the corrupted text and the words before it.",
    terms=(WHOLE,),
    source="arXiv:1910.13461, sec. 2.2",
)
