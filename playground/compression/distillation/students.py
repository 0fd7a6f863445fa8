"""How a student begins: with which of its teacher's layers, and which of them each of its layers follows."""

from dataclasses import replace

from torch import Generator

from playground.compression.classifier import classifier_of, fresh, student_of
from playground.compression.method import Compressed, TaskData
from playground.compression.methods.layer_dropping import layers_kept, number_kept
from playground.errors import UserError

START = ("every second", "first", "last", "new")
"""Which layers of the teacher a student begins with; new ones have random weights."""

MAPPINGS = ("every", "last")
"""Which layer of the teacher each layer of the student learns from: at equal distances, or the last ones (PKD)."""

MAPPING_WHY = "Which layers it follows: every (equal distances), last, or by hand, such as 2 4."


def begin_student(start: Compressed, data: TaskData, rng: Generator, layers: int, begins: str) -> Compressed:
    """A student with so many layers, 0 for half; with all of them it is a copy of the teacher."""
    teacher = start.classifier
    there, number = number_kept(teacher, "This distillation", layers)
    if begins == "new":
        shape = replace(teacher.model.shape, layers=number)
        new = fresh(shape, teacher, rng, data.train, data.base.words.words)
        return replace(start, classifier=new, zeros=frozenset(), layers=())
    kept = layers_kept(there, number, begins)
    return start.with_layers(student_of(teacher, kept), tuple((k,) for k in kept))


def begin_pre_trained(start: Compressed, data: TaskData, rng: Generator, layers: int, begins: str) -> Compressed:
    """The same with layers of the model as it was before it was fine-tuned, under the head of the fine-tuned one."""
    general = classifier_of(data.base.learner.model, start.classifier.head)
    return begin_student(replace(start, classifier=general), data, rng, layers, begins)


def layer_mapping(there: int, layers: int, mapping: str) -> list[int]:
    """Which of the teacher's layers, from 0, each layer of the student follows.

    By hand they count from 1 and stand in the order of the student's layers; they need not rise, as the papers' do.
    """
    every, numbers = [(k + 1) * there // layers for k in range(layers)], mapping.split()
    known = dict(zip(MAPPINGS, (every, range(there - layers + 1, there + 1)), strict=True))
    if mapping in known:
        return [t - 1 for t in known[mapping]]
    if len(numbers) != layers or not {*numbers} <= {str(t + 1) for t in range(there)}:
        raise UserError(
            f"mapping is {mapping!r}; write every, last or, for each layer of the student ({layers}), the number of "
            f"one of the teacher's {there} layers, like {' '.join(map(str, every))}."
        )
    return [int(t) - 1 for t in numbers]


def mapped(student: Compressed, teacher: Compressed, mapping: list[int]) -> Compressed:
    """The student with the layers, of the uncompressed model, that each of its layers learns from."""
    return replace(student, layers=teacher.layers_of(tuple((k,) for k in mapping)))
