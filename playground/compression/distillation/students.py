"""How a student begins: with which of its teacher's layers, and which of them each of its layers follows."""

from dataclasses import replace

from torch import Generator

from playground.compression.classifier import Classifier, classifier_of, fresh, student_of, unshared_stack
from playground.compression.method import Compressed, TaskData
from playground.compression.methods.layer_dropping import layers_kept, number_kept

START = ("every second", "first", "last", "new")
"""Which layers of the teacher a student begins with; new ones have random weights."""

MAPPINGS = ("every", "last")
"""Which layer of the teacher each layer of the student learns from: at equal distances, or the last ones (PKD)."""


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


def layer_mapping(teacher: Classifier, layers: int, mapping: str) -> list[int]:
    """The teacher's layer, from 0, for each layer of the student."""
    there = len(unshared_stack(teacher, "This distillation").layers)
    if mapping == "last":
        return list(range(there - layers, there))
    return [(k + 1) * there // layers - 1 for k in range(layers)]


def mapped(student: Compressed, teacher: Compressed, mapping: list[int]) -> Compressed:
    """The student with the layers, of the uncompressed model, that each of its layers learns from."""
    return replace(student, layers=teacher.layers_of(tuple((k,) for k in mapping)))
