"""mBERT: one BERT for 104 languages, which is never told that they have anything in common."""

from playground.models import Architecture
from playground.objectives.catalog.xlm_r import MULTILINGUAL_MLM
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, Published

MBERT = Entry(
    name="mBERT",
    year=2018,
    paper="Devlin 2018, Multilingual BERT, released with BERT's code",
    idea="Train one BERT on texts of many languages; what it learns in one helps in others without any translation.",
    parent="BERT",
    changed="One vocabulary and one network for 104 languages.",
    corpus="bilingual",
    aliases=("multilingual BERT", "BERT multilingual"),
    unlike_paper={
        "next sentence prediction": "no next sentence prediction, and so no [CLS], no [SEP] and no segments",
        "tokenizer": "whole words, not pieces that languages share",
    },
    data="Wikipedia in 104 languages, small ones drawn more often than their share",
    published=(Published("mBERT", BERT_BASE, 119_547, 178e6, "released weights; its page says 110M, which is BERT's"),),
    model=Architecture(),
    objective=MULTILINGUAL_MLM,
)
