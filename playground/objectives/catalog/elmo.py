"""ELMo: the backward language model and both directions together."""

from dataclasses import replace

from playground.objectives.arrange import ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.catalog.lm import NEXT
from playground.objectives.formula import HALF as HALVED
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeLeft, SeeRight
from playground.objectives.symbols import IN_LAYERS, SIGN_BEFORE, previous_word

PREVIOUS = Term.by(
    previous_word, "previous word", IN_LAYERS | SIGN_BEFORE, add_eos=False, context_size=0, sliding_window=0
)

BACKWARD_LM = Objective(
    name="backward LM",
    aliases=("backward language model", "right-to-left LM"),
    group="Language models",
    stages=(ShiftRight("right"), SeeRight(), AskNext("right")),
    idea="Predict each word from the words to its right.",
    loss="Mean cross-entropy of every word given the words after it.",
    terms=(PREVIOUS,),
    source="arXiv:1802.05365, sec. 3.1",
)

HALF = 0.5
"""What each direction counts in the released code of ELMo; the paper adds both up in full."""

BILM = Objective(
    name="BiLM",
    aliases=("bidirectional language model", "ELMo"),
    group="Language models",
    stages=(ShiftRight(), SeeLeft(), AskNext(weight=HALF)),
    auxiliary=((1.0, replace(BACKWARD_LM, stages=(ShiftRight("right"), SeeRight(), AskNext("right", weight=HALF)))),),
    idea="Two language models, one from the left and one from the right, that share their words but never mix.",
    loss="Half the mean cross-entropy of each word given those before it, and half of that given those after it.",
    terms=(replace(NEXT, weight=HALVED), replace(PREVIOUS, weight=HALVED)),
    source="arXiv:1802.05365, sec. 3.1 and released code",
)
