"""The learnt mix of layers as stacked bars: static/layer_mix.py."""

from xml.etree import ElementTree

import pytest

from widgets.static.layer_mix import HIGH, bars, markup

MIX = [
    {"step": 0, "scale": 1.0, "levels": [0.5, 0.5]},
    {"step": 4, "scale": 1.1, "levels": [0.4, 0.6]},
    {"step": 8, "scale": 1.25, "levels": [0.2, 0.8]},
]


def test_the_bars_of_each_step_stand_on_each_other_and_fill_the_height():
    drawn = ElementTree.fromstring(bars("<layer mix>", MIX))
    rows = [[float(rect.get(name) or 0) for name in ("x", "y", "height")] for rect in drawn.findall("{*}rect")]
    for look, (low, high) in zip(MIX, zip(rows[::2], rows[1::2], strict=True), strict=True):
        assert low[0] == high[0]
        assert [low[2] / HIGH, high[2] / HIGH] == pytest.approx(look["levels"])
        assert high[1] + high[2] == pytest.approx(low[1], abs=0.1)
    assert "scale γ 1.00 → 1.25" in "".join(drawn.itertext())


def test_only_what_learns_a_mix_has_a_picture():
    plain, mixed = {"name": "full", "mix": []}, {"name": "<layer mix>", "mix": MIX}
    assert markup([plain]) == ""
    made = markup([plain, mixed])
    assert made.count('role="img"') == 1 and "&lt;layer mix&gt;" in made and "full" not in made
