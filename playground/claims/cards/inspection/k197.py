"""A linear probe of contextual states does well on most linguistic tasks, but fails on fine-grained ones such as
identifying conjuncts."""

from playground.claims import Arm, Claim, lower
from playground.claims.figures.comparison import above_majority

K197 = Claim(
    title="Conjuncts are hard to probe",
    source="Liu et al., sec. 7; Qiu et al., sec. 3.3.1; Liu et al. 2019, arXiv:1903.08855",
    prediction="Of what the most frequent class leaves, the probe of conjuncts gains at least 0.2 less than those of "
    "the part of speech and of the dependency relation.",
    otherwise="Conjuncts are found about as well.",
    common=Arm("MLM", corpus="world", figure="gain over the most frequent class"),
    arms={
        task: {"instrument": f"probing classifier(task={task})"}
        for task in ("conjuncts", "part of speech", "dependency relation")
    },
    rules=(lower("conjuncts", "part of speech", by=0.2), lower("conjuncts", "dependency relation", by=0.2)),
    compute=above_majority,
    unit="of what the most frequent class leaves",
    scale="Our grammar has few ways to join words. The paper marks the conjuncts of a conjunction word by word; here "
    "the probe decides whether two words are joined.",
)
