"""Where only [MASK] is trained, the output of a masked language model at words that it sees is not trained; replacing
one chosen word in ten at random and keeping one in ten trains it."""

from dataclasses import replace

from playground.batch import begin
from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.text import answered
from playground.objectives.ask import AskMasked


def seen_words(lab: Lab, arm: Arm, seed: int) -> float:
    """How often the output at a word of a plain text, which the model reads, is this word."""
    subject = lab.subject(arm, seed)
    batch = AskMasked().build(replace(begin(subject.held_out), selected=subject.held_out.maskable))
    right = answered(subject, batch).right()
    assert right is not None
    return float(right.float().mean())


K042 = Claim(
    title="80 % [MASK], 10 % random, 10 % kept",
    source="Qiu et al., sec. 3.1.2; Weng, BERT; From Static to Contextualized Embedding; Devlin et al., "
    "arXiv:1810.04805, sec. 3.1",
    prediction="For a word of a plain text the output is this word far more often with 80/10/10.",
    otherwise="It is this word as often after training with [MASK] alone.",
    common=Arm(entry="MLM", corpus="world"),
    arms={
        "80/10/10": {"settings": "mask_replace_prob=0.8, random_replace_prob=0.1"},
        "100/0/0": {"settings": "mask_replace_prob=1, random_replace_prob=0"},
    },
    compute=seen_words,
    rules=(higher("80/10/10", "100/0/0", by=0.2),),
    unit="accuracy",
    scale="Input and output share their word vectors, which favours copying even untrained. Whether 80/10/10 makes the "
    "model generalise better, as the sources also say, is not measured here.",
)
