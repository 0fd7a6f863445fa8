"""ELECTRA in transformers: the discriminator, and the generator, which lies in a folder of its own."""

from dataclasses import replace

from playground.interop.families.bert import BERT, bert_names
from playground.interop.family import ANY, Setting

NAMES = {**bert_names("electra"), "network.embedding_projection": "electra.embeddings_project"}

ELECTRA = replace(
    BERT,
    name="ELECTRA",
    source="arXiv:2003.10555 and its released code",
    order=(1,),
    model_type="electra",
    classes={"ElectraForPreTraining": ()},
    plain="",
    output="",
    defaults={**BERT.defaults, "hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024},
    form={
        **BERT.form,
        "activation": "gelu",
        "lm_head": (False, True),
        "rtd_head": True,
        "embedding_size": ANY,
        "generator_ratio": ANY,
        "tie_generator": ("none", "embeddings", "all"),
    },
    settings=(*BERT.settings, Setting("embedding_size", "embedding_size", 128)),
    derived=lambda shape: {"embedding_size": shape.table_width},  # needed also where it is the width of the network
    names={
        **NAMES,
        "rtd_head.dense": "discriminator_predictions.dense",
        "rtd_head.out_proj": "discriminator_predictions.dense_prediction",
    },
    copies={},
    companion="ELECTRA generator",
    elsewhere=("generator.", "generator_lm_head.", "generator_token_embedding.", "lm_head."),
)

ELECTRA_GENERATOR = replace(
    ELECTRA,
    name="ELECTRA generator",
    trained_as="RoBERTa",
    order=(2,),
    classes={"ElectraForMaskedLM": ()},
    plain="ElectraModel",
    output="generator_lm_head.weight",
    form={**BERT.form, "activation": "gelu", "embedding_size": ANY},
    names={
        **NAMES,
        "lm_head.projection": "generator_predictions.dense",
        "lm_head.ln": "generator_predictions.LayerNorm",
        "lm_head.bias": "generator_lm_head.bias",
    },
    companion="",
    elsewhere=(),
)
