"""XLM: translation language modelling."""

from playground.objectives.arrange import ArrangePair
from playground.objectives.ask import AskMasked
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
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
