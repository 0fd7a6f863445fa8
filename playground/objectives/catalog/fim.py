"""FIM: a language model that learns to fill in the middle, because the middle is moved to the end."""

from playground.objectives.ask import AskInput
from playground.objectives.change import MoveMiddle
from playground.objectives.choose import ChooseMiddle
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeLeft
from playground.objectives.symbols import IN_LAYERS, REARRANGED, rearranged

NEXT_REARRANGED = Term.by(rearranged, "next word", REARRANGED | IN_LAYERS, score_sentinels=True, sliding_window=0)

FIM = Objective(
    name="FIM",
    aliases=("fill in the middle", "fill-in-the-middle", "PSM", "SPM"),
    group="Language models",
    stages=(ChooseMiddle(), MoveMiddle(), SeeLeft(), AskInput()),
    idea=(
        "Cut a text between tokens into prefix, middle and suffix; in half of the texts the middle moves to the end. "
        "Then predict each word from the words to its left. The sentinels <PRE>, <SUF> and <MID> announce the parts."
    ),
    loss="Mean cross-entropy of every word of all three parts, of their sentinels and of [END].",
    terms=(NEXT_REARRANGED,),
    source="arXiv:2207.14255, sec. 3-4",
    versus={
        "LM": "Half of the texts have their middle at the end, so it is predicted from the words on both sides.",
        "T5 spans": "One causal model reads and writes, and the words of every part are predicted.",
    },
)
