"""Multi-task learning before fine-tuning on each task alone is the best way to use several tasks."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.tuning import over_tasks

K148 = Claim(
    title="Multi-task first, then each alone",
    source="Liu et al., sec. 5.3; Raffel et al., arXiv:1910.10683, sec. 3.5.3",
    prediction="The mean accuracy of three tasks is higher than with multi-task learning alone and than with each task "
    "alone.",
    otherwise="One of the two is as good.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="sentiment"),
    arms={
        "multi-task, then alone": {"strategy": "multi-task then alone"}, "multi-task": {"strategy": "multi-task"},
        "alone": {"strategy": "full"},
    },
    rules=(higher("multi-task, then alone", "multi-task"), higher("multi-task, then alone", "alone")),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    seeds=6,
    scale="A head for each task instead of T5's text-to-text. 80 steps in all, so that the task alone has half of "
    "them. One pre-trained model for all seeds.",
)  # fmt: skip
