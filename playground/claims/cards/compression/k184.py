"""A student may follow the last layers of its teacher or every second one, and the choice matters."""

from playground.claims import Arm, Claim, higher

K184 = Claim(
    title="Which layers a student follows",
    source="Liu et al., sec. 6; Sun et al., arXiv:1908.09355",
    prediction="Following every second layer gives a better student than following the last ones.",
    otherwise="Both students are equally good.",
    common=Arm(
        entry="RoBERTa", settings="layers=4", corpus="reviews", steps=300, one_model=True, task="sentiment",
        figure="accuracy",
    ),
    arms={"every second": {"pipeline": "PKD(mapping=every)"}, "last": {"pipeline": "PKD(mapping=last)"}},
    rules=(higher("every second", "last"),),
    unit="accuracy",
    scale="Two layers follow four, where the choice is between the second and the third. One pre-trained teacher for "
    "all seeds; labelled texts, fine-tuning and students vary.",
)  # fmt: skip
