"""Journeys: a card agrees, a variant disagrees, the evidence is opened; a fault is named, also without a server."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from playground.hunt.fault import faults
from playground.hunt.grading import cases, read_answers
from playground.hunt.questions import QUESTIONS
from tests.browser.pages import visit
from tests.browsing import PATIENCE, shot, still
from widgets.state import claims, hunt
from widgets.static import hunt_page

FAULT = "a causal mask in a bidirectional model"


@pytest.mark.guarded
def test_a_claim_agrees_and_its_variant_does_not(page: Page, address: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    monkeypatch.setattr(claims, "PROCESSES", 1)
    visit(page, f"{address}/?page=claims")
    page.locator("button[data-name='K061']").click()
    expect(page.get_by_role("heading", name="Which position is asked for?")).to_be_visible()
    page.get_by_role("button", name="Run (").click()
    evidence = page.get_by_role("button", name="seed 0").first
    expect(evidence).to_be_visible(timeout=3 * PATIENCE)  # the models that were trained here, whatever came with it
    expect(page.get_by_role("heading", name="Which position is asked for?")).to_contain_text("agrees")
    setting = page.get_by_label("settings of words only")
    setting.fill("streams=two streams")
    setting.press("Enter")
    still(page)
    page.get_by_role("button", name="Run your variant").click()
    variant = page.get_by_text("With words only.settings = streams=two streams")
    expect(variant).to_be_visible()
    expect(page.locator(".chip.disagrees").last).to_be_visible(timeout=3 * PATIENCE)
    shot(page, "claims-light-1280")
    evidence.click()
    expect(page.get_by_role("tab", name="Train", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("60 of 60").first).to_be_visible()


@pytest.mark.guarded
def test_a_fault_is_named_from_its_symptoms(page: Page, address: str, monkeypatch) -> None:
    number = next(n for n, fault in cases().items() if fault.name == FAULT)
    short = replace(cases()[number], steps=4)
    monkeypatch.setattr(hunt, "case_of", lambda case: short)
    visit(page, f"{address}/?page=claims")
    page.get_by_role("tab", name="Bug hunt").click()
    page.get_by_role("button", name=f"Case {number}", exact=True).click()
    expect(page.get_by_text(short.symptom)).to_be_visible()
    page.get_by_role("button", name="Train both").click()
    expect(page.get_by_text("Suspect", exact=True)).to_be_visible(timeout=3 * PATIENCE)
    page.get_by_role("combobox", name="the fault").click()
    page.get_by_role("listbox").get_by_text(FAULT, exact=True).click()
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.get_by_text("In the sound run it holds; in the suspect it does not hold.")).to_be_visible()
    expect(page.get_by_role("link", name=short.thread)).to_be_visible()
    shot(page, "hunt-light-1280")


def test_the_page_without_a_server_checks_answers(page: Page, tmp_path, monkeypatch) -> None:
    number = next(n for n, fault in cases().items() if fault.name == FAULT)
    monkeypatch.setattr(hunt_page, "cases", lambda: {number: replace(cases()[number], steps=4)})
    file = tmp_path / "hunt.html"
    file.write_text(hunt_page.page(), encoding="utf-8")
    page.goto(file.as_uri())
    case = page.locator(f"[data-name='case {number}']")
    for name, said in ((next(each for each in faults() if each != FAULT), "That is not it."), (FAULT, "Right.")):
        case.get_by_role("combobox").select_option(name)
        expect(case.locator("output")).to_have_text(said)
    page.get_by_text("Eight questions before the hunt").click()
    question = page.locator("[data-name='before question 1']")
    question.get_by_label(QUESTIONS[0].right).check()
    expect(question.locator("output")).to_have_text("Right.")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Save the answers").click()
    grades = read_answers(Path(taken.value.path()).rename(tmp_path / "me.json"))
    assert grades.right == {f"case {number}": True, "before question 1": True}
