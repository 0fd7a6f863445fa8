"""Propose: words from a generator as replacements, or from the word counts as negatives."""

from playground.objectives.propose.words import Proposer, SampleFromGenerator, sample
from playground.objectives.propose.wrong import SampleNegatives

__all__ = ["Proposer", "SampleFromGenerator", "SampleNegatives", "sample"]
