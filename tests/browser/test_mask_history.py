"""What is taken home from a stage, and the history of a mask."""

import base64
from pathlib import Path
from xml.etree import ElementTree

from PIL import Image
from playwright.sync_api import Page, expect

from playground.trace.mask_history import VISITS
from playground.trace.rebuild import rebuild
from tests.browsing import painted
from widgets.animation import page as saved_page

CELLS_OF_THE_FILM = """([words, visits]) => [...document.querySelectorAll('.stage-film canvas')].map((canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height), pen = copy.getContext('2d');
  pen.drawImage(canvas, 0, 0);
  const top = Math.round(canvas.height - 15 * visits - 6);
  const [x, y] = [(at) => 27 + 15 * (at % words), (at) => top + 3 + 15 * Math.floor(at / words)];
  return Array.from({ length: words * visits }, (_, at) => [...pen.getImageData(x(at), y(at), 9, 9).data].join());
})"""
"""The middle of every cell of every strip, row by row: words across, visits down, at one dot for each pixel."""


def opened(page: Page, folder: Path, name: str) -> dict:
    record = rebuild(name).record()
    (folder / "stage.html").write_text(saved_page(record), encoding="utf-8")
    page.goto((folder / "stage.html").as_uri())
    page.locator("section.stage").focus()
    return record


def test_the_film_of_a_mask_is_the_engines(page: Page, tmp_path: Path) -> None:
    record = opened(page, tmp_path, "MLM")
    page.keyboard.press("v")
    expect(page.locator(".stage-film figcaption")).to_have_count(len(record["film"]["strips"]))
    captions = page.locator(".stage-film figcaption").all_inner_texts()
    n = len(record["film"]["words"])
    for caption, strip in zip(captions, record["film"]["strips"], strict=True):
        states = base64.b64decode(strip["states"])
        visits = {tuple(map(bool, states[v * n : (v + 1) * n])) for v in range(VISITS)}
        ever = sum(any(states[v * n + j] for v in range(VISITS)) for j in range(n))
        assert f"{len(visits)} choice" in caption and f"{ever} of {n} words" in caption
        most = {"Static": range(1, 2), "Four copies": range(1, 5), "Dynamic": range(5, VISITS + 1)}
        assert len(visits) in most[strip["title"]]
    drawn = painted(page).evaluate(CELLS_OF_THE_FILM, [n, VISITS])
    for pictures, strip in zip(drawn, record["film"]["strips"], strict=True):
        states = list(base64.b64decode(strip["states"]))
        looks = {state: set() for state in states}
        for picture, state in zip(pictures, states, strict=True):
            looks[state].add(picture)
        assert all(len(look) == 1 for look in looks.values()), "what became of a word is drawn alike at every visit"
        assert len({next(iter(look)) for look in looks.values()}) == len(looks) >= 2, "and unlike anything else"
    page.keyboard.press("v")
    expect(page.locator(".stage-film")).to_be_hidden()


def test_strips_and_a_moving_picture_are_whole(page: Page, tmp_path: Path) -> None:
    record = opened(page, tmp_path, "MLM")

    def save(name: str) -> Path:
        if page.locator(".stage-menu > div").is_hidden():
            page.get_by_role("button", name="Share").click()
        with page.expect_download() as saved:
            page.get_by_role("button", name=name).click()
        return Path(saved.value.path())

    drawing = ElementTree.parse(save("All steps (SVG)")).getroot()
    texts = [element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert [t for t in texts if t and t[:2] in {f"{k}." for k in range(1, 9)}] == [
        f"{k}. {frame['title']}" for k, frame in enumerate(record["frames"], 1)
    ]
    with Image.open(save("All steps (PNG)")) as strip:
        assert strip.width > strip.height / 2 and len(strip.resize((40, 40)).convert("RGB").getcolors(1600)) > 20
    page.get_by_label("First frame of the animation").select_option("1")
    page.get_by_label("Last frame of the animation").select_option("2")
    with Image.open(save("Animation (APNG)")) as film:
        assert film.is_animated and 3 <= film.n_frames <= 7
        film.seek(film.n_frames - 1)
        assert len(film.resize((40, 40)).convert("RGB").getcolors(1600)) > 20
