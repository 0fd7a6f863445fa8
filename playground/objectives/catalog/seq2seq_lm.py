"""Seq2seq LM: the first part is read from both sides, the second is written from left to right, in one stack or two."""

from playground.objectives.ask import AskContinuation, AskDecoder
from playground.objectives.change import DropTarget
from playground.objectives.choose import ChooseSplit
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeEncoderDecoder, SeePrefix
from playground.objectives.symbols import SIGN_BEHIND, continuation, second_part

GROUP = "Writing (seq2seq)"

SEQ2SEQ_LM = Objective(
    name="seq2seq LM",
    aliases=("prefix LM", "prefix language model", "s2s"),
    row="seq2seq LM",
    printed=Printed({"split": 4}),
    group=GROUP,
    stages=(ChooseSplit(), SeePrefix(), AskContinuation()),
    idea="Read the first part from both sides, then write the second part word by word.",
    loss="Mean cross-entropy of the second part, each word given the first part and the words before it.",
    terms=(Term.by(continuation, "next word", loss_on="second part"),),
    source="arXiv:1910.10683, sec. 3.2.3; mask of arXiv:1905.03197, sec. 2.2",
)

PREFIX_LM = Objective(
    name="T5 prefix LM",
    aliases=("prefix LM (T5)", "encoder-decoder prefix LM"),
    group=GROUP,
    stages=(ChooseSplit(), DropTarget(), AskDecoder(target="gaps"), SeeEncoderDecoder()),
    idea="An encoder reads the first part from both sides; a decoder writes the second part word by word.",
    loss="Mean cross-entropy of the second part and [END], each given the first part and the words before it.",
    terms=(Term.by(second_part, "written words", SIGN_BEHIND, target="gaps", add_eos=True),),
    source="arXiv:1910.10683, sec. 3.2.3 and released code",
)
