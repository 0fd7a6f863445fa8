"""Pre-training on single sentences hurts; rows of several neighbouring sentences are better."""

from playground.claims import Arm, Claim, higher

K049 = Claim(
    title="Longer rows of text",
    source="Weng, RoBERTa; Liu et al., sec. 2.3; Liu et al., arXiv:1907.11692, sec. 4.2",
    prediction="Pre-trained on rows of 32 tokens a model finds more answers in passages of four sentences than one "
    "that was pre-trained on as many tokens in rows of 8.",
    otherwise="The model of short rows finds as many.",
    common=Arm("MLM", corpus="questions", one_model=True, task="question answering", train_size=128, tuning_steps=160,
               figure="F1"),
    arms={"32 tokens": {"settings": "seq_len=32"}, "8 tokens": {"settings": "seq_len=8, batch_size=128"}},
    rules=(higher("32 tokens", "8 tokens"),),
    unit="F1",
    scale="A row of 8 tokens is about a sentence, but is cut anywhere. One model of each kind for all seeds, which "
    "draw other texts and heads. 128 questions, because 64 are too few to learn from and 256 give nearly all answers "
    "(two seeds).",
)  # fmt: skip
