"""One fine-tuned language model is better than networks for single tasks on most of twelve tasks."""

from statistics import fmean

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy

TASKS = (
    "acceptability", "agreement", "aspect", "connectives", "entailment", "entities", "paraphrase", "part of speech",
    "sentiment", "similarity", "topic", "word in context",
)  # fmt: skip


def share_won(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of tasks on which the fine-tuned language model is better than an LSTM on its word vectors."""
    own, others = (
        [accuracy(lab, arm, seed, task=task, strategy=name) for task in TASKS]
        for name in ("full", "LSTM on word vectors")
    )
    return fmean(a > b for a, b in zip(own, others, strict=True))


K119 = Claim(
    title="One network for twelve tasks",
    source="Liu et al., sec. 3.1; Weng, OpenAI GPT; Radford et al. 2018, sec. 4",
    prediction="GPT is better than an LSTM on word vectors on more than half of twelve tasks.",
    otherwise="It is better on half of them or fewer.",
    common=Arm("GPT", corpus="world", steps=600, one_model=True, task="sentiment"),
    arms={"GPT": {}},
    rules=(higher("GPT", 0.5),),
    compute=share_won,
    unit="of twelve tasks",
    published="Better on 9 of 12 tasks",
    seeds=4,
    scale="The other network is one LSTM for all tasks, on the word vectors of the same GPT; in the paper each task "
    "has its own best system. 64 labelled texts, and one GPT for all seeds.",
)  # fmt: skip
