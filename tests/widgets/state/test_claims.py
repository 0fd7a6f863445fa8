"""The state of the Claims page: a card is run, a knob is turned, and both verdicts stand side by side."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from playground.claims import claims
from playground.claims.claim import claim_named
from playground.claims.verdict import sentences, shipped
from playground.training.system.turns import Turns
from tests.runs import becomes
from widgets.pages.claims import ClaimsPage
from widgets.state import claims as module
from widgets.state.app import Store
from widgets.state.claims import ClaimsStore
from widgets.state.quota import Quota
from widgets.static import claims as drawn

QUICK, KNOB, OTHER = "K059", "content, token 2.figure", "content 2: 1 2 3 4"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(module, "PROCESSES", 1)


def finished(store: ClaimsStore) -> None:
    store.running.wait()
    assert not store.running.busy
    assert store.running.error is None


def test_a_card_is_run_and_its_variant_beside_it():
    store = ClaimsStore(claim=QUICK)
    before = store.verdict(QUICK)
    store.begin([QUICK])
    finished(store)
    assert store.here[QUICK]["call"] == "agrees"
    assert store.verdict(QUICK) is not before
    store.set(KNOB, OTHER)
    assert store.settings == {KNOB: OTHER}
    store.begin_variant()
    finished(store)
    assert store.variant.verdict["call"] == "disagrees"
    assert store.verdict(QUICK)["call"] == "agrees", "the verdict of the card stays"
    store.set(KNOB, claims()[QUICK].value(KNOB))
    assert store.settings == {}


def test_what_was_run_before_is_there_on_the_next_visit():
    first = ClaimsStore(claim=QUICK)
    first.begin([QUICK])
    finished(first)
    assert ClaimsStore(claim=QUICK).verdict(QUICK)["values"] == first.here[QUICK]["values"]


def test_on_a_shared_server_a_visit_has_one_process_and_keeps_nothing(tmp_path):
    store = ClaimsStore(claim=QUICK)
    store.quota = Quota(Turns(1, 3.0))
    assert store.workers == 1
    store.begin([QUICK])
    finished(store)
    assert not (tmp_path / "home").exists()


def test_on_a_shared_server_one_card_runs_at_a_time(tmp_path):
    store = Store(tmp_path / "runs", Quota(Turns(1, 3.0)))
    page = ClaimsPage(store)
    assert (page.begin.disabled, page.group.disabled, page.all.disabled) == (False, True, True)
    store.close()


def test_a_wrong_knob_is_said_and_nothing_is_turned():
    store = ClaimsStore(claim="K040")
    store.set("steps", -5)
    assert "-5" in store.trouble
    assert store.settings == {}
    store.begin_variant()
    assert store.trouble.startswith("No setting is changed yet")


def test_an_estimate_comes_from_earlier_verdicts(monkeypatch):
    store, verdict = ClaimsStore(claim="K040"), {"seconds": 80.0}
    monkeypatch.setattr(store, "verdict", lambda name: verdict if name == "K040" else None)
    monkeypatch.setattr(ClaimsStore, "workers", 2)
    assert store.estimate(["K040"]) == 40
    assert store.estimate(["K040", QUICK]) == 80, "as long as the mean of the others"
    assert store.estimate([QUICK]) is None


def test_every_knob_of_every_card_has_a_control_that_holds_its_value():
    store = ClaimsStore()
    for name in claims():
        store.choose(name)
        for each, control in store.knobs().items():
            assert control.default == store.chosen.value(each)
            assert not isinstance(control.default, int) or control.low <= control.default <= control.high


def test_a_run_behind_a_verdict_opens_as_a_saved_run(tmp_path, monkeypatch):
    store = Store(tmp_path / "runs")
    card = replace(claim_named("K061"), seeds=1).turned({"steps": "2"})
    monkeypatch.setitem(claims(), "K061", card)
    store.claims.choose("K061")
    store.claims.begin(["K061"])
    finished(store.claims)
    name = store.claims.here["K061"]["runs"]["two streams"][0]
    assert store.claims.runs_there(store.claims.here["K061"])[name]
    store.claims.open(name, inside=False)
    assert store.claims.trouble == ""
    assert store.page == 1
    assert store.train.session.learner.step == 2
    store.claims.open(name, inside=False)
    assert [run.name for run in store.train.runs.all()] == [name], "copied once"
    store.close()


def test_the_page_says_all_of_a_card(tmp_path):
    store = Store(tmp_path / "runs")
    page = ClaimsPage(store)
    for name, claim in claims().items():
        store.claims.choose(name)
        page.poll()
        for text in (claim.title, claim.statement, claim.prediction, claim.otherwise):
            assert drawn.escape(text) in page.card.object
        assert drawn.escape(claim.scale) in page.background.object
        if name in shipped():
            assert f"<title>{name}" in page.found.object
    assert becomes(lambda: not page.begin.disabled)
    store.close()


def test_cards_are_listed_by_words_and_by_verdict():
    store = ClaimsStore(claim=QUICK)
    facts = store.facts()
    assert store.listed(facts) == facts
    store.search = "k044"
    assert [each["name"] for each in store.listed(facts)] == ["K044"]
    store.search = "dynamic mask"
    assert {"K044"} <= {each["name"] for each in store.listed(facts)} < {each["name"] for each in facts}
    store.search = ""
    store.toggle("disagrees")
    some = store.listed(facts)
    assert {each["verdict"] for each in some} == {"disagrees"}
    store.toggle("undecided")
    assert {each["verdict"] for each in store.listed(facts)} == {"disagrees", "undecided"}
    store.toggle("undecided")
    store.toggle("disagrees")
    assert store.listed(facts) == facts
    store.search = "nothing of the kind"
    assert "No card matches" in drawn.listed(store.listed(facts), QUICK)


def test_what_is_drawn_are_the_figures_of_the_verdict_and_its_sentences():
    claim, verdict = claim_named("K044"), shipped()["K044"]
    circles = ElementTree.fromstring(drawn.seeds(claim, verdict)).findall(".//{*}circle")
    values = [value for arm in verdict["values"].values() for value in arm]
    places = [float(circle.get("cx", "")) for circle, _ in zip(circles, values, strict=False)]
    (low, left), (high, right) = min(zip(values, places, strict=True)), max(zip(values, places, strict=True))
    expected = [left + (value - low) / (high - low) * (right - left) for value in values]
    assert places == pytest.approx(expected, abs=0.1)
    found = drawn.found(claim, verdict)
    assert all(drawn.escape(sentence) in found for sentence in sentences(verdict, claim.unit))
