"""A model of one language transfers a task to another without labels, if only word vectors of the other language are
learned; in fine-tuning the word vectors must stay frozen."""

from collections import deque
from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import result
from playground.finetuning.apply.crosslingual import learn_words, second_language, with_words_of
from playground.finetuning.run.base import Base

STEPS = 400
"""Steps in which the words of the second language are learned."""


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy in the second language of a tagger that was trained in the first."""

    def make() -> tuple[Base, object]:
        base, text = lab.base(arm, seed), second_language()
        made = with_words_of(replace(base.learner, seed=seed), lab.corpus(arm).tokenizer, text)
        deque(learn_words(made, text, STEPS), maxlen=0)
        return replace(base, learner=made.learner), made.tokenizer

    base, words = lab.once(("second language", seed), make)
    return result(base, words, arm, seed).measured["accuracy"]


K169 = Claim(
    title="Swap the vocabulary",
    source="Liu et al., sec. 4; Artetxe et al., arXiv:1910.11856",
    prediction="With frozen word vectors a tagger of the first language is better in the second by at least 0.1 than "
    "from a random start, and better than with word vectors that are fine-tuned.",
    otherwise="Nothing is transferred, or it does not matter whether they are frozen.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="part of speech abroad"),
    arms={
        "word vectors frozen": {"strategy": "embeddings frozen"}, "all trained": {"strategy": "full"},
        "random start": {"strategy": "random start"},
    },
    rules=(
        higher("word vectors frozen", "random start", by=0.1), higher("word vectors frozen", "all trained"),
    ),
    compute=accuracy,
    unit="accuracy in the second language",
    scale="The vocabulary holds the words of both languages, and 400 steps are few for the second. Names are shared; "
    "the second language puts its verbs last. One model of the first language for all seeds.",
)  # fmt: skip
