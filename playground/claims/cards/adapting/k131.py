"""Fine-tuning on a task overwrites what the model has learned in pre-training."""

from playground.claims import Arm, Claim, higher

K131 = Claim(
    title="Catastrophic forgetting",
    source="Liu et al., sec. 5.2; McCloskey and Cohen 1989",
    prediction="After fine-tuning the pre-training loss is higher by at least 0.1 nats; a frozen model keeps it.",
    otherwise="The pre-training loss stays as it was.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="sentiment", figure="forgetting"),
    arms={"full": {"strategy": "full"}, "frozen": {"strategy": "feature-based"}},
    rules=(higher("full", "frozen", by=0.1),),
    unit="nats",
    scale="The learning rate is that of a tiny model, 100 times BERT's, and so is the forgetting.",
)
