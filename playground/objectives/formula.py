"""The loss in symbols: named terms, each fed by one target, so that a view can light up what a position pays."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

FREE = r"\lambda"
"""A weight that has a name of its own, whatever number it is."""

HALF = r"\tfrac{1}{2}"


@dataclass(frozen=True)
class Term:
    """One term of a loss: the target that feeds it, its LaTeX, its weight in front, and what its symbols mean.

    `under` gives the LaTeX for the knobs of the chain that asks, by their names; without it no knob changes the LaTeX.
    Where it does, only the symbols that stand in it are kept.
    """

    target: str
    latex: str
    weight: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)
    under: Callable[[Mapping[str, Any]], str] | None = None

    @classmethod
    def by(
        cls,
        under: Callable[[Mapping[str, Any]], str],
        target: str,
        symbols: Mapping[str, str] | None = None,
        /,
        **knobs: Any,
    ) -> "Term":
        """A term that follows its knobs, as it stands with these."""
        return cls(target, "", "", symbols or {}, under).now(knobs)

    def now(self, knobs: Mapping[str, Any]) -> "Term":
        """The term with the knobs turned so."""
        return self if self.under is None else replace(self, latex=self.under(knobs))

    @property
    def meanings(self) -> dict[str, str]:
        """What the symbols mean that stand in the LaTeX."""
        if self.under is None:
            return dict(self.symbols)
        stands = r"(?<![A-Za-z\\]){}(?![A-Za-z])"
        return {s: what for s, what in self.symbols.items() if re.search(stands.format(re.escape(s)), self.latex)}

    def weighing(self, weight: float) -> "Term":
        """The term with the number that its target counts in front."""
        if FREE in self.weight or _number(self.weight) == weight:
            return self
        return replace(self, weight="" if weight == 1.0 else spelt(weight))

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


def spelt(weight: float) -> str:
    """A weight in LaTeX: a small fraction where a decimal number would be rounded."""
    fraction = Fraction(weight).limit_denominator(12)
    rounds = float(f"{weight:g}") != weight == float(fraction)
    return rf"\tfrac{{{fraction.numerator}}}{{{fraction.denominator}}}" if rounds else f"{weight:g}"


def _number(weight: str) -> float | None:
    """The number that a weight says; none where it is a product of some."""
    try:
        return float(Fraction(re.sub(r"^\\tfrac\{(\d+)\}\{(\d+)\}$", r"\1/\2", weight or "1")))
    except ValueError:
        return None


def written(terms: tuple[Term, ...]) -> str:
    """The whole loss: its terms in their order, added up."""
    return " + ".join(term.weighted for term in terms).replace("+ -", "- ")
