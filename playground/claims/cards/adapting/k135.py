"""Lower learning rates for lower layers reduce forgetting."""

from playground.claims import Arm, Claim, lower

K135 = Claim(
    title="Lower rates for lower layers",
    source="Liu et al., sec. 5.2; Weng, ULMFiT; Howard and Ruder, arXiv:1801.06146, sec. 3.1",
    prediction="Discriminative rates raise the pre-training loss by less than one rate for all layers.",
    otherwise="The upper layers, which keep their rate, forget as much alone.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="sentiment", figure="forgetting"),
    arms={"discriminative": {"strategy": "discriminative rates"}, "one rate": {"strategy": "full"}},
    rules=(lower("discriminative", "one rate"),),
    unit="nats",
    scale="Embeddings and two layers make three rates, each 2.6 times the one below. The top rate is that of the "
    "other arm, so the mean rate is lower too.",
)
