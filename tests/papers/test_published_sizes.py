"""Every published size in the zoo, counted from its own architecture at full size, against the number in its paper."""

from dataclasses import replace

import pytest

from playground.models import model_without_weights
from playground.zoo import entries

SIZES = [(entry.name, size) for entry in entries().values() for size in entry.published]


@pytest.mark.parametrize(("name", "size"), [pytest.param(*each, id=each[1].name) for each in SIZES])
def test_the_architecture_at_full_size_has_as_many_parameters_as_its_paper_says(name, size):
    """Within 1 %, or to the million, for no author prints less."""
    told, counted = size.parameters, size.count()
    assert abs(counted - told) <= max(0.01 * told, 0.5e6), f"{name}: {counted:,}"


@pytest.mark.parametrize(
    ("size", "sharing", "millions"),
    [
        (768, "all", 31), (768, "attention", 83), (768, "mlp", 57), (768, "none", 108),
        (128, "all", 12), (128, "attention", 64), (128, "mlp", 38), (128, "none", 89),
    ],
)  # fmt: skip
def test_alberts_arithmetic(size, sharing, millions):
    """ALBERT, arXiv:1909.11942, table 4: parameters by width of the word vectors and by what the layers share."""
    base = entries()["ALBERT"].published[0].model
    shape = replace(base, embedding_size=0 if size == base.width else size, layer_sharing=sharing)
    named = model_without_weights(shape, 30_000).named_parameters()
    counted = sum(p.numel() for name, p in named if not name.startswith("lm_head"))
    assert counted / 1e6 == pytest.approx(millions, rel=0.02, abs=0.5)
