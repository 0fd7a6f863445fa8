"""XLM in transformers: BERT's layers with a language for every position, and scores without a layer before them."""

from playground.interop.families.bert import BERT_FORM
from playground.interop.family import ANY, Family, Setting, attention_names, encoder_names

XLM = Family(
    name="XLM",
    source="arXiv:1901.07291 and its released code",
    model_type="xlm",
    classes={"XLMWithLMHeadModel": ()},
    plain="XLMModel",
    output="pred_layer.proj.weight",
    defaults={"vocab_size": 30145, "pad_token_id": 2, "eos_token_id": 1, "use_lang_emb": True},
    complete=lambda config: {} if config["use_lang_emb"] else {"n_langs": 1},
    form={
        **BERT_FORM,
        "activation": ("gelu", "relu"),
        "segments": 0,
        "mlp_ratio": 4,
        "languages": ANY,
        "attention": ("bidirectional", "left to right"),
    },
    settings=(
        Setting("emb_dim", "width", 2048),
        Setting("n_layers", "layers", 12),
        Setting("n_heads", "heads", 16),
        Setting("max_position_embeddings", "max_position_embeddings", 512),
        Setting("n_langs", "languages", 1, at_least=1, one_is_none=True),
        Setting("causal", "attention", False, {"bidirectional": (False,), "left to right": (True,)}),
        Setting("gelu_activation", "activation", True, {"gelu": (True,), "relu": (False,)}),
        Setting("layer_norm_eps", "norm_eps", 1e-12),
        Setting("dropout", "dropout", 0.1, also=("attention_dropout",)),
    ),
    fixed={"asm": False, "is_encoder": True},
    names={
        "token_embedding": "transformer.embeddings",
        "network.position_embedding": "transformer.position_embeddings",
        "network.language_embedding": "transformer.lang_embeddings",
        "network.ln_embedding": "transformer.layer_norm_emb",
        **encoder_names(
            "transformer.",
            {
                **attention_names("attentions.#", ("q_lin", "k_lin", "v_lin", "out_lin")),
                "ln_1": "layer_norm1.#",
                "mlp.fc1": "ffns.#.lin1",
                "mlp.fc2": "ffns.#.lin2",
                "ln_2": "layer_norm2.#",
            },
        ),
        "lm_head.bias": "pred_layer.proj.bias",
    },
    refusal=lambda shape: "languages is 1, not 0 or at least 2" if shape.languages == 1 else "",
)
