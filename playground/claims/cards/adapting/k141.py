"""Adapters need few weights for each task, nearly match fine-tuning, and never change an earlier task."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, Rule, equal
from playground.claims.figures.tuning import accuracy
from playground.finetuning.comparing.continual import ContinualResult, continual
from playground.finetuning.comparing.spec import ComparisonSpec

SHARE, KEPT, CHANGE = "share of weights per task", "accuracy over full", "change of the first task"


def figure(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of the weights that a task stores, the accuracy over full fine-tuning's, or the change of a task."""
    if arm.figure == SHARE:
        tuned = lab.tuned(arm, seed)
        return tuned.stored / sum(tuned.sizes)
    if arm.figure == KEPT:
        return accuracy(lab, arm, seed) / accuracy(lab, replace(arm, figure=""), seed, strategy="full")
    spec = ComparisonSpec(
        "", arm.task, (arm.strategy,), (arm.train_size,), 1, seed, arm.tuning_steps, then=("sentiment",)
    )
    *_, last = continual(lab.base(arm, seed), lab.corpus(arm).tokenizer, spec)
    assert isinstance(last, ContinualResult)
    return abs(last.changes[0])


K141 = Claim(
    title="Adapters never touch other tasks",
    source="Liu et al., sec. 5.2; Qiu et al., sec. 5.3; Houlsby et al., arXiv:1902.00751",
    prediction="At most 5 % of the weights give 95 % of the accuracy; a second task changes nothing of the first.",
    otherwise="Adapters are larger or less accurate than that, or the first task changes.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="topic", strategy="adapters"),
    arms={name: {"figure": name} for name in (SHARE, KEPT, CHANGE)},
    rules=(Rule(SHARE, 0.0, 0.0, 0.05), Rule(KEPT, 0.95, 0.0, 1.0), equal(CHANGE, 0.0)),
    compute=figure,
    unit="share",
    published="3.6 % of the weights for each task, within 0.4 % of full fine-tuning on GLUE.",
    scale="A tiny model is narrow, so the same bottleneck is a larger share of its weights than of BERT's.",
)
