"""The layouts of released checkpoints: their keys of config.json and names of weights, on small models.

What `save_pretrained` writes today differs: old files name norms otherwise, leave out prefixes, keep buffers and parts
of other classes, and their config.json lacks the keys that came later.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

import torch
import transformers as hf
from safetensors.torch import save_file

from playground.interop.tokenizer_file import write_tokenizer
from tests.playground.interop.forms import SIZE, THEIRS, TOKENIZER, B, V, shaken


@dataclass(frozen=True)
class Released:
    """A model of transformers, its weights under the released names, and the changed keys of its config.json.

    `saved` makes the weights of the file of the model's; a key of `config` with the value None is left out.
    """

    model: Callable
    saved: Callable = dict
    config: dict | None = None
    dropped: tuple = ()

    def write(self, folder):
        """The folder as it was released, and the model whose scores are right."""
        model = shaken(self.model())
        tensors = self.saved({name: value.clone() for name, value in model.state_dict().items()})
        about = {k: v for k, v in model.config.to_dict().items() if k not in self.dropped}
        about = {**about, "architectures": [type(model).__name__], **(self.config or {})}
        folder.mkdir(parents=True, exist_ok=True)
        files = {"config.json": about, **write_tokenizer(TOKENIZER)}
        for name, content in files.items():
            (folder / name).write_text(json.dumps(content))
        save_file({name: value.contiguous() for name, value in tensors.items()}, folder / "model.safetensors")
        return model.eval()


def without(*ends):
    """The weights whose names do not end so."""
    return lambda tensors: {name: value for name, value in tensors.items() if not name.endswith(ends)}


def renamed(old, new):
    return lambda tensors: {name.replace(old, new): value for name, value in tensors.items()}


def bare(prefix):
    """The weights without a prefix."""
    return lambda tensors: {name.removeprefix(prefix): value for name, value in tensors.items()}


def chain(*steps):
    def all_of(tensors):
        for step in steps:
            tensors = step(tensors)
        return tensors

    return all_of


def causal_buffers(tensors):
    """The masks that GPT-2's layers had as buffers."""
    square = torch.ones(24, 24).tril()[None, None]
    return (
        tensors
        | {f"h.{n}.attn.bias": square.clone() for n in (0, 1)}
        | {f"h.{n}.attn.masked_bias": torch.tensor(-1e4) for n in (0, 1)}
    )


def pooled(prefix, dense=".dense"):
    """A pooler beside the head for words."""
    return lambda tensors: (
        tensors
        | {f"{prefix}.pooler{dense}.weight": torch.randn(16, 16), f"{prefix}.pooler{dense}.bias": torch.randn(16)}
    )


def positions(prefix):
    return lambda tensors: tensors | {f"{prefix}position_ids": torch.arange(24)[None]}


LATER = ("is_decoder", "add_cross_attention", "use_cache", "tie_word_embeddings", "classifier_dropout", "dtype")
"""Keys that no released file has."""

T5 = {**V, "d_model": 16, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 2, "d_kv": 8, "d_ff": 32}


