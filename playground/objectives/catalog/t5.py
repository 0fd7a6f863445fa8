"""T5: span corruption and the simpler corruptions that its paper compares."""

from playground.objectives.ask import AskDecoder
from playground.objectives.catalog.bart import TOKEN_MASKING, WRITE
from playground.objectives.catalog.text_infilling import MISSING, TEXT_INFILLING, WRITTEN
from playground.objectives.change import ChangeTokens, DeleteTokens, SpansToSentinels
from playground.objectives.choose import ChooseSpans, ChooseTokens, MergeAdjacent
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeEncoderDecoder
from playground.objectives.symbols import SIGN_BEHIND, written

EACH_ALONE = ChooseTokens(num_special_tokens=0, selection="iid")
"""T5 draws every token alone, so a short text may lose none; then nothing that is gone is asked for."""

T5_IN_PLACE = TOKEN_MASKING.variant(
    name="T5 mask in place",
    aliases=("MASS-style (T5)", "iid_15_m_f"),
    stages=(EACH_ALONE, ChangeTokens(mask_replace_prob=1.0, random_replace_prob=0.0), *WRITE),
    idea="Choose words independently and replace each by a mask; a decoder writes the whole text (MASS-style in T5's "
    "paper).",
    source="arXiv:1910.10683, sec. 3.3.2",
)

MARKED = Term.by(written, WRITTEN, SIGN_BEHIND, target="sentinels", add_eos=True)

T5_IID = Objective(
    name="T5 i.i.d.",
    aliases=("i.i.d. denoising", "replace corrupted tokens", "T5 iid"),
    group="Denoising",
    stages=(
        EACH_ALONE,
        MergeAdjacent(),
        SpansToSentinels("sentinel"),
        AskDecoder(target="sentinels"),
        SeeEncoderDecoder(),
    ),
    idea="Choose words independently; replace each run of neighbours by one sentinel; a decoder writes what is "
    "missing.",
    loss="Mean cross-entropy of the sentinels, the missing words and [END], each given the corrupted text and what is "
    "written.",
    terms=(MARKED,),
    source="arXiv:1910.10683, sec. 3.3.2",
)

T5_DROP = T5_IID.variant(
    name="T5 drop",
    aliases=("drop corrupted tokens", "d_d"),
    stages=(EACH_ALONE, DeleteTokens(), AskDecoder(target="gaps"), SeeEncoderDecoder()),
    idea="Choose words independently and delete them without a trace; a decoder writes only the deleted ones.",
    loss="Mean cross-entropy of the deleted words and [END], each given what is left and those before it.",
    terms=(MISSING,),
)

T5_SPANS = TEXT_INFILLING.variant(
    name="T5 spans",
    aliases=("T5", "span corruption", "text infilling (T5)", "infilling T5"),
    stages=(ChooseSpans(), SpansToSentinels("sentinel"), AskDecoder(target="sentinels"), SeeEncoderDecoder()),
    idea="Replace spans of words by sentinels; a decoder writes each sentinel and what it stands for.",
    loss="Mean cross-entropy of the sentinels, the missing words and [END], each given the corrupted text and what is "
    "written.",
    terms=(MARKED,),
    source="arXiv:1910.10683, sec. 3.1.4",
)
