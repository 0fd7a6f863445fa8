"""Premises and hypotheses: does the second follow from the first, contradict it, or is neither the case?"""

from playground.corpora.catalog.pairwise import of_pairs
from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.corpora.tinyworld.tasks.inference import INFERENCES, inference_pairs

LENGTH = 15
"""Tokens of a pair, its [SEP] included."""

MOST = 30_000
"""Pairs that are drawn at most; all of them differ."""


def make_inference(seed: int, tokens: int) -> Corpus:
    """About so many tokens of pairs, a third of each kind; both texts know which kind it is."""
    pairs, labels = inference_pairs(min(MOST, max(8, tokens // LENGTH)), seed)
    return of_pairs("inference", pairs, "inference", labels, INFERENCES)


INFERENCE = Source(
    name="inference",
    aliases=("NLI pairs", "premises"),
    idea="Premises, each with a hypothesis that follows, contradicts or does neither.",
    make=make_inference,
    tokens=200_000,
)
