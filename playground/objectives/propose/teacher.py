"""Propose: a slow copy of the model reads the text as it was, and its states can be targets."""

from dataclasses import dataclass, replace

from playground.batch import Batch
from playground.knob import knob
from playground.objectives.change.tokens import rewritten
from playground.objectives.stage import Propose


@dataclass(frozen=True)
class ReadWithTeacher(Propose):
    """Let a teacher, the moving average of the model's weights, read the unchanged text (arXiv:2202.03555, sec. 3.2).

    The decay rises in a straight line over the first steps, then stays (sec. 3.2). What the teacher reads is an
    auxiliary batch of the network "teacher"; a stage that asks for its states comes behind. With a decay of 1 the
    teacher is frozen.
    """

    ema_decay: float = knob(
        0.999, 0.0, 1.0, unit="of itself", why="What the teacher keeps of its weights in the first steps."
    )
    ema_end_decay: float = knob(
        0.9999, 0.0, 1.0, unit="of itself", why="What it keeps at the end: nearer to 1, the targets change less."
    )
    ema_anneal: float = knob(
        0.3, 0.0, 1.0, unit="share of the steps", why="How long the decay takes from its first value to its last."
    )

    def decay(self, step: int, steps: int) -> float:
        """The decay after a step (1-based) of a run of so many steps."""
        end = self.ema_anneal * steps
        return self.ema_decay + (self.ema_end_decay - self.ema_decay) * (min(1.0, step / end) if end else 1.0)

    def build(self, batch: Batch) -> Batch:
        clean = rewritten(batch.inputs, batch.tokens.ids, batch.maskable)
        taught = replace(batch, inputs=clean, auxiliary=(), targets=(), network="teacher")
        return replace(batch, auxiliary=(*batch.auxiliary, taught))
