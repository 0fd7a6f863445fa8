"""RoBERTa in transformers: BERT with its own names, and positions that are counted from the id of padding."""

from playground.interop.families.bert import (
    BERT_DEFAULTS,
    BERT_FIXED,
    BERT_FORM,
    BERT_LAYER,
    BERT_SETTINGS,
    bert_embeddings,
    no_segments,
)
from playground.interop.family import Family, encoder_names

ROBERTA = Family(
    name="RoBERTa",
    source="arXiv:1907.11692 and its released code",
    model_type="roberta",
    classes={"RobertaForMaskedLM": ()},
    plain="RobertaModel",
    output="lm_head.decoder.weight",
    defaults=BERT_DEFAULTS | {"vocab_size": 50265, "pad_token_id": 1, "eos_token_id": 2},
    form={**BERT_FORM, "activation": "gelu", "head_transform": True},
    settings=BERT_SETTINGS,
    fixed=BERT_FIXED,
    names={
        **bert_embeddings("roberta"),
        **encoder_names("roberta.encoder.layer.#.", BERT_LAYER),
        "lm_head.projection": "lm_head.dense",
        "lm_head.ln": "lm_head.layer_norm",
        "lm_head.bias": "lm_head.bias",
    },
    zeros=lambda shape: no_segments("roberta", shape),
    copies={"lm_head.decoder.bias": "lm_head.bias"},
    offset=lambda pad: pad + 1,
    counts_offset=True,
)
