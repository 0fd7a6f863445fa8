"""Small models of every family, ours and those of transformers, and the scores of both for the same ids."""

from dataclasses import replace

import torch
import transformers as hf

from playground.batch import arange_rows, causal_mask, full_mask, stream
from playground.models import Architecture, LanguageModel
from playground.tokenizing import of_words

WORDS = [f"word{k}" for k in range(24)]
TOKENIZER = of_words(WORDS)
SIZE = len(TOKENIZER)

SMALL = Architecture(layers=2, width=16, heads=2, mlp_ratio=2, positions="learned", max_position_embeddings=24)
BERT = replace(
    SMALL, norm_first=False, embedding_norm=True, attention_bias=True, head_transform=True, norm_eps=1e-12, segments=2
)
OURS = {
    "BERT": BERT,
    "RoBERTa": replace(BERT, segments=0, norm_eps=1e-5),
    "DistilBERT": replace(BERT, segments=0),
    "ALBERT": replace(BERT, layer_sharing="all", embedding_size=8, activation="gelu tanh"),
    "ELECTRA": replace(BERT, rtd_head=True, generator_ratio=0.5, embedding_size=12),
    "ELECTRA generator": replace(BERT, embedding_size=8),
    "XLNet": replace(SMALL, norm_first=False, positions="relative", two_streams=True, norm_eps=1e-12, segments=2),
    "GPT-2": replace(
        SMALL, attention_bias=True, activation="gelu tanh", lm_head_bias=False, attention="left to right", mlp_ratio=4
    ),
    "BART": replace(BERT, segments=0, head_transform=False, norm_eps=1e-5, decoder_layers=3),
    "T5": replace(
        SMALL, positions="relative bias", norm="rms norm", norm_eps=1e-6, activation="relu", mlp_bias=False,
        scale_attn_weights=False, lm_head_bias=False, scale_decoder_outputs=True, decoder_layers=3,
    ),
    "XLM": replace(BERT, segments=0, head_transform=False, languages=3, mlp_ratio=4),
}  # fmt: skip
"""An architecture of each family."""

V = {"vocab_size": SIZE}
B = {
    **V, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
    "max_position_embeddings": 24, "pad_token_id": 0,
}  # fmt: skip
THEIRS = {
    "BERT": lambda: hf.BertForMaskedLM(hf.BertConfig(**B)),
    "BERT with NSP": lambda: hf.BertForPreTraining(hf.BertConfig(**B)),
    "RoBERTa": lambda: hf.RobertaForMaskedLM(hf.RobertaConfig(**{**B, "pad_token_id": 1, "type_vocab_size": 1})),
    "DistilBERT": lambda: hf.DistilBertForMaskedLM(
        hf.DistilBertConfig(**V, dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=24)
    ),
    "ALBERT": lambda: hf.AlbertForMaskedLM(hf.AlbertConfig(**B, embedding_size=8)),
    "ALBERT with SOP": lambda: hf.AlbertForPreTraining(hf.AlbertConfig(**B, embedding_size=8)),
    "ELECTRA": lambda: hf.ElectraForPreTraining(hf.ElectraConfig(**B, embedding_size=12)),
    "ELECTRA generator": lambda: hf.ElectraForMaskedLM(hf.ElectraConfig(**B, embedding_size=8)),
    "XLNet": lambda: hf.XLNetLMHeadModel(
        hf.XLNetConfig(**V, d_model=16, n_layer=2, n_head=2, d_inner=32, pad_token_id=0)
    ),
    "GPT-2": lambda: hf.GPT2LMHeadModel(
        hf.GPT2Config(**V, n_embd=16, n_layer=2, n_head=2, n_positions=24, bos_token_id=1, eos_token_id=2)
    ),
    "BART": lambda: hf.BartForConditionalGeneration(
        hf.BartConfig(
            **V, d_model=16, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2, decoder_attention_heads=2,
            encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=24,
        )
    ),
    "T5": lambda: hf.T5ForConditionalGeneration(
        hf.T5Config(**V, d_model=16, num_layers=2, num_decoder_layers=3, num_heads=2, d_kv=8, d_ff=32)
    ),
    "XLM": lambda: hf.XLMWithLMHeadModel(
        hf.XLMConfig(**V, emb_dim=16, n_layers=2, n_heads=2, max_position_embeddings=24, n_langs=3)
    ),
}  # fmt: skip
"""A model of transformers of each family, with random weights."""


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


@torch.no_grad()
def shaken(model):
    """The same model with all weights at random, so that no weight is zero or one by its initialisation."""
    for name, weight in model.named_parameters():
        noise = torch.randn(weight.shape, generator=rng(len(name)))
        weight.copy_(noise * 0.3 + (1.0 if "norm" in name.lower() or ".ln" in name else 0.0) * (weight.dim() == 1))
    return model.eval()


def our_model(family):
    return shaken(LanguageModel(OURS[family], SIZE, rng()))


@torch.no_grad()
def our_scores(model, ids, lengths, mask=None, **more):
    """The scores `[b, n, v]` of our model at every position; `mask` `[b, n, n]` closes single cells."""
    hidden = our_states(model, ids, lengths, mask, **more)
    if model.shape.rtd_head:
        return model.rtd_head(hidden)[..., 0]
    return model.lm_head(hidden.flatten(0, 1), model.token_embedding.weight).unflatten(0, hidden.shape[:2])


@torch.no_grad()
def our_states(model, ids, lengths, mask=None, segments=None, languages=None, written=None):
    """The last states `[b, n, d]` of our model."""
    network, table, shape = model.network, model.token_embedding.weight, model.shape
    real = arange_rows(ids) < lengths[:, None]
    see = (causal_mask if shape.attention == "left to right" else full_mask)(real, True)
    source = stream(ids, arange_rows(ids), real)
    source = replace(
        source,
        attn_mask=see if mask is None else replace(see, overrides=mask, form="levels"),
        segment_ids=source.segment_ids if segments is None else segments,
        language_ids=source.language_ids if languages is None else languages,
    )
    if written is None:
        return network(source, table)
    whole = torch.ones_like(written, dtype=torch.bool)
    decoder = replace(
        stream(written, arange_rows(written), whole),
        attn_mask=causal_mask(whole, True),
        cross_attn_mask=full_mask(real, True, readers=whole),
    )
    return network.decode(decoder, source, table)


def text(size=SIZE, first=39, rows=3, width=11, seed=1):
    """Ids `[b, n]` of words, and lengths with padding behind them."""
    ids, lengths = torch.randint(first, size, (rows, width), generator=rng(seed)), torch.tensor([width, 7, 4])[:rows]
    return ids, lengths


def cells(ids, seed=2):
    """A mask `[b, n, n]` of single cells in which every position sees itself."""
    some = torch.rand((*ids.shape, ids.shape[1]), generator=rng(seed)) < 0.6
    return some | torch.eye(ids.shape[1], dtype=torch.bool)
