"""BERT in transformers: BertForMaskedLM, BertForPreTraining with the head for the next sentence, BertModel alone."""

from playground.interop.family import ANY, GELUS, Family, Setting, attention_names, encoder_names

BERT_FORM = {"norm_first": False, "embedding_norm": True, "activation": tuple(GELUS), "segments": ANY}
"""Norms behind the sub-layers and over the embeddings, as in BERT's released code."""


def bert_names(prefix: str) -> dict[str, str]:
    """The names of the embeddings and layers of BERT and its relatives."""
    layer = {
        **attention_names("attention", ("self.query", "self.key", "self.value", "output.dense")),
        "ln_1": "attention.output.LayerNorm",
        "mlp.fc1": "intermediate.dense",
        "mlp.fc2": "output.dense",
        "ln_2": "output.LayerNorm",
    }
    return {
        "token_embedding": f"{prefix}.embeddings.word_embeddings",
        "network.position_embedding": f"{prefix}.embeddings.position_embeddings",
        "network.segment_embedding": f"{prefix}.embeddings.token_type_embeddings",
        "network.ln_embedding": f"{prefix}.embeddings.LayerNorm",
        **encoder_names(f"{prefix}.encoder.layer.#.", layer),
    }


BERT = Family(
    name="BERT",
    source="arXiv:1810.04805 and its released code",
    order=(0,),
    model_type="bert",
    classes={"BertForMaskedLM": (), "BertForPreTraining": (("pair", 2),)},
    plain="BertModel",
    output="cls.predictions.decoder.weight",
    defaults={"vocab_size": 30522, "pad_token_id": 0},
    form={**BERT_FORM, "head_transform": True},
    settings=(
        Setting("hidden_size", "width", 768),
        Setting("num_hidden_layers", "layers", 12),
        Setting("num_attention_heads", "heads", 12),
        Setting("intermediate_size", "mlp_ratio", 3072, multiple=True),
        Setting("max_position_embeddings", "max_position_embeddings", 512),
        Setting("type_vocab_size", "segments", 2, at_least=1),
        Setting("hidden_act", "activation", "gelu", GELUS),
        Setting("layer_norm_eps", "norm_eps", 1e-12),
        Setting("hidden_dropout_prob", "dropout", 0.1, also=("attention_probs_dropout_prob",)),
    ),
    fixed={"is_decoder": False, "add_cross_attention": False},
    names={
        **bert_names("bert"),
        "lm_head.projection": "cls.predictions.transform.dense",
        "lm_head.ln": "cls.predictions.transform.LayerNorm",
        "lm_head.bias": "cls.predictions.bias",
        "label_heads.pair.dense": "bert.pooler.dense",
        "label_heads.pair.out_proj": "cls.seq_relationship",
    },
    copies={"cls.predictions.decoder.bias": "cls.predictions.bias"},
)
