"""Without the target position in its query, a permutation language model gives the same distribution for two orders
that share their first words and then ask for different positions."""

from playground.claims import Arm, Claim, Lab, alike, higher
from playground.claims.figures.text import example


def difference(lab: Lab, arm: Arm, seed: int) -> float:
    """How far apart the predictions of the fourth word of two orders are that share their first three words."""
    model, found = lab.subject(arm, seed).model.eval(), []
    for order in ([2, 5, 3, 1, 4], [2, 5, 3, 4, 1]):
        answer = model(example(lab, arm, seed, {"order": order, "cut": 0}, words=5))[0]
        asked = answer.at(answer.target.origin) == order[3] - 1
        found.append(answer.scores[asked][0].softmax(-1))
    return float((found[0] - found[1]).detach().abs().sum() / 2)


K061 = Claim(
    title="Which position is asked for?",
    source="Weng, XLNet; From Static to Contextualized Embedding; Yang et al., arXiv:1906.08237, sec. 2.3",
    prediction="The two distributions are identical with words only, and they differ with two streams.",
    otherwise="They differ in both, or are identical in both.",
    common=Arm(entry="PLM", corpus="world", steps=60),
    arms={
        "words only": {"settings": "streams=words only"},
        "two streams": {"settings": "streams=two streams"},
    },
    compute=difference,
    rules=(alike("words only", 0.0, within=1e-5, exact=True), higher("two streams", 0.0, by=0.01, exact=True)),
    seeds=2,
    unit="total variation",
    scale="That the naive form is blind follows from its equation, at any size of model; the models are trained for 60 "
    "steps so that the other form has something to tell.",
)
