"""XLNet is better than BERT, and RoBERTa, which changes less, is better than XLNet."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.tuning import over_tasks

K064 = Claim(
    title="BERT, XLNet and RoBERTa",
    source="From Static Embedding to Contextualized Embedding, XLNet; Liu et al., sec. 2.3",
    prediction="After equal steps PLM is more accurate than MLM with static masks on the mean of three tasks, and MLM "
    "with dynamic masks is more accurate than PLM.",
    otherwise="One of the two differences is not there: objectives alone do not explain the order of the models.",
    common=Arm(corpus="world", task="sentiment"),
    arms={
        "static MLM": {"entry": "static MLM"},
        "PLM": {"entry": "PLM"},
        "MLM": {"entry": "MLM"},
    },
    rules=(higher("PLM", "static MLM"), higher("MLM", "PLM")),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    published="XLNet outperforms BERT on 20 tasks.",
    seeds=4,
    scale="Objectives alone, with equal text, steps and size; the systems also differ in text, batches and attention. "
    "In 300 steps hardly any text is read twice, so static masks cost little.",
)
