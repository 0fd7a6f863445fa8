"""Supervised pre-training on translation is only as good as there are pairs of sentences."""

from playground.claims import Arm, Claim, higher

K113 = Claim(
    title="Bounded by parallel text",
    source="Weng, CoVe; Qiu et al., sec. 3.1",
    prediction="For sentiment, the states of a translator that learned from all pairs are more accurate than those of "
    "one that learned from a fiftieth of them, in as many steps.",
    otherwise="The few pairs are enough.",
    common=Arm(
        "CoVe",
        corpus="parallel",
        steps=600,
        one_model=True,
        task="sentiment",
        strategy="ELMo at the input",
        train_size=512,
        tuning_steps=300,
        figure="accuracy",
    ),
    arms={"few pairs": {"tokens": 6_000}, "all pairs": {"tokens": 0}},
    rules=(higher("all pairs", "few pairs"),),
    unit="accuracy",
    scale="This tests only that few pairs are a limit. That a language model has no such limit is a matter of how much "
    "text there is in the world. One translator of each kind for all "
    "seeds; texts and LSTMs vary.",
    history=(
        "Before any verdict, seeds 0 and 1 gave 0.49 to 0.55 to both arms with features of 300 steps, which is chance: "
        "now 600 steps, one translator for all seeds, 256 labels, and an LSTM that reads the states.",
        "With 256 labels and 80 steps both were still at chance (0.48 to 0.56), so nothing was measured: now 512 "
        "labels and 300 steps.",
    ),
)
