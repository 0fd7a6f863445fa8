"""Learning several kinds of knowledge one after another leads to forgetting; adapters avoid it."""

from playground.claims import Arm, Claim, Lab, equal, lower
from playground.finetuning.comparing.continual import ContinualResult, continual
from playground.finetuning.comparing.spec import ComparisonSpec

LATER = ("sentiment", "part of speech")


def change(lab: Lab, arm: Arm, seed: int) -> float:
    """How the accuracy on the first kind of knowledge changes while two others are learned."""
    known = (arm.strategy,), (arm.train_size,), 1, seed, arm.tuning_steps
    spec = ComparisonSpec("", arm.task, *known, then=LATER)
    *_, last = continual(lab.base(arm, seed), lab.corpus(arm).tokenizer, spec)
    assert isinstance(last, ContinualResult)
    return last.changes[0]


K159 = Claim(
    title="Several kinds of knowledge",
    source="Qiu et al., sec. 4.1; Wang et al., arXiv:2002.01808 (K-Adapter)",
    prediction="With all weights trained the first kind loses at least 0.05 of accuracy; with adapters exactly 0.",
    otherwise="The first kind is kept when all weights are trained, or adapters lose some of it.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="topic", train_size=256),
    arms={"full": {"strategy": "full"}, "adapters": {"strategy": "adapters"}},
    rules=(lower("full", 0.0, by=0.05), equal("adapters", 0.0)),
    compute=change,
    unit="change of accuracy",
    scale="Topics, then sentiment, then parts of speech stand for kinds of knowledge; the paper injects facts and "
    "syntax. One pre-trained model for all seeds.",
)
