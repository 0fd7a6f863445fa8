"""The special token [MASK] occurs in pre-training and never in a downstream text, so a masked language model meets
other hidden states in use than in training."""

import torch

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.separability import separability

FAR, SENTENCES = 3, 1000
"""How far from the changed word other words are compared, and how many sentences are read."""


def trace(lab: Lab, arm: Arm, seed: int) -> float:
    """How well the states of other words tell that the second word of a sentence was changed."""
    subject = lab.subject(arm, seed)
    text, specials = subject.sentences(SENTENCES), subject.tokenizer.specials
    words = specials.words[torch.randint(len(specials.words), (len(text.ids),), generator=subject.rng("words"))]
    changed = text.ids.clone()
    changed[:, 1] = specials.mask if arm.figure == "[MASK]" else words
    far = (torch.arange(text.ids.shape[1]) - 1).abs() >= FAR
    return separability(subject, text, text.ids, changed, text.valid & far)


K041 = Claim(
    title="[MASK] never appears in use",
    source="Liu et al., sec. 2.3; Qiu et al., sec. 3.1.2; Weng, BERT; From Static to Contextualized Embedding",
    prediction="A linear classifier tells from the state of a word whether another word, three or more positions away, "
    "was replaced by [MASK]; it tells this better than whether it was replaced by a random word.",
    otherwise="The states of other words do not show a [MASK], or no more than any other change.",
    common=Arm(entry="MLM", corpus="world"),
    arms={"[MASK]": {"figure": "[MASK]"}, "random word": {"figure": "random word"}},
    compute=trace,
    rules=(higher("[MASK]", 0.5, by=0.1), higher("[MASK]", "random word", by=0.05)),
    unit="accuracy",
    scale="This shows that states differ. It does not show that a task suffers from it: fine-tuning adapts them.",
)
