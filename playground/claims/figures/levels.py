"""At which level of a model a property is read: a probe of a learned mix of all levels."""

from playground.analysis.probing.edges import edge_probe
from playground.analysis.probing.reading import both_states, probing_items
from playground.analysis.probing.task import find_probing_task
from playground.claims import Arm, Lab

SENTENCES = 500


def gravity(lab: Lab, arm: "Arm", seed: int, task: str, least: int = 0) -> float:
    """The centre of gravity of a probing task; of pairs only those at least so many positions apart."""
    subject = lab.subject(arm, seed)
    texts, items = probing_items(subject, find_probing_task(task), SENTENCES)
    if least:
        distance = (items.positions[:, 0] - items.positions[:, 1]).abs()
        items = items.pick((distance >= least).nonzero()[:, 0])
    return edge_probe(*both_states(subject, texts.tokens), texts.tokens, items, seed).gravity
