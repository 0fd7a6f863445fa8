"""How good a pre-training objective is depends on the task; none is best at all of them, and BART is the most
consistent."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, lower

ENTRIES = {"BART": "BART mixture", "LM": "LM", "MLM": "MLM", "PLM": "PLM", "RTD": "RTD"}
TASKS = ("sentiment", "part of speech", "paraphrase")


def worst_rank(lab: Lab, arm: Arm, seed: int) -> float:
    """The lowest rank of an objective at any of the tasks among all objectives; 1 is the best."""
    found = []
    for task in TASKS:
        own, *others = (
            lab.tuned(replace(arm, entry=entry, task=task), seed).accuracy
            for entry in (arm.entry, *(e for e in ENTRIES.values() if e != arm.entry))
        )
        found.append(1 + sum(other > own for other in others))
    return float(max(found))


K077 = Claim(
    title="No objective is best everywhere",
    source="Weng, BART; Qiu et al., sec. 7; Lewis et al., arXiv:1910.13461, sec. 4.3",
    prediction="BART's worst rank among five objectives at three tasks is better than the worst rank of each other "
    "one.",
    otherwise="The worst rank of another objective is as good.",
    common=Arm(corpus="world", one_model=True),
    arms={name: {"entry": entry} for name, entry in ENTRIES.items()},
    compute=worst_rank,
    rules=tuple(lower("BART", name) for name in ENTRIES if name != "BART"),
    unit="rank of five",
    scale="One model of each kind for all seeds, which draw other texts and heads. At equal steps BART takes three "
    "times the time of MLM, and objectives that score every word are ahead.",
    also=("attention",),
)
