"""8-bit weights keep about 99 % of the performance; with fewer bits, groups of weights need scales."""

from playground.claims import Arm, Claim, alike, higher, lower

K187 = Claim(
    title="8 bits are free, 2 bits need groups",
    source="Qiu et al., sec. 4.5.2 and table 3; Liu et al., sec. 6; Q8BERT, arXiv:1910.06188; Q-BERT, arXiv:1909.05840",
    prediction="8 bits change the accuracy by at most 0.01; 2 bits lose at least 0.05 with one scale, less with 64.",
    otherwise="8 bits already lose, or 2 bits do not, or groups do not help.",
    common=Arm(
        entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", train_size=256,
        figure="accuracy",
    ),
    arms={
        "32 bits": {"pipeline": "quantization(bits=32, embedding_bits=32)"},
        "8 bits": {"pipeline": "int8"},
        "2 bits": {"pipeline": "quantization(bits=2, groups=1)"},
        "2 bits, groups": {"pipeline": "quantization(bits=2, groups=64)"},
    },
    rules=(
        alike("8 bits", "32 bits", within=0.01), lower("2 bits", "32 bits", by=0.05),
        higher("2 bits, groups", "2 bits"),
    ),
    unit="accuracy",
    seeds=8,
    published="Q8BERT and Q-BERT keep about 99 % of BERT.",
    scale="Rounded after training; the word vectors have 8 bits in all arms but the first.",
)  # fmt: skip
