"""The table of word vectors is a large share of the parameters: 21 % of BERT base."""

from playground.claims import Arm, Claim, Lab, alike
from playground.claims.lab import entry_of


def share(_lab: Lab, arm: Arm, _seed: int) -> float:
    """The share of the word vectors in all parameters of the published size."""
    published = entry_of(arm).published[0]
    return published.vocabulary * published.model.width / published.count()


K175 = Claim(
    title="Word vectors are a fifth of BERT",
    source="Liu et al., sec. 6",
    prediction="The table is 21 % of all parameters, up to rounding.",
    otherwise="The share is another one.",
    common=Arm(steps=0),
    arms={"BERT base": {"entry": "BERT"}},
    rules=(alike("BERT base", 0.21, within=0.005, exact=True),),
    compute=share,
    unit="of the parameters",
    seeds=1,
    published="21 %",
    scale="This is arithmetic on the full size: no weight is made. In a tiny model the share is larger.",
)
