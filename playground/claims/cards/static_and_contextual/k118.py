"""The layers of ELMo as additional input reduce the error on each of six different tasks."""

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy

TASKS = ("sentiment", "entailment", "question answering", "entities", "part of speech", "topic")


def error_reduction(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of the errors of an LSTM on word vectors that are gone if it reads the layers of ELMo."""
    plain, elmo = (
        1 - accuracy(lab, arm, seed, strategy=name) for name in ("LSTM on word vectors", "ELMo at the input")
    )
    return 1 - elmo / plain


K118 = Claim(
    title="ELMo on six tasks",
    source="From Static to Contextualized Embedding, ELMo; Qiu et al., sec. 2.4.2; Peters et al., arXiv:1802.05365",
    prediction="An LSTM that reads ELMo's layers with its word vectors has fewer errors on each of six tasks.",
    otherwise="On one of them it has as many.",
    common=Arm("ELMo", corpus="world", one_model=True, train_size=128, tuning_steps=160),
    arms={task: {"task": task} for task in TASKS},
    rules=tuple(higher(task, 0.0) for task in TASKS),
    compute=error_reduction,
    unit="share of the errors",
    seeds=4,
    published="6 to 20 % fewer errors",
    scale="One ELMo of 300 steps for all seeds, and its own word vectors without layers as the baseline. 160 steps of "
    "tuning, because the LSTM learned nothing in 80. Semantic roles and coreference, two of the six tasks, are not "
    "here.",
)
