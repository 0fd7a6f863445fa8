"""DistilBERT in transformers: BERT without segments, half as deep."""

from playground.interop.families.bert import BERT_FORM
from playground.interop.family import GELUS, Family, Setting, attention_names, encoder_names

DISTILBERT = Family(
    name="DistilBERT",
    source="arXiv:1910.01108 and its released code",
    model_type="distilbert",
    classes={"DistilBertForMaskedLM": ()},
    plain="DistilBertModel",
    output="vocab_projector.weight",
    defaults={"vocab_size": 30522, "pad_token_id": 0},
    form={
        **BERT_FORM,
        "activation": ("gelu", "relu"),
        "head_transform": True,
        "segments": 0,
        "norm_eps": 1e-12,
    },
    settings=(
        Setting("dim", "width", 768),
        Setting("n_layers", "layers", 6),
        Setting("n_heads", "heads", 12),
        Setting("hidden_dim", "mlp_ratio", 3072, multiple=True),
        Setting("max_position_embeddings", "max_position_embeddings", 512),
        Setting("activation", "activation", "gelu", GELUS),
        Setting("dropout", "dropout", 0.1, also=("attention_dropout",)),
    ),
    names={
        "token_embedding": "distilbert.embeddings.word_embeddings",
        "network.position_embedding": "distilbert.embeddings.position_embeddings",
        "network.ln_embedding": "distilbert.embeddings.LayerNorm",
        **encoder_names(
            "distilbert.transformer.layer.#.",
            {
                **attention_names("attention", ("q_lin", "k_lin", "v_lin", "out_lin")),
                "ln_1": "sa_layer_norm",
                "mlp.fc1": "ffn.lin1",
                "mlp.fc2": "ffn.lin2",
                "ln_2": "output_layer_norm",
            },
        ),
        "lm_head.projection": "vocab_transform",
        "lm_head.ln": "vocab_layer_norm",
        "lm_head.bias": "vocab_projector.bias",
    },
)
