"""ELMo only concatenates the states of two directions, so it does not model how both sides interact; a bidirectional
model does."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher, lower
from playground.claims.figures.senses import sense_accuracy
from playground.corpora.tinyworld.tasks.senses import sense_sentences

OTHER = {"LM": ("LM", "backward LM")}
"""The models whose states are concatenated in the place of one."""


def accuracy(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of words whose meaning is that of the nearest mean vector, where it is the XOR of both cues.

    The mean vectors are those of sentences in which either cue is enough.
    """
    subjects = [lab.subject(replace(arm, entry=entry), seed) for entry in OTHER.get(arm.entry, (arm.entry,))]
    asked = [*sense_sentences("xor", 40, 0, "train"), *sense_sentences("xor", 18, 0, "test")]
    return sense_accuracy(subjects, sense_sentences("both", 200, seed), asked)


K021 = Claim(
    title="Two directions without interaction",
    source="Liu et al., sec. 3.1; Weng, OpenAI GPT; From Static Embedding to Contextualized Embedding, ELMo",
    prediction="Where the meaning is the XOR of a word on the left and one on the right, the nearest mean vector, "
    "which is a linear classifier, is right in at most 0.75 for LM with backward LM, and in more for MLM.",
    otherwise="The concatenated states do better than 0.75, or MLM does not.",
    common=Arm(corpus="senses", steps=1000, one_model=True, figure="right senses"),
    arms={"LM with backward LM": {"entry": "LM"}, "MLM": {"entry": "MLM"}},
    rules=(lower("LM with backward LM", 0.75), higher("MLM", 0.75)),
    compute=accuracy,
    unit="of the words",
    scale="The bound of 0.75 holds at any size for a linear classifier; one with a hidden layer could combine both. "
    "One model of 1,000 steps of each kind serves all seeds; the sentences of the mean vectors vary.",
    also=("attention",),
)
