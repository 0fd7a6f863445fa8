"""GPT-2 in transformers: queries, keys and values in one matrix, and matrices with inputs down."""

from playground.interop.family import CONV_1D, GELUS, Family, Setting, attention_names, encoder_names

GPT_2 = Family(
    name="GPT-2",
    source="Radford et al. 2019 and its released code",
    model_type="gpt2",
    classes={"GPT2LMHeadModel": ()},
    plain="GPT2Model",
    output="lm_head.weight",
    defaults={"vocab_size": 50257, "eos_token_id": 50256},
    complete=lambda config: {"n_inner": config["n_inner"] or 4 * config["n_embd"]},
    form={"activation": tuple(GELUS), "lm_head_bias": False, "attention": "left to right"},
    settings=(
        Setting("n_embd", "width", 768),
        Setting("n_layer", "layers", 12),
        Setting("n_head", "heads", 12),
        Setting("n_inner", "mlp_ratio", None, multiple=True),
        Setting("n_positions", "max_position_embeddings", 1024),
        Setting("activation_function", "activation", "gelu_new", GELUS),
        Setting("layer_norm_epsilon", "norm_eps", 1e-5),
        Setting("resid_pdrop", "dropout", 0.1, also=("embd_pdrop", "attn_pdrop")),
    ),
    fixed={"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False},
    names={
        "token_embedding": "transformer.wte",
        "network.position_embedding": "transformer.wpe",
        **encoder_names(
            "transformer.h.#.",
            {
                "ln_1": "ln_1",
                **attention_names("attn", ("c_attn", "c_attn", "c_attn", "c_proj")),
                "ln_2": "ln_2",
                "mlp.fc1": "mlp.c_fc",
                "mlp.fc2": "mlp.c_proj",
            },
        ),
        "network.encoder.ln_f": "transformer.ln_f",
    },
    layouts={
        f"transformer.h.#.{part}.weight": CONV_1D for part in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")
    },
)
