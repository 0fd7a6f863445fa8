"""A penalty on the distance from the pre-trained weights, plain or by Fisher information, protects them."""

from playground.claims import Arm, Claim, lower

K138 = Claim(
    title="Penalties against forgetting",
    source="Liu et al., sec. 5.2; Wiese et al. 2017; Kirkpatrick et al., arXiv:1612.00796",
    prediction="L2-SP and EWC both raise the pre-training loss by less than full fine-tuning does.",
    otherwise="One of them does not reduce forgetting.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="sentiment", figure="forgetting"),
    arms={"full": {"strategy": "full"}, "L2-SP": {"strategy": "L2-SP"}, "EWC": {"strategy": "EWC"}},
    rules=(lower("L2-SP", "full"), lower("EWC", "full")),
    unit="nats",
    scale="Each penalty has its default strength; which of them protects more at equal accuracy is not asked.",
)
