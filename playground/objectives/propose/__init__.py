"""Propose: words from a generator as replacements, from the word counts as negatives, or a teacher's states."""

from playground.objectives.propose.teacher import ReadWithTeacher
from playground.objectives.propose.words import Proposer, SampleFromGenerator, sample
from playground.objectives.propose.wrong import SampleNegatives

__all__ = ["Proposer", "ReadWithTeacher", "SampleFromGenerator", "SampleNegatives", "sample"]
