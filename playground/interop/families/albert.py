"""ALBERT in transformers: narrow word vectors and one layer for all."""

from playground.interop.families.bert import BERT, bert_names
from playground.interop.family import ANY, Family, Setting, attention_names, encoder_names
from playground.models import Architecture


def not_narrow(shape: Architecture) -> str:
    """What is wrong with word vectors that are as wide as the network: transformers would project them nevertheless."""
    wide = shape.table_width == shape.width
    return f"embedding_size is {shape.embedding_size}, not narrower than the width {shape.width}" if wide else ""


ALBERT = Family(
    name="ALBERT",
    source="arXiv:1909.11942 and its released code",
    model_type="albert",
    classes={"AlbertForMaskedLM": (), "AlbertForPreTraining": (("pair", 2),)},
    plain="AlbertModel",
    output="predictions.decoder.weight",
    defaults={
        "vocab_size": 30000,
        "pad_token_id": 0,
        "eos_token_id": 3,
        "hidden_size": 4096,
        "num_attention_heads": 64,
        "intermediate_size": 16384,
        "hidden_act": "gelu_new",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    },
    form={**BERT.form, "layer_sharing": "all", "embedding_size": ANY},
    settings=(*BERT.settings, Setting("embedding_size", "embedding_size", 128)),
    fixed={"num_hidden_groups": 1, "inner_group_num": 1},
    names={
        **bert_names("albert"),
        "network.embedding_projection": "albert.encoder.embedding_hidden_mapping_in",
        **encoder_names(
            "albert.encoder.albert_layer_groups.0.albert_layers.0.",
            {
                **attention_names("attention", ("query", "key", "value", "dense")),
                "ln_1": "attention.LayerNorm",
                "mlp.fc1": "ffn",
                "mlp.fc2": "ffn_output",
                "ln_2": "full_layer_layer_norm",
            },
        ),
        "lm_head.projection": "predictions.dense",
        "lm_head.ln": "predictions.LayerNorm",
        "lm_head.bias": "predictions.bias",
        "label_heads.pair.dense": "albert.pooler",
        "label_heads.pair.out_proj": "sop_classifier.classifier",
    },
    copies={"predictions.decoder.bias": "predictions.bias"},
    refusal=not_narrow,
)
