"""Norms at the input of each sub-layer and residual weights scaled by the depth ease the training of deep networks."""

from math import log10

from playground.claims import Arm, Claim, Lab, higher, lower
from playground.models import total_loss


def unevenness(lab: Lab, arm: Arm, seed: int) -> float:
    """The largest gradient of a layer's MLP over the smallest one, as a power of ten, before any training."""
    learner, text = lab.learner(arm, seed), lab.subject(arm, seed).held_out
    rng = lab.subject(arm, seed).rng("gradients")
    loss, _ = total_loss(learner.model(learner.entry.objective.batch(text, rng)))
    loss.backward()
    norms: dict[str, float] = {}
    for name, weight in learner.model.named_parameters():
        layer, _, part = name.partition(".mlp.")
        if part and weight.grad is not None and weight.ndim == 2:
            norms[layer] = norms.get(layer, 0.0) + float(weight.grad.square().sum())
    learner.model.zero_grad(set_to_none=True)
    return log10(max(norms.values()) / min(norms.values())) / 2


K031 = Claim(
    title="Norms first in deep networks",
    source="Weng, GPT-2; Radford et al. 2019, sec. 2.3; Xiong et al., arXiv:2002.04745",
    prediction="In a new network of 12 layers the largest gradient of a layer is at most 10 times the smallest with "
    "norms first and scaled weights, and more uneven with norms last.",
    otherwise="The gradients are as uneven.",
    common=Arm("LM", corpus="world", steps=0),
    arms={
        "norms first": {"settings": "layers=12, norm_first=True, init=scaled"},
        "norms last": {"settings": "layers=12, norm_first=False, init=normal"},
    },
    rules=(lower("norms first", 1.0), higher("norms last", "norms first")),
    compute=unevenness,
    unit="powers of ten",
    scale="Twelve layers of width 64 before training; whether such a network can be trained is not tried. The seed "
    "draws the weights and the text.",
)
