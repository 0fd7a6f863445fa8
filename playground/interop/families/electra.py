"""ELECTRA in transformers: the discriminator, and the generator, which lies in a folder of its own."""

from dataclasses import replace

from playground.interop.families.bert import (
    BERT_DEFAULTS,
    BERT_FIXED,
    BERT_FORM,
    BERT_LAYER,
    BERT_SETTINGS,
    bert_embeddings,
    no_segments,
)
from playground.interop.family import ANY, Family, Setting, encoder_names
from playground.models import Architecture

SETTINGS = (*BERT_SETTINGS, Setting("embedding_size", "embedding_size", 128))

DEFAULTS = BERT_DEFAULTS | {"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024}

NAMES = {
    **bert_embeddings("electra"),
    "network.embedding_projection": "electra.embeddings_project",
    **encoder_names("electra.encoder.layer.#.", BERT_LAYER),
}


def word_vectors(shape: Architecture) -> dict[str, int]:
    """The width of the word vectors, which transformers needs also where it is that of the network."""
    return {"embedding_size": shape.table_width}


ELECTRA = Family(
    name="ELECTRA",
    source="arXiv:2003.10555 and its released code",
    model_type="electra",
    classes={"ElectraForPreTraining": ()},
    defaults=DEFAULTS,
    form={
        **BERT_FORM,
        "activation": "gelu",
        "head_transform": True,
        "lm_head": (False, True),
        "rtd_head": True,
        "embedding_size": ANY,
        "generator_ratio": ANY,
        "tie_generator": ("embeddings", "all"),
    },
    settings=SETTINGS,
    fixed=BERT_FIXED,
    derived=word_vectors,
    names={
        **NAMES,
        "rtd_head.dense": "discriminator_predictions.dense",
        "rtd_head.out_proj": "discriminator_predictions.dense_prediction",
    },
    zeros=lambda shape: no_segments("electra", shape),
    companion="ELECTRA generator",
    elsewhere=("generator.", "generator_lm_head.", "lm_head."),
)

ELECTRA_GENERATOR = replace(
    ELECTRA,
    name="ELECTRA generator",
    trained_as="RoBERTa",
    order=(2,),
    classes={"ElectraForMaskedLM": ()},
    plain="ElectraModel",
    output="generator_lm_head.weight",
    form={**BERT_FORM, "activation": "gelu", "head_transform": True, "embedding_size": ANY},
    names={
        **NAMES,
        "lm_head.projection": "generator_predictions.dense",
        "lm_head.ln": "generator_predictions.LayerNorm",
        "lm_head.bias": "generator_lm_head.bias",
    },
    companion="",
    elsewhere=(),
)
