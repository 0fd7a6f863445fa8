"""What one visit may take of the machine: everything where it is alone, a share where others are there too."""

from dataclasses import dataclass

from playground.errors import UserError
from playground.training.loop import Run
from playground.training.memory import estimate, format_bytes
from playground.training.system.turns import NO_LINE, Turn, Turns
from widgets.state.uploads import LARGEST_FILE


@dataclass(frozen=True)
class Quota:
    """The share of a visit; without `turns` it is alone, and whatever the machine can is allowed.

    `upload` are bytes of a file, `runs` how many are kept, `checkpoints` of each run, `memory` bytes that a run needs.
    """

    turns: Turns | None = None
    upload: int = LARGEST_FILE
    runs: int | None = None
    checkpoints: int = 20
    memory: int | None = None

    @property
    def shared(self) -> bool:
        """Whether others are served by this machine."""
        return self.turns is not None

    def in_line(self, owner: object) -> Turn:
        """A place in the line of all visits for a new piece of work."""
        return NO_LINE if self.turns is None else self.turns.of(owner)

    def check(self, run: Run, kept: int) -> None:
        """Refuse a run that is larger than one visit's share, or one more than may be kept."""
        if self.runs is not None and kept >= self.runs:
            raise UserError(
                f"{kept} runs are saved, the maximum for one visit here; delete one in the list of runs below."
            )
        need = estimate(run.entry, len(run.corpus.tokenizer))
        if self.memory is not None and need > self.memory:
            raise UserError(
                f"This run needs about {format_bytes(need)} of memory; one visit has {format_bytes(self.memory)} here. "
                "Choose a narrower model, shorter rows or smaller batches."
            )


ALONE = Quota()
"""The share of a visit that has the machine to itself."""
