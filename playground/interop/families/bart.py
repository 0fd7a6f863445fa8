"""BART in transformers: BERT's layers in an encoder and a decoder; two rows stand before the first position.

BartModel is the same: its words are scored by the word vectors.
"""

from collections.abc import Mapping

from playground.interop.families.bert import BERT_FORM
from playground.interop.family import ANY, GELUS, ROW, Family, Setting, attention_names, encoder_names, needs_decoder
from playground.models import Architecture

ATTENTION = ("q_proj", "k_proj", "v_proj", "out_proj")

LAYER = {
    **attention_names("self_attn", ATTENTION),
    "ln_1": "self_attn_layer_norm",
    "mlp.fc1": "fc1",
    "mlp.fc2": "fc2",
    "ln_2": "final_layer_norm",
}

CROSS = {**attention_names("encoder_attn", ATTENTION, "cross_attn"), "ln_cross_attn": "encoder_attn_layer_norm"}

INPUTS = (("position_embedding", "embed_positions"), ("ln_embedding", "layernorm_embedding"))


def of_decoder(shape: Architecture) -> Mapping[str, str]:
    """The position vectors and their norm where encoder and decoder have their own, as in the released weights."""
    sides = {"": "encoder", "decoder_": "decoder"} if shape.decoder_positions else {}
    return {
        f"network.{ours}{part}": f"model.{theirs}.{name}" for ours, theirs in sides.items() for part, name in INPUTS
    }


BART = Family(
    name="BART",
    source="arXiv:1910.13461 and its released code",
    model_type="bart",
    classes={"BartForConditionalGeneration": ()},
    plain="BartModel",
    output="lm_head.weight",
    defaults={
        "vocab_size": 50265,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 2,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
    },
    form={**BERT_FORM, "decoder_layers": ANY, "decoder_positions": (False, True), "segments": 0, "norm_eps": 1e-5},
    settings=(
        Setting("d_model", "width", 1024),
        Setting("encoder_layers", "layers", 12),
        Setting("decoder_layers", "decoder_layers", 12),
        Setting("encoder_attention_heads", "heads", 16, also=("decoder_attention_heads",)),
        Setting("encoder_ffn_dim", "mlp_ratio", 4096, multiple=True, also=("decoder_ffn_dim",)),
        Setting("max_position_embeddings", "max_position_embeddings", 1024),
        Setting("activation_function", "activation", "gelu", GELUS),
        Setting("dropout", "dropout", 0.1, also=("attention_dropout", "activation_dropout")),
    ),
    fixed={"scale_embedding": False, "is_encoder_decoder": True},
    names={
        "token_embedding": "model.shared",
        **{f"network.{part}": (f"model.encoder.{name}", f"model.decoder.{name}") for part, name in INPUTS},
        **encoder_names("model.encoder.layers.#.", LAYER),
        **encoder_names("model.decoder.layers.#.", LAYER | CROSS, "decoder"),
        "lm_head.bias": "final_logits_bias",
    },
    own_names=of_decoder,
    layouts={"final_logits_bias": ROW},
    optional=("final_logits_bias",),
    copies={
        "model.encoder.embed_tokens.weight": "model.shared.weight",
        "model.decoder.embed_tokens.weight": "model.shared.weight",
    },
    offset=lambda pad: 2,
    refusal=needs_decoder,
)
