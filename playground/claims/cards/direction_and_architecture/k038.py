"""Perplexity, the inverse of the geometric mean of the probabilities of the words, is smaller the better the model."""

from copy import deepcopy
from math import exp
from typing import Any

import torch

from playground.analysis.instruments.perplexity import nats_of
from playground.claims import Arm, Claim, Lab, alike, higher


def ratio(lab: Lab, arm: Arm, seed: int) -> float:
    """Perplexity in some form, as a multiple of what it should be or of its least value."""
    subject = lab.subject(arm, seed)
    model, text = subject.model, subject.sentences(20)
    if arm.figure == "above the grammar":
        facts: Any = lab.facts(arm, seed)
        return exp(facts["loss"]["held_out"] - facts["entropy_bound"])
    if arm.figure == "uniform model":
        model = deepcopy(model)
        for weight in model.parameters():
            torch.nn.init.zeros_(weight)
        return float(nats_of(model, text).mean().exp()) / len(subject.tokenizer)
    nats = nats_of(model, text)
    chances = (-nats).exp()
    bits, inverse = -chances.log2().mean(), 1 / chances.pow(1 / len(chances)).prod()
    return float((bits.exp2() if arm.figure == "2 to the bits" else inverse) / nats.mean().exp())


K038 = Claim(
    title="What perplexity is",
    source="Weng, Metric: Perplexity",
    prediction="2 to the mean bits and the inverse geometric mean are both e to the mean nats. A model that gives all "
    "words the same probability has the size of the vocabulary, and no model has less than the grammar of the text.",
    otherwise="The forms differ, or a model has less than the grammar.",
    common=Arm("LM", corpus="world"),
    arms={
        name: {"figure": name}
        for name in ("2 to the bits", "inverse geometric mean", "uniform model", "above the grammar")
    },
    rules=(
        alike("2 to the bits", 1.0, within=1e-6, exact=True),
        alike("inverse geometric mean", 1.0, within=1e-6, exact=True),
        alike("uniform model", 1.0, within=1e-6, exact=True),
        higher("above the grammar", 1.0, exact=True),
    ),
    compute=ratio,
    unit="(ratio)",
    scale="The first three are identities. For the last the grammar of the generated text is known; for real text "
    "nobody knows the least value.",
    seeds=2,
)
