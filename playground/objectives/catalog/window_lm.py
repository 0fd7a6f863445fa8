"""The language model of a window (Bengio et al. 2003)."""

from playground.objectives.arrange import ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.catalog.lm import NEXT
from playground.objectives.objective import Objective
from playground.objectives.see import SeeLeft

WINDOW_LM = Objective(
    name="window LM",
    aliases=("context window LM",),
    group="Language models",
    stages=(ShiftRight(), SeeLeft(sliding_window=4), AskNext()),
    idea=(
        "Predict each word from the last few words to its left. The entry NNLM concatenates their vectors as the input "
        "of one hidden layer; the objective on its own has attention."
    ),
    loss="Mean cross-entropy of every word given those before it: k words in each layer, (k-1) x layers + 1 in all.",
    terms=(NEXT.now({"add_eos": False, "context_size": 0, "sliding_window": 4}),),
    source="Bengio et al. 2003, sec. 2; Radford et al. 2018, eq. 1",
)
