"""Propose: words from a small generator or from chance, as replacements or as wrong answers."""

from playground.objectives.propose.words import Proposer, ProposeWords, sample
from playground.objectives.propose.wrong import ProposeWrong

__all__ = ["ProposeWords", "ProposeWrong", "Proposer", "sample"]
