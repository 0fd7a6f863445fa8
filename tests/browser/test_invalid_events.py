"""What a changed page sends and no widget takes: the app stays as it was, and its log has a line, not a traceback."""

import logging

import pytest
from playwright.sync_api import Page, expect

from tests.browsing import visit, wait_until

PATH = "/etc/passwd"

SEND = """([label, value, sent]) => {
  for (const view of Bokeh.documents) for (const model of view._all_models.values()) {
    if (model.data?.label === label && model.data.value === value) { model.data.value = sent; return true; }
  }
  return false;
}"""
"""Gives a field with a label and a value another one, as its own control would if it offered it."""


def send(page: Page, *what: object) -> None:
    wait_until(page, lambda: page.evaluate(SEND, list(what)))


def test_a_corpus_that_is_not_offered_is_a_line_in_the_log(
    page: Page, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    visit(page, f"{address}/?page=1")
    send(page, "text", "world", PATH)
    wait_until(page, lambda: f"{PATH} not in list" in caplog.text)
    said = [each for each in caplog.records if each.levelno > logging.INFO and each.name.startswith("panel")]
    assert [(each.levelno, each.getMessage(), each.exc_info) for each in said] == [
        (logging.WARNING, f"A page sent what no widget takes: {PATH} not in list", None)
    ]
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_text("RoBERTa on world").first).to_be_attached()
    page.get_by_role("button", name="Stop").click()


def test_a_number_beyond_its_limits_goes_again(page: Page, address: str) -> None:
    visit(page, f"{address}/?page=1")
    field = page.get_by_label("steps", exact=True).first
    for sent in (10**9, -5, None):
        send(page, "steps", 1000, sent)
        expect(field).to_have_value("1000")
