"""A network that is trained as a masked and as a causal language model in every batch is better than one that is
trained as only one of them."""

from playground.claims import Arm, Claim, higher

K224 = Claim(
    title="Masked and causal in one batch",
    source="Charpentier and Samuel, arXiv:2410.24159, abstract",
    prediction="Fine-tuned on 64 reviews, the hybrid is more accurate than MNTP alone and than LM alone.",
    otherwise="One objective throughout is as accurate or more.",
    common=Arm(corpus="reviews", steps=300, task="sentiment", train_size=64, figure="accuracy"),
    arms={"hybrid": {"entry": "GPT-BERT objective"}, "masked": {"entry": "MNTP"}, "causal": {"entry": "LM"}},
    rules=(higher("hybrid", "masked"), higher("hybrid", "causal")),
    unit="accuracy",
    scale="All three have one small network. MNTP hides single words, 15 % of them throughout; the hybrid hides spans, "
    "at first 30 %. Two of 32 rows are causal, which in 300 batches is little. One task stands for the benchmarks.",
    also=("attention",),
)
