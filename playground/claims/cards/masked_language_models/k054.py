"""The training data of masked language modelling and of next sentence prediction can be made from any monolingual text,
without labels."""

from playground.claims import Arm, Claim, Lab, equal
from playground.claims.figures.text import held_out
from playground.errors import UserError


def built(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of the rows of a text for which the objective finds something to predict."""
    try:
        batch = held_out(lab, arm, seed)
    except UserError:
        return 0.0
    return float(batch.targets[0].loss_mask.any(1).float().mean())


K054 = Claim(
    title="Data from any monolingual text",
    source="Weng, BERT",
    prediction="From a text that people wrote, without any label, both objectives make something to predict in every "
    "row; translation makes nothing.",
    otherwise="One of them needs more than the text.",
    common=Arm(corpus="python reference", steps=0),
    arms={"MLM": {"entry": "MLM"}, "NSP": {"entry": "NSP"}, "translation": {"entry": "translation"}},
    compute=built,
    rules=(equal("MLM", 1.0), equal("NSP", 1.0), equal("translation", 0.0)),
    seeds=2,
    unit="of the rows",
    scale="This builds data and trains nothing. NSP also needs to know where one document ends.",
)
