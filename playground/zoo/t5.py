"""T5: every task is text in and text out, and so are hidden spans."""

from dataclasses import replace

from playground.models import Architecture, tiny
from playground.objectives.catalog.t5 import T5_SPANS
from playground.zoo.entry import Entry, PublishedSize

T5_BASE = Architecture(
    layers=12,
    decoder_layers=12,
    width=768,
    heads=12,
    positions="relative bias",
    norm="rms norm",
    norm_eps=1e-6,
    activation="relu",
    mlp_bias=False,
    scale_attn_weights=False,
    lm_head_bias=False,
    scale_decoder_outputs=True,
    dropout=0.1,
    init="normal",
)
"""An encoder and a decoder as large as BERT each, without biases (sec. 2.1, 3.1.1 and released code)."""

SMALL = replace(T5_BASE, layers=6, decoder_layers=6, width=512, heads=8)
LARGE = replace(T5_BASE, layers=24, decoder_layers=24, width=1024, heads=16)

T5 = Entry(
    name="T5",
    year=2019,
    paper="arXiv:1910.10683",
    idea="Write every task as a text with an answer; then one network, one loss and one way of training serve all.",
    parent="BERT",
    changed="An encoder and a decoder; spans are replaced by numbered sentinels, and only what is missing is written.",
    aliases=("T5 small", "T5 base", "T5 large"),
    unlike_paper={
        "optimiser": "trained with AdamW, where the paper has Adafactor",
        "tasks": "only hidden spans; the largest models also train on labelled tasks (objective 'text to text')",
        "network": "initial weights of the recipe 'paper' as in BERT; T5 has larger word vectors and its own scale "
        "for each matrix",
    },
    data="C4, the Colossal Clean Crawled Corpus",
    printed={"objective": "Text Infilling", "task": "Seq2Seq MLM", "GLUE": "89.7, without WNLI", "FT": "yes"},
    published=(
        PublishedSize("T5 base", T5_BASE, 32_128, 223e6, "released weights; sec. 3.1.2 says about 220M"),
        PublishedSize("T5 small", SMALL, 32_128, 60e6, "sec. 3.7"),
        PublishedSize("T5 large", LARGE, 32_128, 738e6, "released weights; sec. 3.7 says 770M"),
    ),
    model=tiny(T5_BASE),
    objective=T5_SPANS,
)
