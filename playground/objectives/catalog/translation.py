"""Translation: read a sentence in one language, write it in the other."""

from playground.objectives.arrange import ArrangeLanguage, ArrangeText, DropLanguageIds
from playground.objectives.ask import AskTranslation
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.see import SeeEncoderDecoder, SeeThroughOne

H1 = {"h_1": "the encoder's hidden state at its first position"}

TRANSLATION = Objective(
    name="translation",
    aliases=("machine translation", "MT", "CoVe"),
    group="Writing (seq2seq)",
    needs=("translation",),
    stages=(ArrangeText(), AskTranslation(), SeeEncoderDecoder()),
    idea="Read a sentence in one language; a decoder writes it in the other.",
    loss="Mean cross-entropy of the translation, each word given the sentence and the words of the translation so far.",
    terms=(Term("written words", r"-\frac{1}{|y|}\sum_{i}\log p(y_i \mid x, y_{<i})"),),
    source="arXiv:1708.00107, sec. 3",
)

THROUGH_ONE = TRANSLATION.variant(
    name="translation through one vector",
    aliases=("LASER", "sentence bottleneck"),
    stages=(
        ArrangeLanguage(),
        ArrangeText(add_special_tokens=True),
        DropLanguageIds(),
        AskTranslation(),
        SeeThroughOne(),
    ),
    idea=(
        "Read a sentence of either language into one vector; a decoder that sees nothing else, and knows the language "
        "to write, translates it."
    ),
    loss="Mean cross-entropy of the translation, each word given the one vector and the words so far.",
    terms=(Term("written words", r"-\frac{1}{|y|}\sum_{i}\log p(y_i \mid h_1(x), y_{<i})", symbols=H1),),
    source="arXiv:1812.10464, sec. 3.1",
)
