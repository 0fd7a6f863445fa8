"""Bidirectional encoders are crucial for extractive question answering: a left-to-right model cannot use the words
after a position to decide whether the answer begins there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.benefit import accuracy_on
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.input_format import InputRow
from playground.finetuning.data.task import Split
from playground.finetuning.data.task_types import Span
from playground.finetuning.tasks.question_answering import QUESTION_ANSWERING


@dataclass(frozen=True)
class SpanOfFirst(Span):
    """A span of the first text of a row, which a second one follows."""

    def labels(self, items: "Sequence[Item]", rows: "Sequence[InputRow]") -> Tensor:
        return super().labels(items, [replace(row, starts=row.starts[:1]) for row in rows])

    def positions(self, items: "Sequence[Item]", rows: "Sequence[InputRow]") -> Tensor:
        return super().positions(items, [replace(row, starts=row.starts[:1]) for row in rows])


def passage_first(count: int, seed: int, split: Split) -> list[Item]:
    """The same questions, behind their passages."""
    return [replace(item, texts=item.texts[::-1]) for item in QUESTION_ANSWERING.items(count, seed, split)]


PACKINGS = {
    "question first": QUESTION_ANSWERING,
    "passage first": replace(QUESTION_ANSWERING, answer=SpanOfFirst(), items=passage_first),
}


def advantage(lab: Lab, arm: Arm, seed: int) -> float:
    """How much more answers a bidirectional model finds than one that reads from left to right."""
    found = [
        accuracy_on(lab, replace(arm, entry=entry), seed, PACKINGS[arm.figure], "F1") for entry in (arm.entry, "LM")
    ]
    return found[0] - found[1]


K074 = Claim(
    title="Both sides for SQuAD",
    source="Weng, BART; Lewis et al., arXiv:1910.13461, sec. 4.3",
    prediction="MLM finds more answers than LM, whether the question comes before the passage or after it.",
    otherwise="LM finds as many answers in one of the two packings.",
    common=Arm(entry="MLM", corpus="questions", one_model=True, train_size=256, tuning_steps=160),
    arms={name: {"figure": name} for name in PACKINGS},
    compute=advantage,
    rules=tuple(higher(name, 0.0) for name in PACKINGS),
    unit="F1 more than LM",
    scale="One model of each kind for all seeds, which draw other texts and heads. With the question first a "
    "left-to-right model can know what is asked. Passages have four sentences and say once where each person went, so "
    "far less is needed than for SQuAD.",
)
