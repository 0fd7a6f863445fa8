"""context2vec: a word distinguished from wrong ones by all of its context."""

from playground.objectives.ask import AskCentre
from playground.objectives.catalog.word2vec import AMONG_PLACES, LIKELY
from playground.objectives.choose import ChooseTokens
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.propose import SampleNegatives
from playground.objectives.see import SeeAllButSelf

CONTEXT2VEC = Objective(
    name="context2vec",
    aliases=("context to vec",),
    group="Word vectors",
    stages=(ChooseTokens(mask_ratio=1.0), SeeAllButSelf(), AskCentre(), SampleNegatives(10)),
    idea="Tell each word from sampled ones, given all the other words of its text, here as a bag; the entry of this "
    "name in the zoo reads them with two LSTMs.",
    loss="For every word the yes-or-no loss of the word itself and of some wrong ones, given all the others.",
    terms=(
        Term.by(AMONG_PLACES, "centre word", LIKELY | {"v_c": "the vector of all the other words"}, loss="sampled"),
    ),
    source="Melamud et al. 2016, sec. 2; survey of Qiu et al., arXiv:2003.08271, sec. 2.3",
)
