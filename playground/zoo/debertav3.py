"""DeBERTaV3: ELECTRA whose discriminator adds its own difference to the generator's word vectors."""

from dataclasses import replace

from playground.objectives.catalog.rtd import ALL_MASKED_RTD
from playground.zoo.electra import ELECTRA
from playground.zoo.entry import Entry

DEBERTAV3 = Entry(
    name="DeBERTaV3",
    year=2021,
    paper="arXiv:2111.09543",
    idea="Tell replaced words from original ones, with word vectors that only one of the two losses trains: E_D = "
    "stop-gradient(E_G) + E_Δ, where E_Δ starts at 0.",
    parent="ELECTRA",
    changed="Gradient-disentangled embedding sharing (GDES): MLM trains only the generator's vectors E_G, replaced "
    "token detection only the difference E_Δ. The generator reads [MASK] at every chosen word.",
    aliases=("DeBERTa v3", "DeBERTa-v3", "GDES", "gradient-disentangled embedding sharing"),
    unlike_paper={
        "network": "no disentangled attention to relative positions; learned positions are added, and their vectors "
        "are shared as those of the words are; the generator has as many layers as the model and half its width, where "
        "the paper's has half the layers",
        "stages": "replaced token detection counts 50 times, as in the paper, where the released code has 10 by "
        "default",
        "optimiser": "one step for both losses, where the released code takes one for each network; no weight has both "
        "gradients, so what differs is that gradients are clipped together",
        "segments": "no [CLS], no [SEP] and no segments",
        "tokenizer": "whole words, not pieces of words",
    },
    data="Wikipedia, BooksCorpus, OpenWebText, Stories and CC-News, 160 GB",
    model=replace(ELECTRA.model, embedding_size=0, generator_ratio=0.5, tie_generator="gradient-disentangled"),
    objective=ALL_MASKED_RTD,
)
