"""Journey: put two strategies together, paint a plan, compare, read the verdict, take the result away."""

import csv
import io
import json
import zipfile

import nbformat
import pytest
import torch
from playwright.sync_api import Page, expect

from playground.training import Session
from tests.browsing import PATIENCE, painted, shot, still, visit, wait_until
from tests.runs import becomes, run_of, tiny
from widgets.state.train.store import TrainStore
from widgets.state.transfer.store import TransferStore


@pytest.fixture
def trained(monkeypatch):
    """A tiny model that every visit finds already trained."""
    torch.set_num_threads(1)
    session = Session(run_of(entry=tiny(model={"layers": 2}, steps=30), steps=30))
    session.start()
    assert becomes(lambda: session.state == "done"), session.state
    monkeypatch.setattr(TrainStore.param.session, "default", session)
    monkeypatch.setattr(TransferStore.param.seeds, "default", 2)
    monkeypatch.setattr(TransferStore.param.steps, "default", 40)


@pytest.fixture
def context_size():
    return {"width": 1280, "height": 1400}


def drag(page: Page, box, start, end):
    page.mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=5)
    page.mouse.up()


def settled(page: Page):
    """Where the widest canvas stands, once the page above it moves no more."""
    before = None
    while True:
        boxes = [c.bounding_box() for c in page.locator("canvas").all() if c.is_visible()]
        widest = max((b for b in boxes if b), key=lambda b: b["width"])
        if widest == before and widest["height"] > 150:
            return widest
        before = widest
        painted(page)


def downloaded(page: Page, label: str) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label, exact=True).or_(page.get_by_role("link", name=label, exact=True)).click()
    return waiting.value.path().read_bytes()


def line(page: Page) -> str:
    return page.get_by_text("Spec:").inner_text().removeprefix("Spec: ")


def changes(page: Page, before: str, act) -> str:
    act()
    wait_until(page, lambda: line(page) != before)
    return line(page)


def show_choices(socket) -> None:
    """Print what page and server say to each other of the chosen strategies, which pytest shows if the test fails."""
    for way, event in ((">", "framesent"), ("<", "framereceived")):
        socket.on(event, lambda text, way=way: "feature-based" in str(text) and print(way, str(text)[:400]))


def test_a_strategy_of_ones_own_is_made_compared_and_taken_away(page: Page, address: str, trained) -> None:
    page.on("websocket", show_choices)
    visit(page, f"{address}/?page=transfer")
    page.get_by_role("button", name="Make a strategy of your own").click()
    expect(page.get_by_text("Spec: full", exact=True)).to_be_visible()

    def choose():
        page.get_by_label("parts").last.click()
        page.get_by_text("L2-SP", exact=True).last.click()
        wait_until(page, lambda: page.keyboard.press("Escape") or not page.get_by_role("listbox").count())

    composed = changes(page, "full", choose)
    assert composed == "full + L2-SP"
    strength = page.get_by_role("slider", name="L2-SP: strength")
    turned = changes(page, composed, lambda: strength.press("ArrowRight"))
    assert turned.startswith("full + L2-SP(strength=")
    assert changes(page, turned, lambda: page.get_by_role("button", name="Undo").click()) == composed
    widest = settled(page)
    painted = changes(page, composed, lambda: drag(page, widest, (0.3, 0.55), (0.6, 0.65)))
    assert "[" in painted and painted.endswith("x0]")
    assert changes(page, painted, lambda: page.get_by_role("button", name="Undo").click()) == composed
    assert changes(page, composed, lambda: page.get_by_role("button", name="Redo").click()) == painted
    keyed = changes(page, painted, lambda: page.get_by_role("button", name="Paint", exact=True).press("Enter"))
    assert "embeddings 1-40 x0" in keyed
    page.get_by_label("name", exact=True).fill("mine")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Spec: mine = full + L2-SP")).to_be_visible()
    shot(page, "transfer-editor-1280")
    page.get_by_role("button", name="Add to the comparison").click()
    expect(page.get_by_role("checkbox", name="mine")).to_be_checked()
    for name in ("random start", "adapters"):
        box = page.get_by_role("checkbox", name=name, exact=True)
        box.scroll_into_view_if_needed()
        top = box.evaluate("(box) => box.closest('.list').getBoundingClientRect().top")
        box.click()
        expect(box).not_to_be_checked()
        assert box.evaluate("(box) => box.closest('.list').getBoundingClientRect().top") == top  # nothing jumps
    page.get_by_role("button", name="Make a strategy of your own").click()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("standard error")).to_be_visible(timeout=3 * PATIENCE)
    expect(page.get_by_role("cell", name="mine", exact=True)).to_be_visible()
    expect(page.get_by_text("differs in").first).to_be_visible()
    unmoved = page.get_by_text("embeddings frozen, moved 0.00").or_(page.get_by_text("0 (bit-identical)"))
    expect(unmoved.first).to_be_visible()
    shot(page, "transfer-own-1280")
    rows = list(csv.DictReader(io.StringIO(downloaded(page, "CSV").decode())))
    assert {(r["strategy"], r["seed"]) for r in rows} >= {("mine", "0"), ("mine", "1"), ("full", "0")}
    assert downloaded(page, "SVG").startswith(b"<svg")
    notebook = nbformat.reads(downloaded(page, "Notebook").decode(), as_version=4)
    nbformat.validate(notebook)
    assert "mine = full + L2-SP" in notebook.cells[1].source
    archive = zipfile.ZipFile(io.BytesIO(downloaded(page, "All, with the model")))
    assert "base/checkpoint.safetensors" in archive.namelist()
    assert json.loads(archive.read("comparison.json"))["provenance"]["command"].startswith("playground compare base")
    page.set_viewport_size({"width": 760, "height": 1400})
    shot(still(page), "transfer-own-760")
