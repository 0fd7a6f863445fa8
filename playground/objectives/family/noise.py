"""BART's noises, each alone and several in one chain; a decoder writes the text as it was (arXiv:1910.13461, sec. 2.2).

Stages that hide or fold speak of places in the text, stages that move come after them and move what is left.
"""

from dataclasses import replace

from playground.objectives.arrange import ArrangeLanguage
from playground.objectives.ask import AskDecoder
from playground.objectives.change import (
    ChangeSentenceOrder,
    ChangeTokens,
    ChangeWordOrder,
    DeleteTokens,
    RotateDocument,
    SpansToSentinels,
)
from playground.objectives.choose import ChooseForDeletion, ChoosePoissonSpans, ChooseRatio, ChooseTokens, MergeAdjacent
from playground.objectives.family.infilling import MARKED, MISSING, WHOLE
from playground.objectives.objective import Objective
from playground.objectives.see import SeeEncoderDecoder

GROUP = "Denoising"

WRITE = (AskDecoder(target="text"), SeeEncoderDecoder())

EACH_ALONE = ChooseTokens(num_special_tokens=0, selection="iid")
"""T5 draws every token alone, so a short text may lose none; then nothing that is gone is asked for."""

TOKEN_MASKING = Objective(
    name="token masking",
    aliases=("token masking (BART)",),
    group=GROUP,
    rank=135,
    stages=(ChooseRatio(), ChangeTokens(mask_replace_prob=1.0, random_replace_prob=0.0), *WRITE),
    idea="Hide some words behind one mask each; a decoder writes the whole text.",
    loss="Mean cross-entropy of the whole text and a closing sign, each given the corrupted text and the words before.",
    terms=(WHOLE,),
    source="arXiv:1910.13461, sec. 2.2",
)

TOKEN_DELETION = replace(
    TOKEN_MASKING,
    name="token deletion",
    aliases=("token deletion (BART)",),
    rank=136,
    stages=(ChooseRatio(), DeleteTokens(), *WRITE),
    idea="Take some words out without a trace; a decoder writes the whole text and so finds where they were missing.",
)

DOCUMENT_ROTATION = replace(
    TOKEN_MASKING,
    name="document rotation",
    aliases=("rotation", "document rotation (BART)"),
    rank=137,
    stages=(RotateDocument(), *WRITE),
    idea="Begin the text at any of its words and put what came before to the end; a decoder finds the true beginning.",
)

BART_MIXTURE = replace(
    TOKEN_MASKING,
    name="BART mixture",
    aliases=("infilling and sentence permutation", "BART noise"),
    rank=138,
    needs=("sentences",),
    stages=(ChoosePoissonSpans(), SpansToSentinels("mask"), ChangeSentenceOrder(), *WRITE),
    idea="Fold runs of words into one mask each and shuffle the sentences; a decoder writes the whole text in order.",
    source="arXiv:1910.13461, sec. 2.2 and 5.1",
)

ALL_NOISES = replace(
    BART_MIXTURE,
    name="all noises",
    aliases=("noise chain",),
    rank=139,
    stages=(
        ChooseRatio(mask_ratio=0.1),
        ChangeTokens(mask_replace_prob=1.0, random_replace_prob=0.0),
        ChoosePoissonSpans(mask_ratio=0.15),
        SpansToSentinels("mask"),
        ChooseForDeletion(delete_ratio=0.1),
        DeleteTokens(),
        ChangeSentenceOrder(),
        ChangeWordOrder(shuffle_distance=2),
        RotateDocument(),
        *WRITE,
    ),
    idea="Mask, fold, delete, shuffle sentences and neighbours, and turn the text; a decoder writes it as it was. "
    "Each noise has a knob that switches it off.",
    source="arXiv:1910.13461, sec. 2.2; word noise of arXiv:1711.00043, sec. 2.3",
)

T5_IID = Objective(
    name="T5 i.i.d.",
    aliases=("i.i.d. denoising", "replace corrupted tokens", "T5 iid"),
    group=GROUP,
    rank=140,
    stages=(
        EACH_ALONE,
        MergeAdjacent(),
        SpansToSentinels("sentinel"),
        AskDecoder(target="sentinels"),
        SeeEncoderDecoder(),
    ),
    idea="Draw each word alone; fold those that are neighbours into one numbered marker; a decoder writes these.",
    loss="Mean cross-entropy of the markers, the missing words and a closing sign, each given the folded text and what "
    "is written.",
    terms=(MARKED,),
    source="arXiv:1910.10683, sec. 3.3.2",
)

T5_DROP = replace(
    T5_IID,
    name="T5 drop",
    aliases=("drop corrupted tokens", "d_d"),
    rank=141,
    stages=(EACH_ALONE, DeleteTokens(), AskDecoder(target="gaps"), SeeEncoderDecoder()),
    idea="Draw each word alone and take it out without a mark; a decoder writes only those that are gone.",
    loss="Mean cross-entropy of the words that were taken out and a closing sign, each given what is left and those "
    "before it.",
    terms=(MISSING,),
)

T5_IN_PLACE = replace(
    TOKEN_MASKING,
    name="T5 mask in place",
    aliases=("MASS-style (T5)", "iid_15_m_f"),
    rank=142,
    stages=(EACH_ALONE, ChangeTokens(mask_replace_prob=1.0, random_replace_prob=0.0), *WRITE),
    idea="Draw each word alone and hide it behind a mask; a decoder writes the whole text (in T5's paper MASS-style).",
    source="arXiv:1910.10683, sec. 3.3.2",
)

MULTILINGUAL_DENOISING = replace(
    BART_MIXTURE,
    name="multilingual denoising",
    aliases=("mBART", "multilingual DAE"),
    rank=146,
    needs=("translation",),
    stages=(ArrangeLanguage(), ChoosePoissonSpans(mask_ratio=0.35, mean_length=3.5), *BART_MIXTURE.stages[1:]),
    idea="Corrupt texts of several languages as BART does, each position told its language; a decoder writes the text.",
    source="arXiv:2001.08210, sec. 2",
)
