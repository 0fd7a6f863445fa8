"""Claims in a notebook: the table, a card that is run, and a variant of it."""

import pytest

from playground.claims import claims as every_claim
from playground.errors import UserError
from widgets import claim, claims


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path / "home"))


def test_the_table_has_every_claim(tmp_path):
    table = claims()
    assert repr(table).startswith(f"{len(every_claim())} claims: ")
    assert all(name in table._repr_html_() for name in every_claim())
    table.csv(tmp_path / "claims.csv")
    assert (tmp_path / "claims.csv").read_text(encoding="utf-8").count("\nK") == len(every_claim())


def test_a_claim_is_run_and_shows_its_card():
    tested = claim("K059")
    assert tested.verdict["call"] == tested.facts["verdict"] == "agrees"
    assert repr(tested).startswith("K059: agrees.")
    shown = tested._repr_html_()
    assert every_claim()["K059"].title in shown
    assert "<svg" in shown


def test_a_variant_is_run_with_its_knobs():
    tested = claim("K059", {"content, token 2.figure": "content 2: 1 2 3 4"}, seeds=1)
    assert tested.verdict["call"] == "disagrees"
    assert "With content, token 2.figure = content 2: 1 2 3 4, seeds = 1" in tested._repr_html_()


def test_a_claim_that_is_not_there_is_refused():
    with pytest.raises(UserError, match="K999"):
        claim("K999")
