"""LM: predict every next word from the words before it."""

from playground.objectives.arrange import ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeLeft
from playground.objectives.symbols import IN_LAYERS, SIGN_BEHIND, next_word

NEXT = Term.by(next_word, "next word", IN_LAYERS | SIGN_BEHIND, add_eos=False, context_size=0, sliding_window=0)

LM = Objective(
    name="LM",
    aliases=("language model", "causal LM", "autoregressive", "next-token prediction", "next-word prediction"),
    row="LM",
    group="Language models",
    stages=(ShiftRight(), SeeLeft(), AskNext()),
    idea="Predict each word from the words to its left.",
    loss="Mean cross-entropy of every word given the words before it.",
    terms=(NEXT,),
    source="Radford et al. 2018, sec. 3.1; survey, eq. 1",
    versus={
        "MLM": "Predicts every word, each only from the words to its left.",
        "PLM": "Always predicts in the order of the text, so a word never sees what comes after it.",
    },
)
