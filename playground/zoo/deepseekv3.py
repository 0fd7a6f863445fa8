"""DeepSeek-V3: a language model with one more layer that predicts the word after the next one."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.multi_token_prediction import SEQUENTIAL_MULTI_TOKEN
from playground.zoo.entry import Entry
from playground.zoo.gpt2 import GPT_2_SMALL
from playground.zoo.recipe import Recipe

FORM = replace(
    GPT_2_SMALL,
    positions="rotary",
    norm="rms norm",
    activation="swiglu",
    attention_bias=False,
    mlp_bias=False,
    lm_head_bias=False,
    tie_word_embeddings=False,
    init="normal",
)
"""Rotary positions, RMS norms, SwiGLU and an output table of its own."""

DEEPSEEK_V3 = Entry(
    name="DeepSeek-V3",
    year=2024,
    paper="arXiv:2412.19437",
    idea="Predict the next word, and with one more layer that also reads it the word after that.",
    parent="GPT-2",
    changed="A module for the word after the next one, dropped after training. Rotary positions, RMS norms, SwiGLU.",
    aliases=("DeepSeek V3", "DeepSeek"),
    unlike_paper={
        "network": "dense layers with plain attention, where the paper has a mixture of experts and latent attention; "
        "the states that the module reads are under the final norm",
        "stages": "the second word counts 0.3 throughout, where the paper falls to 0.1 for the last part of its text",
        "decoding": "no speculative decoding with the module",
        "tokenizer": "whole words, not pieces of bytes",
    },
    data="14.8 trillion tokens of text and code",
    model=replace(tiny(FORM), mtp_num_layers=1, mtp_sequential=True),
    recipe=Recipe(seq_len=64, batch_size=16),
    objective=SEQUENTIAL_MULTI_TOKEN,
)
