"""One vector for every word: skip-gram, CBOW and their kin, who learn from windows (word2vec and around it)."""

from dataclasses import replace

from playground.objectives.arrange import ArrangeWindows
from playground.objectives.ask import AskCentre, AskNeighbour
from playground.objectives.choose import ChooseRarer, ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.propose import ProposeWrong
from playground.objectives.see import SeeAlone, SeeOthers, SeeWindow

GROUP = "Word vectors"

SOFTMAX = r"\log\frac{\exp(u_o^\top v_c)}{\sum_w \exp(u_w^\top v_c)}"
SAMPLED = r"\Big[\log\sigma(u_o^\top v_c) + \sum_{k=1}^{K}\log\sigma(-u_k^\top v_c)\Big]"
NCE = r"\Big[\log\sigma(u_o^\top v_c - \log K q_o) + \sum_{k=1}^{K}\log\sigma(\log K q_k - u_k^\top v_c)\Big]"
PAIRS = r"-\frac{1}{|P|}\sum_{(c,o) \in P}"
PLACES = r"-\frac{1}{T}\sum_{o}"
SYMBOLS = {"v_c": "what is seen: a word's vector, or the mean of its window's", "u_o": "the right word's second vector"}
DRAWN = {**SYMBOLS, "u_k": "a wrong word's second vector"}
LIKELY = {**DRAWN, "q_k": "the chance that a word is drawn"}

SKIP_GRAM = Objective(
    name="skip-gram",
    aliases=("skip-gram softmax", "SG"),
    group=GROUP,
    rank=150,
    stages=(ChooseRarer(), ArrangeWindows(), SeeAlone(), AskNeighbour()),
    idea="From each word alone, predict every word near it.",
    loss="Mean cross-entropy of every word within the window of a centre, given the centre.",
    terms=(Term("word nearby", PAIRS + SOFTMAX, symbols=SYMBOLS),),
    source="arXiv:1301.3781, sec. 3.2; arXiv:1310.4546, eq. 1-2",
)

SKIP_GRAM_SAMPLED = replace(
    SKIP_GRAM,
    name="skip-gram NS",
    aliases=("SGNS", "skip-gram with negative sampling"),
    rank=151,
    stages=(*SKIP_GRAM.stages, ProposeWrong()),
    idea="From each word alone, tell the words near it from words drawn by chance.",
    loss="For every pair the yes-or-no loss of the right word and of some wrong ones.",
    terms=(Term("word nearby", PAIRS + SAMPLED, symbols=DRAWN),),
    source="arXiv:1310.4546, sec. 2.2 and released code",
)

SKIP_GRAM_NCE = replace(
    SKIP_GRAM,
    name="skip-gram NCE",
    aliases=("noise-contrastive estimation", "NCE"),
    rank=152,
    stages=(*SKIP_GRAM.stages, ProposeWrong(loss="nce")),
    idea="Tell the words near a word from drawn ones, knowing how likely each was to be drawn.",
    loss="The yes-or-no losses of negative sampling, with the chance of each word as noise taken off its score.",
    terms=(Term("word nearby", PAIRS + NCE, symbols=LIKELY),),
    source="Mnih and Kavukcuoglu 2013, eq. 8; arXiv:1310.4546, sec. 2.2",
)

CBOW = Objective(
    name="CBOW",
    aliases=("continuous bag of words", "CBOW softmax"),
    group=GROUP,
    rank=153,
    stages=(ChooseRarer(), SeeWindow(), AskCentre()),
    idea="Predict each word from the bag of words around it.",
    loss="Mean cross-entropy of every word given the words of its window.",
    terms=(Term("centre word", PLACES + SOFTMAX, symbols=SYMBOLS),),
    source="arXiv:1301.3781, sec. 3.1",
)

CBOW_SAMPLED = replace(
    CBOW,
    name="CBOW NS",
    aliases=("CBOW-NS", "CBOW with negative sampling"),
    rank=154,
    stages=(*CBOW.stages, ProposeWrong()),
    idea="Tell each word from words drawn by chance, given the bag of words around it.",
    loss="For every word the yes-or-no loss of the word itself and of some wrong ones.",
    terms=(Term("centre word", PLACES + SAMPLED, symbols=DRAWN),),
    source="arXiv:1310.4546, sec. 2.2 and released code",
)

PAIRWISE_RANKING = Objective(
    name="pairwise ranking",
    aliases=("Collobert and Weston", "C&W", "ranking"),
    group=GROUP,
    rank=155,
    stages=(ChooseTokens(rate=1.0), SeeWindow(shrink=False), AskCentre(), ProposeWrong(1, power=0.0, loss="hinge")),
    idea="Score the true word in the middle of a window above a word drawn at random.",
    loss="How far the true word falls short of being one ahead of the drawn one, zero where it is ahead.",
    terms=(
        Term(
            "centre word",
            r"\frac{1}{T}\sum_t \max\{0,\ 1 - s(x_t \mid x_{t \pm m}) + s(\tilde{x} \mid x_{t \pm m})\}",
            symbols={"s": "the score of a word in a window", r"\tilde{x}": "a word drawn at random"},
        ),
    ),
    source="Collobert and Weston 2008, sec. 3; survey of Qiu et al., arXiv:2003.08271, sec. 3.1",
)

CONTEXT2VEC = Objective(
    name="context2vec",
    aliases=("context to vec",),
    group=GROUP,
    rank=156,
    stages=(ChooseTokens(rate=1.0), SeeOthers(), AskCentre(), ProposeWrong(10)),
    idea="Tell each word from drawn ones, given all the other words of its text, here as a bag or by attention "
    "and not by two recurrent networks.",
    loss="For every word the yes-or-no loss of the word itself and of some wrong ones, given all others.",
    terms=(Term("centre word", PLACES + SAMPLED, symbols=DRAWN | {"v_c": "what all the other words say"}),),
    source="Melamud et al. 2016, sec. 2; survey of Qiu et al., arXiv:2003.08271, sec. 2.3",
)
