"""ELECTRA in transformers: the discriminator, and the generator, which lies in a folder of its own."""

from dataclasses import replace

from playground.interop.families.bert import BERT, BERT_LAYER, bert_embeddings
from playground.interop.family import ANY, Setting, encoder_names

NAMES = {
    **bert_embeddings("electra"),
    "network.embedding_projection": "electra.embeddings_project",
    **encoder_names("electra.encoder.layer.#.", BERT_LAYER),
}

ELECTRA_GENERATOR = replace(
    BERT,
    name="ELECTRA generator",
    source="arXiv:2003.10555 and its released code",
    trained_as="RoBERTa",
    order=(2,),
    model_type="electra",
    classes={"ElectraForMaskedLM": ()},
    plain="ElectraModel",
    output="generator_lm_head.weight",
    defaults={**BERT.defaults, "hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024},
    form={**BERT.form, "activation": "gelu", "embedding_size": ANY},
    settings=(*BERT.settings, Setting("embedding_size", "embedding_size", 128)),
    derived=lambda shape: {"embedding_size": shape.table_width},  # needed also where it is the width of the network
    names={
        **NAMES,
        "lm_head.projection": "generator_predictions.dense",
        "lm_head.ln": "generator_predictions.LayerNorm",
        "lm_head.bias": "generator_lm_head.bias",
    },
    copies={},
)

ELECTRA = replace(
    ELECTRA_GENERATOR,
    name="ELECTRA",
    trained_as="",
    order=(1,),
    classes={"ElectraForPreTraining": ()},
    plain="",
    output="",
    form={
        **ELECTRA_GENERATOR.form,
        "lm_head": (False, True),
        "rtd_head": True,
        "generator_ratio": ANY,
        "tie_generator": ("embeddings", "all"),
    },
    names={
        **NAMES,
        "rtd_head.dense": "discriminator_predictions.dense",
        "rtd_head.out_proj": "discriminator_predictions.dense_prediction",
    },
    companion="ELECTRA generator",
    elsewhere=("generator.", "generator_lm_head.", "lm_head."),
)
