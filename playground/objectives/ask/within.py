"""Ask within a sum of objectives."""

from dataclasses import dataclass, replace

from playground.batch import Batch
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class Reweight(Ask):
    """The same questions, weighed once more and some of them under another name (see `mixture.mixed`)."""

    weight: float = 1.0
    names: tuple[tuple[str, str], ...] = ()

    def build(self, example: Batch) -> Batch:
        names = dict(self.names)
        questions = tuple(
            replace(q, name=names.get(q.name, q.name), weight=q.weight * self.weight) for q in example.questions
        )
        return replace(example, questions=questions, auxiliary=tuple(map(self.build, example.auxiliary)))
