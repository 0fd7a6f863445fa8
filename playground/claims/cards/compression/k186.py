"""A small student that is pre-trained itself learns better from a teacher than one with random weights."""

from playground.claims import Arm, Claim, higher

K186 = Claim(
    title="Pre-trained students learn better",
    source="Qiu et al., sec. 4.5.4, table 3; Turc et al., arXiv:1908.08962",
    prediction="After the same distillation the student with 300 steps of pre-training is more accurate.",
    otherwise="Pre-training the student changes nothing.",
    common=Arm(
        entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", figure="accuracy"
    ),
    arms={"pre-trained": {"pipeline": "PD(text_steps=300)"}, "random": {"pipeline": "PD(text_steps=0)"}},
    rules=(higher("pre-trained", "random"),),
    unit="accuracy",
    scale="One layer learns from two, with 1,000 unlabelled texts. One pre-trained teacher for all seeds; labelled "
    "texts, fine-tuning and students vary.",
)  # fmt: skip
