"""Feature extraction needs a more complex network for the task; fine-tuning does with a linear layer."""

from playground.claims import Arm, Claim, alike, higher

K130 = Claim(
    title="Frozen features need a larger head",
    source="Qiu et al., sec. 5.2.3",
    prediction="An LSTM on frozen features beats a linear layer on them, and is as good as fine-tuning.",
    otherwise="The linear layer on frozen features is as good, or fine-tuning is better than both.",
    common=Arm(entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", figure="accuracy"),
    arms={
        "frozen, linear": {"strategy": "feature-based"},
        "frozen, LSTM": {"strategy": "ELMo at the input"},
        "fine-tuned, linear": {"strategy": "full"},
    },
    rules=(higher("frozen, LSTM", "frozen, linear"), alike("frozen, LSTM", "fine-tuned, linear", within=0.05)),
    unit="accuracy",
    seeds=10,
    scale="64 labelled sentences, some with a negation. All seeds share one model of reviews, because after 600 "
    "steps on world it does not tell good from bad.",
)
