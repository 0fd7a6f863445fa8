"""The embedding spaces of different languages have the same structure, even if no text is shared."""

import torch

from playground.analysis.crosslingual import linear_cka
from playground.analysis.procrustes import dictionary
from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.languages import alone, trained
from playground.rng import generator


def likeness(lab: Lab, arm: Arm, seed: int) -> float:
    """Linear CKA of the vectors of words and of their translations, or of words and of others' translations."""
    corpus = lab.corpus(arm)
    first, second = (trained(lab, arm, seed, alone(corpus, k)).model.token_embedding.weight.detach() for k in (0, 1))
    words, translations = torch.tensor(dictionary(corpus)).T
    if arm.figure == "permuted":
        translations = translations[torch.randperm(len(words), generator=generator(seed, "permuted"))]
    return linear_cka(first[words], second[translations])


K166 = Claim(
    title="Embedding spaces of two languages",
    source="Liu et al., sec. 4; Wu et al., arXiv:1911.01464",
    prediction="The linear CKA of the word vectors of two separate models is higher by at least 0.1 between words and "
    "their translations than between words and permuted translations.",
    otherwise="Permuted translations have the same CKA.",
    common=Arm("MLM", corpus="parallel"),
    arms={name: {"figure": name} for name in ("translations", "permuted")},
    rules=(higher("translations", "permuted", by=0.1),),
    compute=likeness,
    unit="linear CKA",
    scale="Two models of 300 steps, each on the sentences of one language. These are translations of each other, so "
    "the topics are the same. The second language has other words and another order of words.",
    history=(
        "Seeds 0 and 1 were seen with a rotation fitted to 100 word pairs, which translated at most 0.018 of the other "
        "words: 100 pairs fix little of a rotation of 64 dimensions. CKA needs none and measures the structure.",
    ),
)
