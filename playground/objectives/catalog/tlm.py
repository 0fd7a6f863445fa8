"""XLM: translation language modelling, alone and by turns with hidden words in one language."""

from dataclasses import replace

from playground.objectives.arrange import ArrangeLanguage, ArrangePair
from playground.objectives.ask import AskMasked
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.mixture import mixture, renamed
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll

TLM = Objective(
    name="TLM",
    aliases=("translation language model",),
    row="TLM",
    printed=Printed({"chosen": [2, 4]}, text="How are you", pair="Comment vas-tu"),
    group="Two texts",
    needs=("translation",),
    stages=(
        ArrangePair(("translation",), pair_format="xlm", reset_position_ids=True),
        ChooseTokens(num_special_tokens=4),
        ChangeTokens(),
        SeeAll(),
        AskMasked(),
    ),
    idea="Hide words in a sentence and in its translation; each may be read off the other language.",
    loss="Mean cross-entropy of the hidden words of both languages.",
    terms=(Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x}, \hat{y})"),),
    source="arXiv:1901.07291, sec. 3.4",
)

ONE_LANGUAGE = replace(
    TLM,
    name="MLM in either language",
    aliases=("XLM's MLM",),
    row="",
    printed=Printed(),
    stages=(ArrangeLanguage(), ChooseTokens(), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide words in a sentence of one of two languages; every position knows which one it is.",
    loss="Mean cross-entropy of the hidden words given the corrupted sentence.",
    terms=(Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x})"),),
    source="arXiv:1901.07291, sec. 3.3",
)

MLM_AND_TLM = mixture(
    "alternating MLM and TLM",
    (
        (0.5, renamed(ONE_LANGUAGE, "hidden words", "hidden words, one language")),
        (0.5, renamed(TLM, "hidden words", "hidden words, two languages")),
    ),
    alternating=True,
    aliases=("XLM MLM + TLM",),
    group="Two texts",
    idea="Steps alternate: hide words in sentences of one language, then in sentences with their translations.",
    loss="Mean cross-entropy of the hidden words, in one language and in both, step by step in alternation.",
    source="arXiv:1901.07291, sec. 3.3-3.4",
)
