"""The first words of an order have little context and are hard to predict; a permutation language model that predicts
only the last 1/K of the order learns faster."""

from playground.claims import Arm, Claim, Lab, lower
from playground.claims.figures.text import answered


def loss_at_the_end(lab: Lab, arm: Arm, seed: int) -> float:
    """The loss of the last sixth of held-out orders, whatever the model was trained to predict."""
    subject = lab.subject(arm, seed)
    objective = subject.objective.turn({"partial_prediction_k": 6.0})
    return float(answered(subject, objective.batch(subject.held_out, subject.rng("last sixth"))).mean())


K060 = Claim(
    title="Predict only the end of the order",
    source="Liu et al., sec. 2.3; Qiu et al., sec. 3.1.3; Weng, XLNet; Yang et al., arXiv:1906.08237, sec. 2.3",
    prediction="After the same steps, the loss of the last sixth of the order is lower where only it was trained.",
    otherwise="It is as low, or lower, where all words of the order were trained.",
    common=Arm(entry="PLM", corpus="world"),
    arms={
        "last sixth": {"settings": "partial_prediction_k=6"},
        "whole order": {"settings": "partial_prediction_k=1"},
    },
    compute=loss_at_the_end,
    rules=(lower("last sixth", "whole order"),),
    unit="nats",
    scale="Both read the same text and take 300 steps; the whole order gives six times as many predictions. "
    "What decides after far more steps is not seen here.",
)
