"""MLM: hide some words and predict them from both sides."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll

MLM = Objective(
    name="MLM",
    aliases=("masked language model", "masked LM", "cloze", "dynamic masking"),
    row="MLM",
    printed=Printed({"chosen": [3, 8]}),
    group="Masking",
    stages=(ArrangeText(), ChooseTokens(), ChangeTokens(), SeeAll(), AskMasked()),
    idea="Hide some words and predict them from the words on both sides.",
    loss="Mean cross-entropy of the chosen words given the corrupted text.",
    terms=(Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x})"),),
    source="arXiv:1810.04805, sec. 3.1",
    versus={
        "PLM": "Predicts each hidden word independently, from both sides. It reads [MASK], which no text has in use.",
        "LM": "Predicts only the hidden words, each from both sides.",
    },
)
