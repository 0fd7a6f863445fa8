"""Distilling a transformer into an RNN or a CNN reduces the computational complexity."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher, lower

STUDENTS = ("BiLSTM", "CNN")


def against_teacher(lab: Lab, arm: Arm, seed: int) -> float:
    """The operations of a student over those of its teacher, or its accuracy less that of the teacher."""
    name, _, figure = arm.figure.partition(", ")
    student, teacher = (lab.compressed(replace(arm, pipeline=line), seed) for line in (name, "uncompressed"))
    small, whole = student.accuracy, teacher.accuracy
    return student.operations / teacher.operations if figure == "operations" else small - whole


K192 = Claim(
    title="Simpler structures compute less",
    source="Qiu et al., sec. 4.5.4; Tang et al., arXiv:1903.12136; Chia et al., arXiv:1909.03508",
    prediction="Each student needs at most half of the operations and loses at most 0.05 of the accuracy.",
    otherwise="A student computes as much, or loses more.",
    common=Arm(entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", train_size=256),
    arms={f"{s}, {f}": {"figure": f"{s}, {f}"} for s in STUDENTS for f in ("operations", "accuracy")},
    rules=(
        *(lower(f"{s}, operations", 1.0, by=0.5) for s in STUDENTS),
        *(higher(f"{s}, accuracy", 0.0, by=-0.05) for s in STUDENTS),
    ),
    compute=against_teacher,
    unit="(share of the operations, difference of accuracies)",
    scale="Operations are counted, not seconds: an RNN reads word after word. The students are also narrower than the "
    "teacher. One pre-trained teacher for all seeds.",
)
