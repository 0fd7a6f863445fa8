"""RoBERTa in transformers: BERT with its own names, and positions that are counted from the id of padding."""

from dataclasses import replace

from playground.interop.families.bert import BERT, bert_names

ROBERTA = replace(
    BERT,
    name="RoBERTa",
    source="arXiv:1907.11692 and its released code",
    order=(1,),
    model_type="roberta",
    classes={"RobertaForMaskedLM": ()},
    plain="RobertaModel",
    output="lm_head.decoder.weight",
    defaults={"vocab_size": 50265, "pad_token_id": 1, "eos_token_id": 2},
    form={**BERT.form, "activation": "gelu"},
    names={
        **bert_names("roberta"),
        "lm_head.projection": "lm_head.dense",
        "lm_head.ln": "lm_head.layer_norm",
        "lm_head.bias": "lm_head.bias",
    },
    copies={"lm_head.decoder.bias": "lm_head.bias"},
    offset=lambda pad: pad + 1,
    counts_offset=True,
)