def untied_t5():
    """T5 1.1 with two tables, and heads and MLPs whose widths do not follow from its own."""
    config = hf.T5Config(**T5 | {"num_heads": 3, "d_ff": 41}, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
    model = hf.T5ForConditionalGeneration(config)
    model.lm_head.weight = torch.nn.Parameter(torch.randn(SIZE, 16))
    return model


RELEASED = {
    "bert-base-uncased": Released(
        lambda: hf.BertForPreTraining(hf.BertConfig(**B)),
        chain(
            renamed("LayerNorm.weight", "LayerNorm.gamma"), renamed("LayerNorm.bias", "LayerNorm.beta"),
            positions("bert.embeddings."),
        ),
        {"architectures": ["BertForMaskedLM"]}, LATER,
    ),
    "bert without NSP": Released(THEIRS["BERT"], pooled("bert"), {}, LATER),
    "gpt2": Released(
        THEIRS["GPT-2"], chain(bare("transformer."), without("lm_head.weight"), causal_buffers), {"n_ctx": 24},
        (*LATER, "n_inner", "scale_attn_weights", "scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn"),
    ),
    "gpt2 by its head": Released(THEIRS["GPT-2"], without("wte.weight")),
    "roberta-base": Released(
        THEIRS["RoBERTa"], chain(pooled("roberta"), positions("roberta.embeddings."), without("decoder.bias")),
        {}, LATER,
    ),
    "distilbert-base-uncased": Released(THEIRS["DistilBERT"], dict, {"tie_weights_": True}, LATER),
    "albert-base-v2": Released(THEIRS["ALBERT"], pooled("albert", ""), {"net_structure_type": 0}, LATER),
    "electra-small-discriminator": Released(THEIRS["ELECTRA"], positions("electra.embeddings."), {}, LATER),
    "electra-small-generator": Released(THEIRS["ELECTRA generator"], positions("electra.embeddings."), {}, LATER),
    "bart-base": Released(
        THEIRS["BART"], chain(without("final_logits_bias", "lm_head.weight"), bare("model.")),
        {"architectures": ["BartModel"]}, LATER,
    ),
    "bart-large-cnn": Released(
        THEIRS["BART"],
        lambda tensors: without("lm_head.weight")(tensors) | {"model.encoder.version": torch.tensor([3.0])}, {}, LATER,
    ),
    "t5-small": Released(
        lambda: hf.T5ForConditionalGeneration(hf.T5Config(**T5 | {"num_decoder_layers": 2})),
        lambda tensors: tensors
        | {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight": torch.randn(32, 2)},
        {}, (*LATER, "num_decoder_layers", "feed_forward_proj", "dense_act_fn", "is_gated_act", "scale_decoder_outputs",
             "relative_attention_max_distance"),
    ),
    "t5-v1_1-small": Released(
        untied_t5, dict, {"tie_word_embeddings": False},
        ("dense_act_fn", "is_gated_act", "scale_decoder_outputs", "relative_attention_max_distance"),
    ),
    "t5-v1_1-small saved today": Released(untied_t5),
    "xlm-mlm-en-2048": Released(
        lambda: hf.XLMWithLMHeadModel(hf.XLMConfig(**V, emb_dim=16, n_layers=2, n_heads=2, max_position_embeddings=24)),
        positions("transformer."), {}, LATER,
    ),
    "xlm-mlm-100-1280": Released(
        lambda: hf.XLMWithLMHeadModel(
            hf.XLMConfig(
                **V, emb_dim=16, n_layers=2, n_heads=2, max_position_embeddings=24, n_langs=3, use_lang_emb=False
            )
        ),
        positions("transformer."), {}, LATER,
    ),
    "xlnet-base-cased": Released(
        THEIRS["XLNet"], dict, {"untie_r": True, "mem_len": None, "reuse_len": None}, (*LATER, "use_mems_eval")
    ),
}  # fmt: skip
"""Every layout, by the checkpoint that has it."""

ENCODERS = {
    "all-MiniLM-L6-v2": Released(lambda: hf.BertModel(hf.BertConfig(**B)), positions("embeddings."), {}, LATER),
    "roberta encoder": Released(
        lambda: hf.RobertaModel(hf.RobertaConfig(**B | {"pad_token_id": 1})), positions("embeddings."), {}, LATER
    ),
    "distilbert encoder": Released(
        lambda: hf.DistilBertModel(
            hf.DistilBertConfig(**V, dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=24)
        )
    ),
    "albert encoder": Released(lambda: hf.AlbertModel(hf.AlbertConfig(**B, embedding_size=8))),
    "electra encoder": Released(lambda: hf.ElectraModel(hf.ElectraConfig(**B, embedding_size=12))),
    "xlm encoder": Released(
        lambda: hf.XLMModel(hf.XLMConfig(**V, emb_dim=16, n_layers=2, n_heads=2, max_position_embeddings=24))
    ),
    "xlnet encoder": Released(
        lambda: hf.XLNetModel(hf.XLNetConfig(**V, d_model=16, n_layer=2, n_head=2, d_inner=32, pad_token_id=0))
    ),
}  # fmt: skip
"""Encoders without a head that scores words."""
