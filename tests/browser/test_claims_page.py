"""Journey: a card is run until it agrees, a knob is turned until it disagrees, and the evidence is opened."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import visit
from tests.browsing import PATIENCE, shot, still
from widgets.state import claims


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
    expect(page.get_by_role("tab", name="Train")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("60 of 60").first).to_be_visible()
