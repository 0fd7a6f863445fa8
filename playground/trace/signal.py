"""How much signal a step has: scored positions, tokens read, rows without a target."""

from dataclasses import dataclass

from playground.batch import Batch


@dataclass(frozen=True)
class Meter:
    """The signal of a target: scored positions, tokens of text that were read for it, rows without a target."""

    scored: int
    read: int
    idle_rows: int

    @property
    def share(self) -> float:
        """Scored positions per token that is read; above 1 where special tokens are scored too."""
        return self.scored / max(1, self.read)


def measure(batch: Batch) -> dict[str, Meter]:
    """The meters of all targets by name, those of auxiliary batches included."""
    asked = [(target.name, target.loss_mask.sum(1), part) for part in batch.with_auxiliary for target in part.targets]
    return {
        name: Meter(int(by_row.sum()), int(part.tokens.lengths.sum()), int((by_row == 0).sum()))
        for name, by_row, part in asked
    }
