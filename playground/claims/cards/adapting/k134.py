"""Sequential unfreezing in three stages is simpler than gradual unfreezing, and works as well."""

from playground.claims import Arm, Claim, alike
from playground.claims.figures.tuning import over_tasks

K134 = Claim(
    title="Unfreezing in three stages",
    source="Liu et al., sec. 5.2; Qiu et al., sec. 5.3; Chronopoulou et al., arXiv:1902.10547",
    prediction="The mean accuracy of three tasks is the same to 0.02.",
    otherwise="One of the two schedules is more accurate by more than 0.02.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="sentiment", train_size=256),
    arms={"three stages": {"strategy": "sequential unfreezing"}, "gradual": {"strategy": "gradual unfreezing"}},
    rules=(alike("three stages", "gradual", within=0.02),),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    seeds=10,
    scale="Two layers, so that gradual unfreezing has hardly more stages. One pre-trained model for all seeds; "
    "labelled texts and heads vary.",
)
