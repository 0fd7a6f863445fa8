"""In replaced token detection only the generator reads [MASK]; the discriminator, which is kept, reads plain words, as
in use."""

from playground.claims import Arm, Claim, Lab, equal, lower
from playground.claims.figures.text import held_out


def masks(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of [MASK] in what the network that is kept for other tasks reads in training."""
    inputs = held_out(lab, arm, seed).inputs
    return float((inputs.ids == lab.corpus(arm).tokenizer.specials.mask).float().mean())


K096 = Claim(
    title="Replaced words instead of [MASK]",
    source="Qiu et al., sec. 3.1.5; Clark et al., arXiv:2003.10555, sec. 3.2",
    prediction="There is no [MASK] in the input of the discriminator of RTD, and 0.1 or more in that of MLM.",
    otherwise="The discriminator reads [MASK] too.",
    common=Arm(corpus="world", steps=0),
    arms={"RTD": {"entry": "RTD"}, "MLM": {"entry": "MLM"}},
    compute=masks,
    rules=(equal("RTD", 0.0), lower("RTD", "MLM", by=0.1, exact=True)),
    seeds=2,
    unit="of the tokens",
    scale="This follows from the objective, at any size of model. Replaced words are a mismatch of their own, smaller "
    "as the generator gets better; it is not measured here.",
)
