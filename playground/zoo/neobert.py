"""NeoBERT: an encoder as deep and narrow as language models of its size."""

from playground.models import Architecture, tiny
from playground.objectives.catalog.masking_rates import MLM_20
from playground.zoo.entry import Entry, PublishedSize

NEOBERT_28_LAYERS = Architecture(
    layers=28,
    width=768,
    heads=12,
    mlp_ratio=8 / 3,
    positions="rotary",
    max_position_embeddings=4096,
    norm_first=True,
    norm="rms norm",
    activation="swiglu",
    attention_bias=False,
    mlp_bias=False,
    tie_word_embeddings=False,
    init="normal",
)
"""Table 1 and the configuration of the released model; its 3,072 hidden units are two thirds of that with the gate."""

NEOBERT = Entry(
    name="NeoBERT",
    year=2025,
    paper="arXiv:2502.19587",
    idea="Keep the width of BERT base and add layers; with rotary positions, RMS norms and SwiGLU the encoder does "
    "better than larger ones.",
    parent="RoBERTa",
    changed="Replaces 20 % of the words by [MASK]. Twice the layers, rotary positions, RMS norms first, SwiGLU.",
    aliases=("NeoBERT 250M",),
    unlike_paper={
        "special tokens": "no special tokens at the beginning and end of a row",
        "batches": "rows of one length, where the paper ends with rows of up to 4,096 tokens",
        "tokenizer": "whole words, not pieces of words",
    },
    data="RefinedWeb, 600 billion tokens",
    published=(
        PublishedSize(
            "NeoBERT 250M", NEOBERT_28_LAYERS, 30_522, 245e6, "released configuration; the abstract says 250M"
        ),
    ),
    model=tiny(NEOBERT_28_LAYERS),
    objective=MLM_20,
)
