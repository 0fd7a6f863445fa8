"""Sentence order prediction is the harder question, and a better pre-training for tasks on several sentences than next
sentence prediction."""

from playground.claims import Arm, Claim, higher

K088 = Claim(
    title="SOP helps more than NSP",
    source="Weng, ALBERT; Qiu et al., sec. 3.1.5; From Static to Contextualized Embedding; Lan et al., "
    "arXiv:1909.11942, sec. 4.6",
    prediction="Fine-tuned to choose the ending of a story, the model with SOP is right more often than that with NSP.",
    otherwise="The model with NSP is right as often.",
    common=Arm(corpus="stories", steps=1000, one_model=True, task="story ending", figure="accuracy"),
    arms={"SOP": {"entry": "SOP + MLM"}, "NSP": {"entry": "NSP + MLM"}},
    rules=(higher("SOP", "NSP"),),
    unit="accuracy",
    published="ALBERT, table 5: an average over tasks of 80.1 with SOP and 79.2 with NSP",
    scale="One model of each kind for all seeds, which draw other texts and heads. The wrong endings are of other "
    "topics, which is what NSP asks for.",
)
