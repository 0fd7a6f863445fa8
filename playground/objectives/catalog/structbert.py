"""StructBERT: word structure, sentence structure, and both with MLM."""

from playground.objectives.arrange import ArrangePair, ArrangeText
from playground.objectives.ask import AskMasked, AskMoved, AskPair
from playground.objectives.catalog.bert import HIDDEN
from playground.objectives.catalog.mlm import MLM
from playground.objectives.catalog.nsp import PAIR
from playground.objectives.catalog.static_mlm import STATIC_MLM
from playground.objectives.change import ChangeTokens, ChangeTrigrams
from playground.objectives.choose import ChooseTokens, ChooseTrigrams
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeAll

WORD_ORDER = Term(
    "word order",
    r"-\frac{1}{|S|}\sum_{t \in S}\log p(x_t \mid \hat{x})",
    symbols={"S": "the positions of the shuffled spans", r"\hat{x}": "the text with hidden and shuffled words"},
)

WORD_STRUCTURE = STATIC_MLM.variant(
    name="word structure",
    aliases=("word structural objective", "StructBERT word objective", "span order recovery", "trigram shuffling"),
    group="Orders",
    stages=(
        ArrangeText(),
        ChooseTokens(),
        ChangeTokens(),
        AskMasked(),
        ChooseTrigrams(),
        ChangeTrigrams(),
        SeeAll(),
        AskMoved(),
    ),
    idea="Hide some words and shuffle a few spans of three; name the hidden words and put the others back in order.",
    loss="Mean cross-entropy of the hidden words, plus that of the right word at each position of the shuffled spans.",
    terms=(*MLM.terms, WORD_ORDER),
    source="arXiv:1908.04577, sec. 2.2.1",
)

STRUCTBERT = Objective(
    name="StructBERT",
    aliases=("word and sentence structure",),
    group="In combination",
    needs=("pair",),
    stages=(
        ArrangePair(("next", "previous", "other")),
        ChooseTokens(num_special_tokens=3),
        ChangeTokens(),
        AskMasked(),
        ChooseTrigrams(),
        ChangeTrigrams(),
        SeeAll(),
        AskMoved(),
        AskPair(("next", "previous", "random")),
    ),
    idea="Hide words, shuffle spans of three and swap texts; undo all three.",
    loss="Mean cross-entropy of the hidden words, plus that of the shuffled ones, plus that of the label of each pair.",
    terms=(HIDDEN, WORD_ORDER, *PAIR),
    source="arXiv:1908.04577, sec. 2.2-2.3",
)

SENTENCE_STRUCTURE = Objective(
    name="sentence structure",
    aliases=("three-way order", "StructBERT sentence objective", "sentence structural objective"),
    group="Two texts",
    needs=("pair",),
    stages=(ArrangePair(("next", "previous", "other")), SeeAll(), AskPair(("next", "previous", "random"))),
    idea="Say whether the second text follows the first, comes before it, or comes from another document.",
    loss="Cross-entropy of the one label of each pair, one of three, read at its first special token.",
    terms=PAIR,
    source="arXiv:1908.04577, sec. 2.2.2",
)
