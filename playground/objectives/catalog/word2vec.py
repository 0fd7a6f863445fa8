"""word2vec: skip-gram and CBOW, with a full softmax, negative sampling and NCE."""

from functools import partial

from playground.objectives.arrange import ArrangeWindows
from playground.objectives.ask import AskCentre, AskNeighbour
from playground.objectives.choose import SubsampleFrequent
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.propose import SampleNegatives
from playground.objectives.see import SeeSelf, SeeWindow
from playground.objectives.symbols import PAIRS, PLACES, distinguished

SOFTMAX = r"\log\frac{\exp(u_o^\top v_c)}{\sum_w \exp(u_w^\top v_c)}"

SYMBOLS = {"v_c": "the input: a word's vector, or the mean of its window's", "u_o": "the right word's second vector"}

LIKELY = {**SYMBOLS, "u_k": "a wrong word's second vector", "q_k": "the probability that a word is sampled"}

AMONG_PLACES = partial(distinguished, over=PLACES)

SKIP_GRAM = Objective(
    name="skip-gram",
    aliases=("skip-gram softmax", "SG"),
    group="Word vectors",
    stages=(SubsampleFrequent(), ArrangeWindows(), SeeSelf(), AskNeighbour()),
    idea="From each word alone, predict every word near it.",
    loss="Mean cross-entropy of every word within the window of a centre, given the centre.",
    terms=(Term("word nearby", f"-{PAIRS}{SOFTMAX}", symbols=SYMBOLS),),
    source="arXiv:1301.3781, sec. 3.2; arXiv:1310.4546, eq. 1-2",
)

SKIP_GRAM_SAMPLED = SKIP_GRAM.variant(
    name="skip-gram NS",
    aliases=("SGNS", "skip-gram with negative sampling"),
    stages=(*SKIP_GRAM.stages, SampleNegatives()),
    idea="From each word alone, tell the words near it from random words.",
    loss="For every pair the yes-or-no loss of the right word and of some wrong ones.",
    terms=(Term.by(distinguished, "word nearby", LIKELY, loss="sampled"),),
    source="arXiv:1310.4546, sec. 2.2 and released code",
)

SKIP_GRAM_NCE = SKIP_GRAM.variant(
    name="skip-gram NCE",
    aliases=("noise-contrastive estimation", "NCE"),
    stages=(*SKIP_GRAM.stages, SampleNegatives(loss="nce")),
    idea="Tell the words near a word from sampled ones, knowing how likely each was to be sampled.",
    loss="The binary losses of negative sampling, with the log-probability of each word as noise subtracted from its "
    "score.",
    terms=(Term.by(distinguished, "word nearby", LIKELY, loss="nce"),),
    source="Mnih and Kavukcuoglu 2013, eq. 8; arXiv:1310.4546, sec. 2.2",
)

CBOW = Objective(
    name="CBOW",
    aliases=("continuous bag of words", "CBOW softmax"),
    group="Word vectors",
    stages=(SubsampleFrequent(), SeeWindow(), AskCentre()),
    idea="Predict each word from the bag of words around it.",
    loss="Mean cross-entropy of every word given the words of its window.",
    terms=(Term("centre word", f"-{PLACES}{SOFTMAX}", symbols=SYMBOLS),),
    source="arXiv:1301.3781, sec. 3.1",
)

CBOW_SAMPLED = CBOW.variant(
    name="CBOW NS",
    aliases=("CBOW-NS", "CBOW with negative sampling"),
    stages=(*CBOW.stages, SampleNegatives()),
    idea="Tell each word from random words, given the bag of words around it.",
    loss="For every word the yes-or-no loss of the word itself and of some wrong ones.",
    terms=(Term.by(AMONG_PLACES, "centre word", LIKELY, loss="sampled"),),
    source="arXiv:1310.4546, sec. 2.2 and released code",
)
