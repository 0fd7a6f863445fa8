"""Causal masking: a language model of texts whose spans are moved behind them (CM3, InCoder)."""

from playground.objectives.ask import AskInput
from playground.objectives.catalog.fim import NEXT_REARRANGED
from playground.objectives.change import MoveSpans
from playground.objectives.choose import ChooseCausalSpans
from playground.objectives.objective import Objective
from playground.objectives.see import SeeLeft

CAUSAL_MASKING = Objective(
    name="causal masking",
    aliases=("CM3", "InCoder", "causally masked LM"),
    group="Language models",
    stages=(ChooseCausalSpans(), MoveSpans(), SeeLeft(), AskInput()),
    idea=(
        "Replace a few spans by sentinels. After the text, write each sentinel again with the span it stands for. Then "
        "predict each word from the words to its left."
    ),
    loss="Mean cross-entropy of every word that is left, of the sentinels, of the spans and of the [END] of each span.",
    terms=(NEXT_REARRANGED,),
    source="arXiv:2201.07520, sec. 2; arXiv:2204.05999, sec. 2.1",
    versus={
        "FIM": "There may be several spans, each is announced by its own sentinel, and the rest keeps its order.",
        "T5 spans": "One causal model reads and writes, so the words that are left are predicted too.",
    },
)
