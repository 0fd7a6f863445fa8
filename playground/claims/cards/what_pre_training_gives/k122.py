"""A language model trained on much text begins to do tasks without any labels."""

from playground.claims import Arm, Claim, higher

K122 = Claim(
    title="Zero-shot prompting of a language model",
    source="Liu et al., sec. 3.1, GPT-2; Weng, GPT-2; Radford et al. 2019",
    prediction="A prompted LM says better than chance whether a review is good or bad; a random model does not.",
    otherwise="Without labelled texts the LM answers no better than chance.",
    common=Arm(entry="LM", corpus="reviews", task="sentiment", strategy="zero-shot prompting", figure="accuracy"),
    arms={"LM": {"steps": 400}, "random": {"steps": 0}},
    rules=(higher("LM", 0.5), higher("LM", "random")),
    unit="accuracy",
    published="GPT-2 reaches F1 55 on CoQA without labels.",
    scale="The corpus is full of the sentences that the prompt imitates, so this shows where the ability comes from, "
    "not how far it goes.",
)
