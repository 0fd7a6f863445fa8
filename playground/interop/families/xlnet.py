"""XLNet in transformers: two streams and relative positions, which also compare segments.

How long its memory is, is not written: weights do not depend on it, and transformers is given with each text.
"""

from collections.abc import Mapping

from playground.interop.family import ANY, CELL, GELUS, HEADS_INTO, HEADS_OUT_OF, Family, Setting, encoder_names
from playground.models import Architecture

LAYER = "transformer.layer.#"


def lacking(shape: Architecture) -> Mapping[str, tuple[int, ...]]:
    """The terms of segments in every layer (sec. 2.5) and the query stream, where our model lacks them."""
    each = (shape.heads, shape.width // shape.heads)
    terms = {} if shape.segments else {"r_s_bias": each, "seg_embed": (2, *each)}
    layers = [f"transformer.layer.{n}.rel_attn" for n in range(shape.layers)]
    query = {} if shape.two_streams else {"transformer.mask_emb": (1, 1, shape.width)}
    return {f"{layer}.{name}": size for layer in layers for name, size in terms.items()} | query


XLNET = Family(
    name="XLNet",
    source="arXiv:1906.08237 and its released code",
    model_type="xlnet",
    classes={"XLNetLMHeadModel": ()},
    plain="XLNetModel",
    output="lm_loss.weight",
    defaults={"vocab_size": 32000, "pad_token_id": 5, "eos_token_id": 2},
    form={
        "positions": "relative",
        "norm_first": False,
        "attention_bias": False,
        "activation": ("gelu", "relu"),
        "two_streams": (True, False),
        "segments": (2, 0),
        "mem_len": ANY,
    },
    settings=(
        Setting("d_model", "width", 1024),
        Setting("n_layer", "layers", 24),
        Setting("n_head", "heads", 16),
        Setting("d_inner", "mlp_ratio", 4096, multiple=True),
        Setting("ff_activation", "activation", "gelu", GELUS),
        Setting("layer_norm_eps", "norm_eps", 1e-12),
        Setting("dropout", "dropout", 0.1),
    ),
    fixed={"attn_type": "bi", "bi_data": False, "clamp_len": -1, "same_length": False},
    derived=lambda shape: {"d_head": shape.width // shape.heads},
    names={
        "token_embedding": "transformer.word_embedding",
        "network.query_embedding": "transformer.mask_emb",
        **encoder_names(
            f"{LAYER}.",
            {
                "attn.query.weight": "rel_attn.q",
                "attn.key.weight": "rel_attn.k",
                "attn.value.weight": "rel_attn.v",
                "attn.out.weight": "rel_attn.o",
                "attn.position.weight": "rel_attn.r",
                "attn.content_bias": "rel_attn.r_w_bias",
                "attn.position_bias": "rel_attn.r_r_bias",
                "attn.segment_bias": "rel_attn.r_s_bias",
                "attn.segment_embedding": "rel_attn.seg_embed",
                "ln_1": "rel_attn.layer_norm",
                "mlp.fc1": "ff.layer_1",
                "mlp.fc2": "ff.layer_2",
                "ln_2": "ff.layer_norm",
            },
        ),
        "lm_head.bias": "lm_loss.bias",
    },
    layouts={
        "transformer.mask_emb": CELL,
        f"{LAYER}.rel_attn.o": HEADS_OUT_OF,
        **{f"{LAYER}.rel_attn.{part}": HEADS_INTO for part in "qkvr"},
    },
    zeros=lacking,
)
