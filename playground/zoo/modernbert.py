"""ModernBERT: BERT's task for the network, the texts and the lengths of today."""

from dataclasses import replace

from playground.models import Architecture, tiny
from playground.objectives.catalog.masking_rates import MLM_30
from playground.zoo.entry import Entry, PublishedSize

MODERNBERT_BASE = Architecture(
    layers=22,
    width=768,
    heads=12,
    mlp_ratio=1.5,
    positions="rotary",
    max_position_embeddings=8192,
    norm_first=True,
    embedding_norm=True,
    activation="geglu",
    attention_bias=False,
    mlp_bias=False,
    head_transform=True,
    init="scaled",
    attention_window=65,
)
"""Table 4 (app. D) and the configuration of the released code; a window of 128 reaches 64 positions to either side."""

MODERNBERT = Entry(
    name="ModernBERT",
    year=2024,
    paper="arXiv:2412.13663",
    idea="An encoder that predicts hidden words gains from what made language models better: rotary positions, gated "
    "layers, attention to nearby words in most layers, and two trillion tokens.",
    parent="RoBERTa",
    changed="Hides 30 % of the words. Rotary positions, norms before the sub-layers, GEGLU, no biases, and layers that "
    "attend to nearby words only.",
    aliases=("ModernBERT base", "ModernBERT large"),
    unlike_paper={
        "network": "every second layer attends to nearby words, up to 8 positions away, where two of three layers do "
        "up to 64; norms have biases; no dropout after attention; the gate's GELU is approximated; the first layer "
        "has a norm before attention too; rotary positions turn at one speed in all layers",
        "special tokens": "no special tokens at the beginning and end of a row",
        "batches": "short rows of one length, where the paper packs texts and ends with rows of 8,192 tokens",
        "tokenizer": "whole words, not pieces of bytes",
    },
    data="web pages, code and scientific papers, 2 trillion tokens",
    published=(
        PublishedSize("ModernBERT base", MODERNBERT_BASE, 50_368, 149e6, "sec. 2.1"),
        PublishedSize(
            "ModernBERT large",
            replace(MODERNBERT_BASE, layers=28, width=1024, heads=16, mlp_ratio=2624 / 1024),
            50_368,
            395e6,
            "sec. 2.1",
        ),
    ),
    published_recipe={"adam_beta2": 0.98, "weight_decay": 1e-5},  # released code
    model=tiny(MODERNBERT_BASE, attention_window=9),
    objective=MLM_30,
)
