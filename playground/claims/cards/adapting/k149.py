"""Self-ensemble and self-distillation improve fine-tuning without any other data."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.tuning import over_tasks

K149 = Claim(
    title="Self-ensemble and self-distillation",
    source="Qiu et al., sec. 5.3; Xu et al., arXiv:2002.10345",
    prediction="Each of the two has a higher mean accuracy of three tasks than full fine-tuning.",
    otherwise="One of the two is no better.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="sentiment"),
    arms={name: {"strategy": name} for name in ("self-ensemble", "self-distillation", "full")},
    rules=(higher("self-ensemble", "full"), higher("self-distillation", "full")),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    seeds=10,
    scale="64 labelled texts and 80 steps; the paper has thousands. What the two cost is not asked. One pre-trained "
    "model for all seeds; labelled texts and heads vary.",
)
