"""Other directions and contexts of the language model: backward, windowed, both ways, with a code, by language."""

from dataclasses import replace
from functools import partial

from playground.objectives.arrange import ArrangeDocument, ArrangeText, ControlCode, DropLanguageIds, ShiftRight
from playground.objectives.ask import AskMasked, AskNext
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.family.lm import LM, NEXT
from playground.objectives.family.mlm import MLM
from playground.objectives.formula import HALF as HALVED
from playground.objectives.formula import Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeeAll, SeeLeft, SeeRight
from playground.objectives.symbols import IN_LAYERS, SIGN_BEFORE, next_word, previous_word

GROUP = "Language models"

PREVIOUS = Term.by(
    previous_word, "previous word", IN_LAYERS | SIGN_BEFORE, add_eos=False, context_size=0, sliding_window=0
)

BACKWARD_LM = Objective(
    name="backward LM",
    aliases=("backward language model", "right-to-left LM"),
    group=GROUP,
    rank=120,
    stages=(ShiftRight("right"), SeeRight(), AskNext("right")),
    idea="Predict each word from the words to its right.",
    loss="Mean cross-entropy of every word given the words after it.",
    terms=(PREVIOUS,),
    source="arXiv:1802.05365, sec. 3.1",
)

WINDOW_LM = Objective(
    name="window LM",
    aliases=("context window LM",),
    group=GROUP,
    rank=121,
    stages=(ShiftRight(), SeeLeft(sliding_window=4), AskNext()),
    idea=(
        "Predict each word from the last few words to its left. Here by attention; the first neural language model "
        "(NNLM) laid their vectors side by side under one hidden layer."
    ),
    loss="Mean cross-entropy of every word given those before it: k words in each layer, (k-1) x layers + 1 in all.",
    terms=(NEXT.now({"add_eos": False, "context_size": 0, "sliding_window": 4}),),
    source="Bengio et al. 2003, sec. 2; Radford et al. 2018, eq. 1",
)

HALF = 0.5
"""What each direction counts in the released code of ELMo; the paper adds both up in full."""

BILM = Objective(
    name="BiLM",
    aliases=("bidirectional language model", "ELMo"),
    group=GROUP,
    rank=122,
    stages=(ShiftRight(), SeeLeft(), AskNext(weight=HALF)),
    beside=((1.0, replace(BACKWARD_LM, stages=(ShiftRight("right"), SeeRight(), AskNext("right", weight=HALF)))),),
    idea="Two language models, one from the left and one from the right, that share their words but never mix.",
    loss="Half the mean cross-entropy of each word given those before it, and half of that given those after it.",
    terms=(replace(NEXT, weight=HALVED), replace(PREVIOUS, weight=HALVED)),
    source="arXiv:1802.05365, sec. 3.1 and released code",
)

CONDITIONAL_LM = Objective(
    name="conditional LM",
    aliases=("CTRL", "Grover", "control code LM"),
    group=GROUP,
    rank=123,
    needs=("label:topic",),
    stages=(ArrangeDocument("topic"), ShiftRight(), ControlCode("topic"), SeeLeft(), AskNext()),
    idea=(
        "Put a sign for the text's topic in front, then predict each word from the sign and the words to its left. Of "
        "a row only the first text with a topic is read; a row without any is an ordinary language model."
    ),
    loss="Mean cross-entropy of every word given the code of its own text and the words before it.",
    terms=(
        Term.by(
            partial(next_word, given="c, "),
            "next word",
            {"c": "the control code of the text", **NEXT.symbols},
            add_eos=False,
            context_size=0,
            sliding_window=0,
        ),
    ),
    source="arXiv:1909.05858, sec. 3; arXiv:1905.12616, sec. 3",
)

MULTILINGUAL_LM = replace(
    LM,
    name="multilingual LM",
    aliases=("polyglot LM", "Rosita", "CLM"),
    row="",
    printed=Printed(),
    rank=124,
    needs=("label:language",),
    stages=(ShiftRight(), DropLanguageIds(), SeeLeft(), AskNext()),
    idea=(
        "Predict each word from the words to its left, in texts of several languages. The model must see which "
        "language it reads, unless it is told, as in XLM's CLM."
    ),
    source="arXiv:1902.09697; with told: arXiv:1901.07291, sec. 3.2",
)

MULTILINGUAL_MLM = replace(
    MLM,
    name="multilingual MLM",
    aliases=("mBERT", "XLM-R"),
    row="",
    printed=Printed(),
    rank=125,
    needs=("label:language",),
    stages=(ArrangeText(), DropLanguageIds(), ChooseTokens(), ChangeTokens(), SeeAll(), AskMasked()),
    idea=(
        "Hide some words of texts in several languages, never side by side. The model must see which language it "
        "reads, unless it is told, as in XLM's MLM."
    ),
    source="arXiv:1911.02116, sec. 3; with told: arXiv:1901.07291, sec. 3.3",
)
