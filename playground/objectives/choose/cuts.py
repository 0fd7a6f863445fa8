"""Choose spans between cuts that are drawn anywhere in the text."""

from dataclasses import dataclass, replace
from math import exp, factorial

from torch import Generator, Tensor

from playground.batch import Batch, Spans, arange_rows
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.choose.spans import ChosenSpans, SpanChoice, inside, override_spans
from playground.objectives.ops import sampling
from playground.objectives.stage import PlanOverrides


def select_spans(batch: Batch, plan: ChosenSpans) -> Batch:
    """The spans and the tokens in them, special tokens included."""
    spans = Spans(plan.start, plan.length)
    return replace(batch, spans=spans, selected=inside(spans, batch.tokens.ids.shape[1]) & batch.tokens.valid)


def between_cuts(count: Tensor, batch: Batch, most: int, rng: Generator) -> ChosenSpans:
    """`count [b]` spans, at most `most`: each between two of the cuts, which lie at 0 to T tokens, all independent.

    This is the law of spans with two uniform ends each, drawn again until no two of them overlap.
    """
    cuts = sampling.sorted_positions(2 * count, batch.tokens.lengths + 1, 2 * most, rng)
    start, end = cuts.unflatten(1, (most, 2)).unbind(2)
    there = arange_rows(start) < count[:, None]
    return ChosenSpans(start * there, (end - start).where(there, -1))


@dataclass(frozen=True)
class ChooseMiddle(SpanChoice):
    """Cut the text into prefix, middle and suffix at two independent cuts (arXiv:2207.14255, sec. 3).

    Every part may be empty. Cuts lie between tokens; the paper cuts between characters and tokenizes each part.
    """

    def plan(self, batch: Batch, rng: Generator) -> ChosenSpans:
        return between_cuts(batch.tokens.lengths.new_full(batch.tokens.lengths.shape, 1), batch, 1, rng)

    def override_plan(self, batch: Batch, plan: ChosenSpans, overrides: PlanOverrides) -> ChosenSpans:
        if len(overrides["spans"]) != 1:
            raise UserError(f"The plan has {len(overrides['spans'])} spans; the middle is one span, such as 2:3.")
        return override_spans(batch, plan, overrides)

    build = staticmethod(select_spans)


ZERO = ("one", "redrawn", "plain")
"""What a draw of no span becomes: one span, another draw, or the text as it stands."""


@dataclass(frozen=True)
class ChooseCausalSpans(SpanChoice):
    """Mark a Poisson(1) number of spans between cuts (CM3, arXiv:2201.07520, sec. 2; InCoder, arXiv:2204.05999).

    CM3 clamps the number to at least one span, InCoder truncates the law at one, and CM3's released code leaves the
    text as it is. Spans do not overlap; one whose two cuts are the same is none, and so is one too many for the
    sentinels.
    """

    max_spans: int = knob(16, 1, 32, unit="spans", why="The law has a long tail; each span needs a sentinel.")
    no_span: str = knob("one", choices=ZERO, why="What a draw of no span becomes: CM3, InCoder, or CM3's code.")

    def plan(self, batch: Batch, rng: Generator) -> ChosenSpans:
        most = self._most(batch)
        noise = sampling.noise((len(batch.tokens.ids),), rng).double()
        count = sampling.outcomes(self._weights(most), noise)
        plan = between_cuts(count, batch, most, rng)
        return replace(plan, start=plan.start * (plan.length > 0), length=plan.length.where(plan.length > 0, -1))

    def _most(self, batch: Batch) -> int:
        if not batch.tokens.specials.sentinels:
            batch.tokens.specials.id_of("sentinel")
        return min(self.max_spans, len(batch.tokens.specials.sentinels))

    def _weights(self, most: int) -> list[float]:
        """How probable each number of spans is, from 0 to the most."""
        zero, *law = (exp(-1) / factorial(k) for k in range(most))
        law = [*law, 1 - zero - sum(law)]
        match self.no_span:
            case "one":
                return [0.0, law[0] + zero, *law[1:]]
            case "redrawn":
                return [0.0, *law]
            case _:
                return [zero, *law]

    def override_plan(self, batch: Batch, plan: ChosenSpans, overrides: PlanOverrides) -> ChosenSpans:
        if (number := len(overrides["spans"])) > (most := self._most(batch)):
            raise UserError(f"The plan has {number} spans; at most {most} are possible.")
        if any(length < 1 for _, length in overrides["spans"]):
            raise UserError("A span of the plan has no word; give each span a length of at least 1.")
        return override_spans(batch, plan, overrides)

    build = staticmethod(select_spans)
