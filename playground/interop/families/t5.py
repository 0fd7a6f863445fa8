"""T5 in transformers: norms without mean and bias, distances in place of positions, no bias at all.

T5 1.1 has MLPs with a gate and a second table that scores words. T5Model is the same: its words are scored by the word
vectors.
"""

from collections.abc import Mapping
from typing import Any

from playground.interop.family import ANY, Family, Setting, attention_names, encoder_names, needs_decoder
from playground.models import Architecture

SELF = "layer.0.SelfAttention"

DISTANCES = "relative_attention_bias"


def layer(mlp: int) -> dict[str, str]:
    """Our sub-layers and theirs, of which the MLP has the number `mlp` in its layer."""
    return {
        **attention_names(SELF, "qkvo"),
        "ln_1": "layer.0.layer_norm",
        "mlp.fc1": f"layer.{mlp}.DenseReluDense.wi",
        "mlp.gate": f"layer.{mlp}.DenseReluDense.wi_0",
        "mlp.fc2": f"layer.{mlp}.DenseReluDense.wo",
        "ln_2": f"layer.{mlp}.layer_norm",
    }


CROSS = {**attention_names("layer.1.EncDecAttention", "qkvo", "cross_attn"), "ln_cross_attn": "layer.1.layer_norm"}


def follow(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A decoder as deep as the encoder, and scores that are scaled where tables are tied: both unless said."""
    same = {"num_decoder_layers": config["num_layers"], "scale_decoder_outputs": config["tie_word_embeddings"]}
    return {key: value for key, value in same.items() if config[key] is None}


def gated(shape: Architecture) -> Mapping[str, str]:
    """The second matrix of an MLP with a gate (T5 1.1)."""
    stacks = {"encoder": 1, "decoder": 2} if shape.activation == "geglu" else {}
    return {
        f"network.{stack}.blocks.#.mlp.fc1": f"{stack}.block.#.layer.{mlp}.DenseReluDense.wi_1"
        for stack, mlp in stacks.items()
    }


T5 = Family(
    name="T5",
    source="arXiv:1910.10683 and its released code",
    model_type="t5",
    classes={"T5ForConditionalGeneration": ()},
    plain="T5Model",
    output="lm_head.weight",
    defaults={"vocab_size": 32128, "pad_token_id": 0, "eos_token_id": 1},
    complete=follow,
    form={
        "positions": "relative bias",
        "norm": "rms norm",
        "activation": ("relu", "geglu"),
        "attention_bias": False,
        "mlp_bias": False,
        "scale_attn_weights": False,
        "lm_head_bias": False,
        "scale_decoder_outputs": (True, False),
        "decoder_layers": ANY,
        "head_dim": ANY,
    },
    settings=(
        Setting("d_model", "width", 512),
        Setting("num_layers", "layers", 6),
        Setting("num_decoder_layers", "decoder_layers", None),
        Setting("num_heads", "heads", 8),
        Setting("d_kv", "head_dim", 64),
        Setting("d_ff", "mlp_ratio", 2048, multiple=True),
        Setting("feed_forward_proj", "activation", "relu", {"relu": ("relu",), "geglu": ("gated-gelu",)}),
        Setting("scale_decoder_outputs", "scale_decoder_outputs", None, {True: (True,), False: (False,)}),
        Setting("layer_norm_epsilon", "norm_eps", 1e-6),
        Setting("dropout_rate", "dropout", 0.1),
    ),
    fixed={
        "relative_attention_num_buckets": 32,
        "relative_attention_max_distance": 128,
        "is_encoder_decoder": True,
    },
    derived=lambda shape: {
        "d_kv": shape.head_width,
        "dense_act_fn": "gelu_new" if shape.activation == "geglu" else "relu",
        "is_gated_act": shape.activation == "geglu",
    },
    names={
        "token_embedding": "shared",
        **encoder_names("encoder.block.#.", layer(1)),
        "network.encoder.ln_f": "encoder.final_layer_norm",
        f"network.encoder.{DISTANCES}": f"encoder.block.0.{SELF}.{DISTANCES}",
        **encoder_names("decoder.block.#.", layer(2) | CROSS, "decoder"),
        "network.decoder.ln_f": "decoder.final_layer_norm",
        f"network.decoder.{DISTANCES}": f"decoder.block.0.{SELF}.{DISTANCES}",
    },
    own_names=gated,
    copies={
        "encoder.embed_tokens.weight": "shared.weight",
        "decoder.embed_tokens.weight": "shared.weight",
    },
    refusal=needs_decoder,
)
