"""Fine-tuning on a task that stands in no catalogue, and what pre-training adds to a task."""

from dataclasses import replace

from playground.claims import Arm, Lab
from playground.finetuning.comparing.compare import Comparison, compare
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.task import Task


def accuracy_on(lab: Lab, arm: "Arm", seed: int, task: Task, measure: str = "accuracy") -> float:
    """A measure of the model of an arm, fine-tuned on a task of the card's own."""
    known = (arm.strategy,), (arm.train_size,), 1, seed, arm.tuning_steps
    spec = ComparisonSpec("", task.name, *known, parallelism="processes")
    *_, last = compare(lab.base(arm, seed), lab.corpus(arm).tokenizer, spec, task=task)
    assert isinstance(last, Comparison)
    [[result]] = last.outcomes.values()
    return result.measured[measure]


def benefit(lab: Lab, arm: "Arm", seed: int) -> float:
    """How much better a pre-trained model does on the task of an arm than the same network from a random start."""
    own, control = (lab.tuned(replace(arm, strategy=name), seed).accuracy for name in (arm.strategy, "random start"))
    return own - control
