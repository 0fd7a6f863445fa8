"""MASS, which pre-trains encoder and decoder together, is better for translation than pre-training the encoder as BERT
does."""

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import accuracy

STARTS = {
    "MASS": {"entry": "span mask objective"},
    "MLM": {"entry": "MLM", "settings": "decoder_layers=2"},
    "random start": {"entry": "span mask objective", "steps": 0},
}


def translated(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of right words of a model from one of the starts."""
    return accuracy(lab, arm, seed, **STARTS[arm.figure])


K069 = Claim(
    title="MASS against BERT for translation",
    source="Qiu et al., sec. 7.5; Song et al., arXiv:1905.02450, sec. 4",
    prediction="With 64 pairs MASS gets more words right than MLM with a new decoder, and this more than a random "
    "start.",
    otherwise="One of the two steps does not help.",
    common=Arm("span mask objective", corpus="parallel", one_model=True, task="translation", tuning_steps=120),
    arms={name: {"figure": name} for name in STARTS},
    compute=translated,
    rules=(higher("MASS", "MLM"), higher("MLM", "random start")),
    seeds=4,
    unit="of the words",
    scale="Supervised translation alone; without pairs is left out. One model of each kind for all seeds, which draw "
    "other pairs. Words are predicted with the right ones before them given.",
)
