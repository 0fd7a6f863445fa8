"""Attention heads are redundant: a fine-tuned model is as good or better without some of them."""

from playground.claims import Arm, Claim, higher

K195 = Claim(
    title="Redundant heads",
    source="Liu et al., sec. 7; Kovaleva et al., arXiv:1908.08593",
    prediction="With a quarter of the heads cut, those on which the answers depend least, the accuracy does not fall "
    "by more than 0.01; with half of them it may.",
    otherwise="A quarter of the heads cannot be cut without a loss.",
    common=Arm("RoBERTa", steps=600, one_model=True, task="sentiment", train_size=256, figure="accuracy"),
    arms={"all heads": {"pipeline": "head pruning(share=0)"}, "6 of 8 heads": {"pipeline": "head pruning(share=0.25)"}},
    rules=(higher("6 of 8 heads", "all heads", by=-0.01),),
    scale="Two layers of four heads; BERT has 144, so that one of them matters far less. One pre-trained model for all "
    "seeds; the labelled texts and the classifier vary. Nothing is trained after the cut.",
)
