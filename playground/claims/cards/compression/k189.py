"""Pruning a third of the weights before fine-tuning is free; pruning most of them removes knowledge."""

from playground.claims import Arm, Claim, alike, lower

K189 = Claim(
    title="Low sparsity is free, high is not",
    source="Qiu et al., sec. 4.5.1; Gordon et al., arXiv:2002.08307",
    prediction="With 30 % pruned the accuracy changes by at most 0.02; with 90 % it falls by at least 0.05.",
    otherwise="30 % already costs accuracy, or 90 % does not.",
    common=Arm(
        entry="RoBERTa",
        corpus="reviews",
        steps=600,
        one_model=True,
        task="sentiment",
        train_size=256,
        figure="accuracy",
    ),
    arms={
        f"{round(100 * share)} %": {"pipeline": f"pruning(sparsity={share:g}, when=before)"}
        for share in (0.0, 0.3, 0.9)
    },
    rules=(alike("30 %", "0 %", within=0.02), lower("90 %", "0 %", by=0.05)),
    unit="accuracy",
    seeds=8,
    published="30 to 40 % of BERT can be pruned without a loss on any task.",
    scale="The smallest weights of all matrices, word vectors too. A tiny model has less to spare than BERT.",
)
