"""Multi-task fine-tuning and pre-training are complementary: both together are best."""

from playground.claims import Arm, Claim, higher

K146 = Claim(
    title="Multi-task learning and pre-training",
    source="Qiu et al., sec. 5.3; Liu et al., sec. 5.3; MT-DNN, arXiv:1901.11504",
    prediction="Multi-task fine-tuning of a pre-trained model beats each of the two alone.",
    otherwise="One of the two gives all that both together give.",
    common=Arm(entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", figure="accuracy"),
    arms={
        "both": {"strategy": "multi-task"},
        "pre-training alone": {"strategy": "full"},
        "multi-task alone": {"strategy": "multi-task + random start"},
    },
    rules=(higher("both", "pre-training alone"), higher("both", "multi-task alone")),
    unit="accuracy",
    seeds=10,
    published="MT-DNN adds 2.2 points to BERT-large on GLUE.",
    scale="64 labels for sentiment and 512 for each of three other tasks, which have little to do with sentiment.",
)
