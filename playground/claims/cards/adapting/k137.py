"""A classifier of long texts does better with the last, the highest and the mean state than with the last state,
because the signal may be anywhere."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher
from playground.finetuning.comparing.compare import TEST_TEXTS
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.files import find_task
from playground.finetuning.data.task import Split, Task
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import FinetuneConfig
from playground.finetuning.run.tune import tune
from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import texts_for

OTHERS = 3
"""Sentences of stories among which the sentence of a review stands."""


def hidden_among_others(task: Task) -> Task:
    """The task with each text at a random position among sentences of stories, which have no sentiment."""

    def items(count: int, seed: int, split: Split) -> list[Item]:
        others = find_task("topic").items(count * OTHERS, seed, split)
        made = []
        for k, item in enumerate(task.items(count, seed, split)):
            texts = [other.texts[0] for other in others[OTHERS * k : OTHERS * (k + 1)]]
            texts.insert(k % (OTHERS + 1), item.texts[0])
            made.append(Item(([word for text in texts for word in text],), item.right))
        return made

    return replace(task, items=items)


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy after full fine-tuning of a head that reads the last state alone, or all three vectors."""
    task = hidden_among_others(find_task(arm.task))
    strategy = replace(read("full"), head=Head(pool="concat" if arm.figure == "concat" else "mean"))
    base = replace(lab.base(arm, seed), task=task)
    texts = texts_for(base.learner, task, [strategy], lab.corpus(arm).tokenizer)
    train, test = texts(arm.train_size, seed, "train"), texts(TEST_TEXTS, seed, "test")
    *_, last = tune(base, strategy, train, test, FinetuneConfig(steps=arm.tuning_steps), seed)
    assert isinstance(last, Result)
    return last.accuracy


K137 = Claim(
    title="Concat pooling",
    source="Weng, ULMFiT; Howard and Ruder, arXiv:1801.06146, sec. 3.3",
    prediction="With one sentence of a review anywhere among three of a story, concat pooling is more accurate.",
    otherwise="The last state has all that is needed.",
    common=Arm("GPT", steps=600, one_model=True, task="sentiment", train_size=256),
    arms={"concat": {"figure": "concat"}, "last state": {"figure": "last state"}},
    rules=(higher("concat", "last state"),),
    compute=accuracy,
    unit="accuracy",
    seeds=8,
    scale="Texts of about 30 words, where those of the paper have hundreds, and a transformer that sees all of them "
    "instead of an LSTM. One pre-trained model for all seeds.",
)
