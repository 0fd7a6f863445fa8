"""One network that is trained under several attention masks is about as good a bidirectional, a left-to-right and a
sequence-to-sequence language model as three networks that have one mask each."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, lower
from playground.claims.figures.text import answered
from playground.objectives import find_objective


def excess(lab: Lab, arm: Arm, seed: int) -> float:
    """How much higher the loss of UniLM is than that of a model trained under one mask alone, relative to it."""
    one, specialist = (lab.subject(replace(arm, entry=entry), seed) for entry in (arm.entry, arm.figure))
    batch = find_objective(arm.figure).batch(one.held_out, one.rng("mask"))
    return float(answered(one, batch).mean() / answered(specialist, batch).mean()) - 1


FORMS = {"both sides": "UniLM both sides", "left to right": "UniLM left to right", "seq2seq": "UniLM seq2seq"}

K066 = Claim(
    title="One network, three language models",
    source="Liu et al., sec. 2.3; Qiu et al., sec. 3.1; Dong et al., arXiv:1905.03197, sec. 2",
    prediction="Under each mask the loss of the one network is at most 5 % higher than that of the specialist after "
    "the same steps.",
    otherwise="Under some mask it is more than 5 % higher.",
    common=Arm(entry="UniLM objective", corpus="stories", steps=150),
    arms={name: {"figure": objective} for name, objective in FORMS.items()},
    compute=excess,
    rules=tuple(lower(name, 0.0, by=-0.05) for name in FORMS),
    seeds=4,
    unit="of the loss of the specialist",
    scale="The one network spends at most a third of its rows on each mask, so after 150 steps it has trained "
    "each of them less than its specialist has.",
)
