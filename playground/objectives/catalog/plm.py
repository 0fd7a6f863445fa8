"""PLM: predict the words in a random order, each from those that came earlier in that order."""

from functools import partial

from playground.objectives.arrange import ArrangePair, ArrangeText
from playground.objectives.ask import AskQueryStream
from playground.objectives.change import MaskContentStream
from playground.objectives.choose import ChooseOrder
from playground.objectives.formula import Misprint, Term
from playground.objectives.objective import Objective, Printed
from playground.objectives.see import SeePermutation
from playground.objectives.symbols import in_order

PLM = Objective(
    name="PLM",
    aliases=("permutation language model", "permuted LM"),
    row="PLM",
    printed=Printed({"order": [3, 5, 6, 8, 2, 1, 4, 7], "cut": 3}),
    group="Orders",
    stages=(ArrangeText(), ChooseOrder(), SeePermutation(), AskQueryStream()),
    idea="Draw a random order; predict its last words, each from all that come earlier in the order.",
    loss="Mean cross-entropy of the last words of the order, given the words before them in the order.",
    terms=(Term.by(in_order, "hidden words", streams="two streams"),),
    misprint=Misprint(
        r"-\sum_{t=1}^{T}\log p(z_t \mid z_{<t})",
        "Qiu et al., arXiv:2003.08271, Table 1",
        "z is the order, so z_t is a position; the token there is x at z_t. Weng writes the content state as x up to "
        "t; it must be x at z up to t.",
    ),
    source="arXiv:1906.08237, sec. 2.2-2.3; survey, eq. 3-4",
    switch=("Why two streams?", "streams"),
    versus={
        "MLM": "Predicts one word after the other in a random order, so each can use the words before it. No [MASK].",
        "LM": "Draws another order for every text, so a word is predicted from words on both sides.",
    },
)

PLM_ON_PAIRS = PLM.variant(
    name="PLM on pairs",
    aliases=("permutation language model on pairs", "XLNet's objective"),
    needs=("pair",),
    stages=(ArrangePair(("next", "other"), pair_format="xlnet"), ChooseOrder(), SeePermutation(), AskQueryStream()),
    idea="Put two texts side by side, related or not; predict the last words of one random order of both.",
    loss="Mean cross-entropy of the last words of the order, given the words before them in the order, of both texts.",
    source="arXiv:1906.08237, sec. 2.5, and the released code",
    versus={"MLM + NSP": "Nobody asks whether the second text follows the first. No [MASK]."},
)

HF_PLM = PLM.variant(
    name="PLM as in transformers",
    aliases=("HF PLM", "DataCollatorForPermutationLanguageModeling"),
    stages=(
        ArrangeText(),
        ChooseOrder(ngram_weights="uniform", special_tokens="drawn", sampler="hf"),
        MaskContentStream(),
        SeePermutation(context="hf"),
        AskQueryStream(),
    ),
    idea="Draw a random order and hide its last words for good; a short text may have no hidden word.",
    loss="Mean cross-entropy of the last words of the order, given the other words and which earlier ones are hidden.",
    terms=(Term.by(partial(in_order, heard=r"x_{z_{\leq c}}"), "hidden words", streams="two streams"),),
    source="arXiv:1906.08237, sec. 2.3, as in the collator of the transformers library, version 5.23",
)
