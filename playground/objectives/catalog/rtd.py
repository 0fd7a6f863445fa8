"""RTD: a small generator swaps some words, and every word must be classified as original or replaced."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked, AskReplaced
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Misprint, Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.propose import SampleFromGenerator
from playground.objectives.see import SeeAll

RTD = Objective(
    name="RTD",
    aliases=("replaced token detection", "discriminator", "Discriminator (o/r)"),
    row="Discriminator (o/r)",
    printed=Printed({"chosen": [3, 5], "replace": ["thrilled", "study"]}),
    group="Replaced or not",
    stages=(
        ArrangeText(),
        ChooseTokens(),
        ChangeTokens(mask_replace_prob=0.85, random_replace_prob=0.0),
        AskMasked(),
        SampleFromGenerator(),
        SeeAll(),
        AskReplaced(),
    ),
    idea="A small generator swaps some words; say for every word whether it is the original.",
    loss="Generator: cross-entropy at the chosen words. Discriminator: 50 times the mean yes-or-no loss at every word.",
    terms=(
        Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p_G(x_t \mid x^{masked})"),
        Term(
            "replaced?",
            r"-\frac{1}{T}\sum_{t=1}^{T}\log p_D(y_t \mid \hat{x})",
            weight=r"\lambda",
            symbols={"y_t": "1 where the shown word is not the original one"},
        ),
    ),
    misprint=Misprint(
        r"-\mathbb{1}[\tilde{x}_t \neq x_t]\,\log(1 - \log D(\tilde{x}, t))",
        "Weng, Generalized Language Models, ELECTRA",
        "A second log slipped into the loss of replaced words; it should be log(1 - D).",
    ),
    source="arXiv:2003.10555, sec. 2 and released code",
)

ALL_MASKED_RTD = RTD.variant(
    name="RTD with [MASK] alone",
    aliases=("DeBERTaV3's RTD", "rtd_task"),
    misprint=None,
    stages=(
        ArrangeText(),
        ChooseTokens(),
        ChangeTokens(mask_replace_prob=1.0, random_replace_prob=0.0),
        AskMasked(),
        SampleFromGenerator(),
        SeeAll(),
        AskReplaced(),
    ),
    idea="As RTD, but the generator reads [MASK] at every chosen word, never the word itself.",
    source="arXiv:2111.09543, sec. 3.1, and released code",
    versus={"RTD": "All chosen words are hidden from the generator, where ELECTRA's reads 15 % of them as they are."},
)
