"""The loss in symbols: named terms, each fed by one question, so that a view can light up what a position pays."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Term:
    """One term of a loss: the question that feeds it, its LaTeX, its weight in front, and what its symbols mean."""

    question: str
    latex: str
    weight: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)

    @property
    def weighted(self) -> str:
        """The term with its weight behind its sign."""
        sign = "-" if self.latex.startswith("-") else ""
        return rf"{sign}{self.weight}\,{self.latex.removeprefix('-')}" if self.weight else self.latex


@dataclass(frozen=True)
class Misprint:
    """What a source prints where it errs: its LaTeX, where it stands, and what is wrong with it."""

    latex: str
    where: str
    wrong: str


def written(terms: tuple[Term, ...]) -> str:
    """The whole loss: its terms in their order, added up."""
    return " + ".join(term.weighted for term in terms).replace("+ -", "- ")
