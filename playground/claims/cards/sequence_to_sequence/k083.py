"""Multi-task pre-training and then fine-tuning on each task is best for a text-to-text model."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.benefit import accuracy_on
from playground.finetuning.tasks.text_to_text import as_text

SCHEDULES = {
    "tasks, then one": ("T5 multi-task", 80),
    "tasks alone": ("T5 multi-task", 1),
    "spans, then one": ("T5 spans", 80),
}
"""What is trained first, and the steps of fine-tuning; with one step nothing is learned yet."""


def right(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of unseen reviews whose label is written rightly."""
    entry, steps = SCHEDULES[arm.figure]
    return accuracy_on(lab, replace(arm, entry=entry, tuning_steps=steps), seed, as_text("sst2"), "exact match")


K083 = Claim(
    title="Many tasks first, then each alone",
    source="Liu et al., sec. 2.3 and 3.2; Raffel et al., arXiv:1910.10683, sec. 3.5.3",
    prediction="After as many steps of pre-training it writes more labels of reviews rightly than the same model "
    "without fine-tuning, and than one that was pre-trained on spans alone.",
    otherwise="One of the two is as good.",
    common=Arm("T5 multi-task", corpus="text to text", one_model=True),
    arms={name: {"figure": name} for name in SCHEDULES},
    compute=right,
    rules=(higher("tasks, then one", "tasks alone"), higher("tasks, then one", "spans, then one")),
    unit="of the labels",
    scale="One task is asked, with 64 labelled texts. 300 steps are too few to learn it before: tasks alone are about "
    "chance, 0.5. Spans are hidden in the same text, answers included. One model of each kind for all seeds.",
    history=(
        "All seeds were seen with another prefix and other labels than the corpus has (0 for tasks alone): the model "
        "was not asked for the task that it had learned.",
    ),
)
