"""Self-attention learns the structure of a sentence by itself, without being given any."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.comparison import value_or_baseline

FOUND = "UUAS of the best head"

K026 = Claim(
    title="Trees in attention",
    source="Qiu et al., sec. 2.2",
    prediction="The tree of the strongest attention weights of one head has more arcs of the gold trees than a chain "
    "of neighbours, and more than the mean of all heads.",
    otherwise="No head finds more arcs than a chain of neighbours.",
    common=Arm("MLM", corpus="world", instrument="trees in attention"),
    arms={"best head": {"figure": FOUND}, "chain": {"figure": "chain"}, "all heads": {"figure": "mean of all heads"}},
    rules=(higher("best head", "chain"), higher("best head", "all heads")),
    compute=value_or_baseline,
    unit="of the arcs (UUAS)",
    scale="Eight heads after 300 steps. In short sentences most arcs join neighbours, so that the chain is strong.",
)
