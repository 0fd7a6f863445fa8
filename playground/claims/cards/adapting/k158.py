"""Facts can be injected while a model is fine-tuned, without pre-training it again."""

from playground.claims import Arm, Claim, alike, higher

K158 = Claim(
    title="Facts injected into the text",
    source="Qiu et al., sec. 4.1; Liu et al., arXiv:1909.07606 (K-BERT)",
    prediction="What language a person speaks is guessed by the fine-tuned model, to 0.15; with the facts attached to "
    "the name the accuracy is higher by at least 0.2.",
    otherwise="The model knows it from pre-training, or the attached facts are not used.",
    common=Arm(
        "RoBERTa", steps=600, one_model=True, task="known people", train_size=256, tuning_steps=240, figure="accuracy",
    ),
    arms={"facts attached": {"strategy": "knowledge injection"}, "text alone": {"strategy": "full"}},
    rules=(higher("facts attached", "text alone", by=0.2), alike("text alone", 0.125, within=0.15)),
    unit="accuracy",
    seeds=6,
    scale="Eight languages, so that a guess has 0.125. The people in the test are not those in training. Their facts "
    "are in the pre-training text, but a model of 600 steps has hardly learned them. After 80 steps the attached facts "
    "were used little with seeds 0 and 1; the budget of 240 steps was chosen on them.",
)  # fmt: skip
