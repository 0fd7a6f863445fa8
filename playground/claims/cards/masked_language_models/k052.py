"""Without dropout masked language modelling serves later tasks better."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.tuning import over_tasks

K052 = Claim(
    title="MLM without dropout",
    source="From Static to Contextualized Embedding, ALBERT; Lan et al., arXiv:1909.11942, table 8",
    prediction="A model trained without dropout is more accurate on the mean of three tasks than one with 0.1.",
    otherwise="Dropout does not matter, or it helps.",
    common=Arm("MLM", corpus="world", task="sentiment"),
    arms={"no dropout": {"settings": "dropout=0"}, "dropout 0.1": {"settings": "dropout=0.1"}},
    rules=(higher("no dropout", "dropout 0.1"),),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    scale="300 steps read hardly any text twice, so there is nothing to overfit. The paper removes dropout after a "
    "million steps, of a far larger model. The memory that it saves is not measured.",
)
