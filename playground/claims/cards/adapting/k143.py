"""Full fine-tuning is inefficient in parameters: every task has a copy of all of them."""

from playground.claims import Arm, Claim, Lab, alike, lower


def stored(lab: Lab, arm: Arm, seed: int) -> float:
    """The weights that are stored for a task over all weights of the pre-trained model."""
    whole = sum(weight.numel() for weight in lab.learner(arm, seed).model.parameters())
    return lab.tuned(arm, seed).stored / whole


K143 = Claim(
    title="One copy of the model per task",
    source="Qiu et al., sec. 5.3 and sec. 8",
    prediction="Full fine-tuning stores as many weights for a task as the model has, to 5 %; with adapters, LoRA or "
    "prefixes it is at most a fifth.",
    otherwise="Full fine-tuning stores fewer, or the added parts are as large.",
    common=Arm("RoBERTa", steps=600, one_model=True, task="sentiment", tuning_steps=2),
    arms={name: {"strategy": name} for name in ("full", "adapters", "LoRA", "prefix tuning")},
    rules=(
        alike("full", 1.0, within=0.05, exact=True),
        *(lower(name, 1.0, by=0.8, exact=True) for name in ("adapters", "LoRA", "prefix tuning")),
    ),
    compute=stored,
    unit="of the weights of the model",
    scale="A count of weights, which no training changes. In a large model the added parts are a far smaller share.",
    seeds=1,
)
