"""Not all N! orders can be trained, but a sample of them is enough: a permutation language model then gives the words
nearly the same probability in every order."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.orders import spread_over_orders

K056 = Claim(
    title="One probability in all orders",
    source="Liu et al., sec. 2.3; Yang et al., arXiv:1906.08237, sec. 2.2",
    prediction="Over the 120 orders of five neighbouring words, the others given, their log-probability varies less "
    "with PLM than with an MLM that fills them in the same orders.",
    otherwise="It varies as much with PLM as with MLM.",
    common=Arm(corpus="world"),
    arms={"MLM": {"entry": "MLM"}, "PLM": {"entry": "PLM"}},
    compute=spread_over_orders,
    rules=(higher("MLM", "PLM"),),
    unit="nats",
    scale="Five words of 32 are what both objectives hide. A tiny model at 300 steps is far from a joint distribution; "
    "which of the two is nearer may change with training.",
)
