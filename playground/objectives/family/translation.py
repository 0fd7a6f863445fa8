"""Translation: read a sentence in one language, write it in the other."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskTranslation
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeEncoderDecoder

TRANSLATION = Objective(
    name="translation",
    aliases=("machine translation", "MT", "CoVe"),
    group="Writing (seq2seq)",
    rank=145,
    needs=("translation",),
    stages=(ArrangeText(), AskTranslation(), SeeEncoderDecoder()),
    idea="Read a sentence in one language; a decoder writes it in the other.",
    loss="Mean cross-entropy of the translation, each word given the sentence and the words of the translation so far.",
    terms=(Term("written words", r"-\frac{1}{|y|}\sum_{i}\log p(y_i \mid x, y_{<i})"),),
    source="arXiv:1708.00107, sec. 3",
)
