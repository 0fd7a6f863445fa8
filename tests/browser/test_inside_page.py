"""Journey: a model is trained small and opened, a head is switched off, the number moves, and the tables are saved."""

import csv
import io
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browsing import shot, still, visit, wait_until
from widgets.state.train.store import TrainStore

TO_THE_END = "(each) => { each.scrollTop = each.scrollHeight; return each.scrollTop; }"


@pytest.mark.guarded
def test_a_head_is_switched_off_and_its_numbers_are_saved(page: Page, address: str, monkeypatch) -> None:
    monkeypatch.setattr(TrainStore.param.steps, "default", 30)
    visit(page, f"{address}/?page=train&corpus=reviews")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_text("30 of 30", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Inside").click()
    listed = page.locator(".instruments")
    last = listed.get_by_role("button").last
    wait_until(page, lambda: listed.evaluate(TO_THE_END) > 0)  # the list is drawn anew once the model is opened
    last.click()
    expect(last).to_have_attribute("aria-current", "true")
    assert listed.evaluate("(each) => each.scrollTop") > 0, "a press does not scroll the list back to its top"
    page.get_by_role("button", name="switch off").click()
    headline = page.locator(".headline")
    chip = page.get_by_role("button", name="layer1.head2", exact=True)
    chip.click()
    expect(headline).to_contain_text("Without layer1.head1, layer1.head2 the loss is")
    both = headline.inner_text()
    chip.click()
    expect(headline).to_contain_text("Without layer1.head1 the loss is")
    assert headline.inner_text().split("loss is")[1] != both.split("loss is")[1]
    assert "inside.instrument=switch+off" in page.url
    with page.expect_download() as arriving:
        page.get_by_text("Tables as CSV").click()
    archive = zipfile.ZipFile(io.BytesIO(Path(arriving.value.path()).read_bytes()))
    assert any(b"probe" in archive.read(name) for name in archive.namelist())
    page.get_by_role("button", name="attention", exact=False).first.click()
    page.get_by_role("button", name="Measure", exact=True).click()
    page.get_by_role("button", name="layer 1, head 2", exact=True).click()
    expect(page.get_by_text("layer 1, head 2: query down, key across")).to_be_visible()
    page.get_by_role("button", name="Show layer 1, head 2 on the stage").click()
    expect(page.get_by_label("Attention head", exact=True)).to_have_value("1")
    expect(page.get_by_label("Layer", exact=True)).to_have_value("0")
    page.get_by_role("tab", name="Inside").click()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.scrollWidth <= 390")
    shot(still(page), "inside-390")


def tables(page: Page) -> dict[str, list[dict[str, str]]]:
    """The tables of the finding that is shown, by file, as they are saved."""
    with page.expect_download() as arriving:
        page.get_by_text("Tables as CSV").click()
    archive = zipfile.ZipFile(io.BytesIO(Path(arriving.value.path()).read_bytes()))
    return {name: list(csv.DictReader(io.StringIO(archive.read(name).decode()))) for name in archive.namelist()}


@pytest.mark.guarded
def test_the_head_that_agreement_needs_is_found_and_switched_off(page: Page, address: str, monkeypatch) -> None:
    monkeypatch.setattr(TrainStore.param.steps, "default", 300)
    monkeypatch.setattr(TrainStore.param.entry, "default", "GPT")
    visit(page, f"{address}/?page=train&corpus=agreement")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_text("300 of 300", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Inside").click()
    headline = page.locator(".headline")
    page.get_by_role("button", name="heads one by one").click()
    page.get_by_role("button", name="Measure", exact=True).click()
    expect(headline).to_contain_text("matters most")
    changes = [row for rows in tables(page).values() for row in rows if row.get("probe") == "agreement"]
    dearest = min(changes, key=lambda row: float(row["change"]))["head"]
    page.get_by_role("button", name="switch off").click()
    page.get_by_role("button", name=dearest, exact=True).click()
    expect(headline).to_contain_text(f"Without layer1.head1, {dearest} the loss is")
    page.get_by_role("button", name="layer1.head1", exact=True).click()
    expect(headline).to_contain_text(f"Without {dearest} the loss is")
    found = [
        row for rows in tables(page).values() for row in rows if "model" in row and row.get("probe") == "agreement"
    ]
    right = {row["model"]: float(row["right"]) for row in found}
    assert right["off"] < right["all on"] - 0.1, found


def test_a_lasso_lists_the_words_in_it_and_escape_clears_it(page: Page, address: str, monkeypatch) -> None:
    monkeypatch.setattr(TrainStore.param.steps, "default", 30)
    visit(page, f"{address}/?page=train&corpus=reviews")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_text("30 of 30", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Inside").click()
    page.get_by_role("button", name="neighbours and map").click()
    page.get_by_role("button", name="Measure", exact=True).click()
    points, caught = page.locator("[data-label]"), page.locator(".caught")
    expect(caught).to_contain_text("Drag around points")
    page.locator("[data-lasso]").scroll_into_view_if_needed()
    box = page.locator("[data-lasso] svg").bounding_box()
    assert box is not None
    corners = [(0.02, 0.03), (0.5, 0.03), (0.5, 0.95), (0.02, 0.95)]
    around = [(box["x"] + a * box["width"], box["y"] + b * box["height"]) for a, b in corners]
    page.mouse.move(*around[0])
    page.mouse.down()
    for x, y in around[1:]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    middle = box["x"] + 0.5 * box["width"]
    left = points.evaluate_all(
        "(all, x) => all.filter((g) => { const b = g.querySelector('circle').getBoundingClientRect();"
        " return (b.left + b.right) / 2 < x; }).map((g) => g.dataset.label)",
        middle,
    )
    assert 0 < len(left) < points.count()
    expect(caught).to_have_text(f"{len(left)} of {points.count()} points: {', '.join(left)}.")
    expect(page.locator(".faded")).to_have_count(points.count() - len(left))
    shot(still(page), "inside-lasso")
    page.keyboard.press("Escape")
    expect(page.locator(".faded, .lasso")).to_have_count(0)
    expect(caught).to_contain_text("Drag around points")
    page.get_by_text("The points as a table").click()
    expect(page.locator("details table")).to_be_visible()


def test_a_ring_is_dragged_over_the_soup_plane_and_lists_what_each_model_can_do(
    page: Page, address: str, monkeypatch
) -> None:
    monkeypatch.setattr(TrainStore.param.steps, "default", 30)
    small = {"labels": 16, "steps": 10, "texts": 16, "points": 9}
    turned = "".join(f"&inside.set.{name}={value}" for name, value in small.items())
    visit(page, f"{address}/?page=train&corpus=reviews&inside.instrument=soup+plane{turned}")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_text("30 of 30", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Inside").click()
    page.get_by_role("button", name="Measure", exact=True).click()
    ring, listed = page.locator(".ring"), page.locator("[data-ring] .caught")
    expect(listed).to_contain_text("Drag the ring", timeout=60_000)
    expect(ring).to_have_count(3)
    named = {row["model"]: row for row in tables(page)["soup plane/Named models.csv"]}
    drag(page, ring.nth(0), page.locator("[data-ring] svg").nth(0).locator("[data-cell='6,6']"))
    expect(listed).to_contain_text("first 1, second 0.")
    forgotten = float(named["first"]["forgetting"])
    expect(listed).to_contain_text(f"Forgetting (nats): {forgotten:.4g}")
    shot(still(page), "inside-soup")
    assert (
        len({tuple(ring.nth(k).evaluate("(r) => [r.getAttribute('cx'), r.getAttribute('cy')]")) for k in range(3)}) == 1
    )
    ring.nth(1).focus()
    page.keyboard.press("ArrowUp")
    expect(listed).to_contain_text("first 1, second 0.25.")
    page.locator("[data-ring] svg").nth(2).locator("[data-cell='0,0']").click()
    expect(listed).to_contain_text("first -0.5, second 1.5.")


def drag(page: Page, what: Locator, to: Locator) -> None:
    """Drag with the mouse from the middle of one element to the middle of another, in a few moves."""
    what.scroll_into_view_if_needed()
    (start, end) = (box for each in (what, to) if (box := each.bounding_box()))
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=5)
    page.mouse.up()
