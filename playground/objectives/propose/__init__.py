"""Propose: words from a small generator or from chance, as replacements or as wrong answers."""

from playground.objectives.propose.words import Proposer, SampleFromGenerator, sample
from playground.objectives.propose.wrong import SampleNegatives

__all__ = ["Proposer", "SampleFromGenerator", "SampleNegatives", "sample"]
