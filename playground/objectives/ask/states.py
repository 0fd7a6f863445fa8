"""Ask for hidden states: vectors of a teacher as targets."""

from dataclasses import dataclass, replace

from playground.answers import TeacherState, distance_unit
from playground.batch import Action, Batch, gather_origin
from playground.knob import knob
from playground.objectives.ask.words import asked, in_place
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskTeacherState(Ask):
    """The teacher's state of the original word at every [MASK] (arXiv:2202.03555, sec. 3.3 and released code).

    Where a selected word is shown, as itself or as another word, nothing is asked.
    """

    average_top_k_layers: int = knob(
        10, 1, 48, unit="layers", why="How many layers of the teacher are averaged, from the top; at most all of them."
    )
    loss_beta: float = knob(
        4.0, 0.0, 16.0, unit="of a difference", why="Up to here the loss is squared, then linear; 0 is squared always."
    )

    @property
    def unit(self) -> str:
        return distance_unit(self.loss_beta)

    def build(self, batch: Batch) -> Batch:
        target = in_place(batch, "inputs")
        masked = gather_origin(batch.actions == Action.MASKED, batch.inputs.origin, False)
        kind = TeacherState(self.average_top_k_layers, self.loss_beta)
        return asked(batch, replace(target, name="states", kind=kind, loss_mask=target.loss_mask & masked))
