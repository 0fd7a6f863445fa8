"""Feeding the top layer into the task is the simplest way and as effective as any, if the model is fine-tuned."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher
from playground.finetuning.comparing.compare import TEST_TEXTS
from playground.finetuning.data.files import find_task
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import FinetuneConfig
from playground.finetuning.run.tune import tune
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import texts_for


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy after full fine-tuning with a head that reads what that of the arm's strategy reads."""
    full, task = read("full"), find_task(arm.task)
    strategy = replace(full, head=read(arm.strategy).head)
    base = replace(lab.base(arm, seed), task=task)
    texts = texts_for(base.learner, task, [strategy], lab.corpus(arm).tokenizer)
    train, test = texts(arm.train_size, seed, "train"), texts(TEST_TEXTS, seed, "test")
    *_, last = tune(base, strategy, train, test, FinetuneConfig(steps=arm.tuning_steps), seed)
    assert isinstance(last, Result)
    return last.accuracy


K129 = Claim(
    title="The top layer is enough",
    source="Qiu et al., sec. 5.2.2 and 5.2.3, table 4",
    prediction="After full fine-tuning a head on the top layer is at most 0.02 less accurate than one on a learned mix "
    "of all layers, or on all of them side by side.",
    otherwise="A head that reads more layers is more accurate.",
    common=Arm("RoBERTa", steps=600, one_model=True, task="sentiment", train_size=256),
    arms={
        "top layer": {"strategy": "full"}, "mix": {"strategy": "layer mix"}, "all layers": {"strategy": "all layers"},
    },
    rules=(higher("top layer", "mix", by=-0.02), higher("top layer", "all layers", by=-0.02)),
    compute=accuracy,
    unit="accuracy",
    scale="Two layers only, of which a mix has little to choose. One pre-trained model for all seeds; the labelled "
    "texts and the heads vary. Every weight is trained in all arms; only the head reads other layers.",
)  # fmt: skip
