"""The arithmetic of compression that papers print, counted from architectures at full size."""

from dataclasses import replace

import pytest

from playground.models import count_parameters, model_without_weights
from playground.zoo.bert import BERT_BASE

WORDS = 30_000


def parameters(**changed):
    """The parameters of BERT base by name, with some sizes changed."""
    named = model_without_weights(replace(BERT_BASE, **changed), WORDS).named_parameters()
    return {name: p.numel() for name, p in named}


def test_the_word_vectors_are_21_percent_of_bert_base():
    table = parameters()["token_embedding.weight"]
    assert table == 23_040_000
    assert table / 110e6 == pytest.approx(0.21, abs=0.005)


def test_factorising_768_into_128_saves_19_million():
    whole, thin = parameters(), parameters(embedding_size=128)
    factors = thin["token_embedding.weight"] + thin["network.embedding_projection.weight"]
    assert factors == 30_000 * 128 + 128 * 768 == 3_938_304
    assert whole["token_embedding.weight"] - factors == 19_101_696
    assert round((sum(whole.values()) - sum(thin.values())) / 1e6) in (19, 20)  # positions and segments are thin too


def test_factors_save_nothing_from_the_crossover_on():
    width, crossover = 768, WORDS * 768 / (WORDS + 768)
    for size in (int(crossover), int(crossover) + 1):
        assert (size * (WORDS + width) < WORDS * width) == (size < crossover)


def test_sharing_all_layers_saves_77_million():
    saved = sum(parameters().values()) - sum(parameters(layer_sharing="all").values())
    assert saved == 11 * 7_087_872
    assert int(saved / 1e6) == 77


def test_both_together_leave_12_of_108_million():
    left = sum(n for name, n in parameters(embedding_size=128, layer_sharing="all").items() if "lm_head" not in name)
    assert left / 1e6 == pytest.approx(12, abs=0.5)
    assert pytest.approx(0.889, abs=5e-4) == 1 - 12 / 108


def test_six_layers_make_distilbert_40_percent_smaller():
    """DistilBERT, arXiv:1910.01108: 66 million instead of 110."""
    shape = replace(BERT_BASE, labels=())
    whole, half = (count_parameters(replace(shape, layers=layers), 30_522) for layers in (12, 6))
    assert half / 1e6 == pytest.approx(66, abs=1.5)
    assert 1 - half / whole == pytest.approx(0.40, abs=0.015)
