"""Alternating between a causal and a masked language model in one training is better than either alone."""

from playground.claims import Arm, Claim, higher

K223 = Claim(
    title="Causal, masked, causal again",
    source="Yu et al., arXiv:2412.03275, abstract",
    prediction="Fine-tuned on 64 reviews, the model that alternated is more accurate than those with one objective.",
    otherwise="One objective throughout is as accurate or more.",
    common=Arm(corpus="reviews", steps=300, task="sentiment", train_size=64, figure="accuracy"),
    arms={"alternating": {"entry": "AntLM"}, "masked": {"entry": "MLM"}, "causal": {"entry": "LM"}},
    rules=(higher("alternating", "masked"), higher("alternating", "causal")),
    unit="accuracy",
    published="1 point above BabyLlama, 2.2 points above LTG-BERT (macro-average)",
    scale="The paper trains for 24 epochs on 10 million words; here the whole training is 300 batches, so each stretch "
    "is short. One task stands for the benchmarks of BabyLM.",
    also=("attention",),
)
