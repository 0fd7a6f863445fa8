"""Propose: words from a small generator or from chance, as replacements or as wrong answers."""

from playground.objectives.propose.words import Proposer, ProposeWords, sample

__all__ = ["ProposeWords", "Proposer", "sample"]
