"""UL2: seven denoisers in three modes, which share the rows of every batch."""

from playground.objectives.ask import AskDecoder
from playground.objectives.catalog.seq2seq_lm import PREFIX_LM
from playground.objectives.catalog.t5 import T5_SPANS
from playground.objectives.change import DropTarget, PrependModeToken, SpansToSentinels
from playground.objectives.choose import ChooseSpans, ChooseSplit
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture
from playground.objectives.objective import Objective
from playground.objectives.see import SeeEncoderDecoder

REGULAR = ((3.0, 0.15), (8.0, 0.15))
EXTREME = ((3.0, 0.5), (8.0, 0.5), (64.0, 0.15), (64.0, 0.5))
"""Mean length of a span and share of the tokens of each denoiser (sec. 3.1)."""


def denoiser(letter: str, mean: float, share: float) -> Objective:
    """Spans of some mean length that hold a share of the tokens, behind the token of their mode."""
    return T5_SPANS.variant(
        name=f"UL2 {letter}-denoiser, mean {mean:g}, {share:.0%}",
        stages=(
            ChooseSpans(share, mean),
            SpansToSentinels("sentinel"),
            PrependModeToken("[NLU]" if letter == "R" else "[NLG]"),
            AskDecoder(target="sentinels"),
            SeeEncoderDecoder(),
        ),
        source="arXiv:2205.05131, sec. 3.1",
    )


def sequential() -> Objective:
    """The prefix LM among the denoisers, without a sentinel (as in MosaicML's llm-foundry)."""
    return PREFIX_LM.variant(
        name="UL2 S-denoiser",
        stages=(
            ChooseSplit(noise_density=0.25),
            DropTarget(),
            PrependModeToken("[S2S]"),
            AskDecoder(target="gaps"),
            SeeEncoderDecoder(),
        ),
        source="arXiv:2205.05131, sec. 3.1",
    )


PARTS = tuple(
    (1 / 7, part)
    for part in (
        *(denoiser("R", *setting) for setting in REGULAR),
        sequential(),
        *(denoiser("X", *setting) for setting in EXTREME),
    )
)

UL2 = mixture(
    "UL2",
    PARTS,
    by_row=True,
    aliases=("mixture of denoisers", "MoD", "UL2 mixture of denoisers"),
    group="Denoising",
    idea="Each row has one of seven corruptions: short, long or many gaps, or no ending; a mode token in front says "
    "which kind, and a decoder writes what is missing.",
    loss="Mean cross-entropy of what the decoder writes in all rows: sentinels and missing words, or an ending, and "
    "[END].",
    terms=(
        Term(
            "written words",
            r"-\frac{1}{|y|}\sum_{i}\log p(y_i \mid m, \hat{x}, y_{<i})",
            symbols={"m": "the mode token, for regular, sequential or extreme denoising"},
        ),
    ),
    source="arXiv:2205.05131, sec. 3.1",
    versus={
        "T5 spans": "Seven corruptions instead of one, and one of them is a prefix LM. A text of 32 tokens has no span "
        "of 64: at 15 %, mean 64 hides one span of five words, as mean 8 does, and only the mode token differs.",
    },
)
