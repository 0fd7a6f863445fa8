"""T5 in transformers: norms without mean and bias, distances in place of positions, no bias at all."""

from playground.interop.family import ANY, Family, Setting, encoder_names, needs_decoder

SELF = "layer.0.SelfAttention"

DISTANCES = "relative_attention_bias"


def layer(mlp: int) -> dict[str, str]:
    """Our sub-layers and theirs, of which the MLP has the number `mlp` in its layer."""
    return {
        "attn.query": f"{SELF}.q",
        "attn.key": f"{SELF}.k",
        "attn.value": f"{SELF}.v",
        "attn.out": f"{SELF}.o",
        "ln_1": "layer.0.layer_norm",
        "mlp.fc1": f"layer.{mlp}.DenseReluDense.wi",
        "mlp.fc2": f"layer.{mlp}.DenseReluDense.wo",
        "ln_2": f"layer.{mlp}.layer_norm",
    }


CROSS = {
    "cross_attn.query": "layer.1.EncDecAttention.q",
    "cross_attn.key": "layer.1.EncDecAttention.k",
    "cross_attn.value": "layer.1.EncDecAttention.v",
    "cross_attn.out": "layer.1.EncDecAttention.o",
    "ln_cross_attn": "layer.1.layer_norm",
}

T5 = Family(
    name="T5",
    source="arXiv:1910.10683 and its released code",
    entry="T5",
    model_type="t5",
    classes={"T5ForConditionalGeneration": ()},
    form={
        "positions": "relative bias",
        "norm": "rms norm",
        "activation": "relu",
        "attention_bias": False,
        "mlp_bias": False,
        "scale_attn_weights": False,
        "lm_head_bias": False,
        "scale_decoder_outputs": True,
        "decoder_layers": ANY,
    },
    width_key="d_model",
    settings=(
        Setting("d_model", "width"),
        Setting("num_layers", "layers", 6),
        Setting("num_decoder_layers", "decoder_layers", 6),
        Setting("num_heads", "heads", 8),
        Setting("d_ff", "mlp_ratio", 2048, multiple=True),
        Setting("layer_norm_epsilon", "norm_eps", 1e-6),
        Setting("dropout_rate", "dropout", 0.1),
    ),
    fixed={
        "feed_forward_proj": "relu",
        "relative_attention_num_buckets": 32,
        "relative_attention_max_distance": 128,
        "is_encoder_decoder": True,
        "tie_word_embeddings": True,
    },
    derived=lambda shape: {"d_kv": shape.width // shape.heads},
    names={
        "token_embedding": "shared",
        **encoder_names("encoder.block.#.", layer(1)),
        "network.encoder.ln_f": "encoder.final_layer_norm",
        f"network.encoder.{DISTANCES}": f"encoder.block.0.{SELF}.{DISTANCES}",
        **encoder_names("decoder.block.#.", layer(2) | CROSS, "decoder"),
        "network.decoder.ln_f": "decoder.final_layer_norm",
        f"network.decoder.{DISTANCES}": f"decoder.block.0.{SELF}.{DISTANCES}",
    },
    copies={
        "lm_head.weight": "shared.weight",
        "encoder.embed_tokens.weight": "shared.weight",
        "decoder.embed_tokens.weight": "shared.weight",
    },
    refusal=needs_decoder,
    unused=("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",),
)
