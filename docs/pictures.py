"""Write the pictures of the README with `python docs/pictures.py [NAME ...]`: a training run and four pages.

Needs the Chromium of the system and playwright, which the tests need too. A name is that of a file, such as `training`.
"""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from widgets.app import server

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.chromium import chromium

DOCS = Path(__file__).parent
PATIENCE = 120_000
"""Milliseconds to wait for a run or a comparison on a busy machine."""

WIDTH = 900
"""Pixels, about the width of a README."""

TRAIN = "button:text-is('Train'):visible"
SENTENCE = "the acting was boring and the film was awful ."
FRAME, LAST = 120, 3000
"""Milliseconds for which a frame of the training is shown, and the last one."""
STILL = 3000
"""Milliseconds until nothing moves any more."""

EARLY = 30
"""Frames that are all kept, while the model changes fast; of the later ones every third."""

MOVES = (275, 105, 1280, 800)
"""What moves on the Train page in a window of 1280x800: left, top, right, bottom."""


def training(tab: Page, address: str) -> list[Image.Image]:
    """A training run: the loss curve, predictions, an attention head and its film."""
    tab.set_viewport_size({"width": 1280, "height": 800})
    opened(tab, f"{address}/?page=train", TRAIN)
    tab.get_by_label("probe sentence").fill(SENTENCE)
    tab.keyboard.press("Enter")
    tab.get_by_role("button", name="Train", exact=True).click()
    frames, done = [], tab.get_by_text("1000 of 1000", exact=True)
    tab.get_by_text("likeliest answers").wait_for(timeout=PATIENCE)
    while not done.count():
        frames += window(tab)
        tab.wait_for_timeout(FRAME)
    tab.wait_for_timeout(STILL)
    parts = [frame.crop(MOVES) for frame in [*frames[:EARLY], *frames[EARLY::3], *window(tab)]]
    return [part.resize((WIDTH, part.height * WIDTH // part.width)) for part in parts]


def page_stage(tab: Page, address: str) -> list[Image.Image]:
    """The Stage page with PLM, at the end of its animation."""
    opened(tab, f"{address}/?objective=PLM&view=stage", "section.stage")
    tab.get_by_text("(7/7)").wait_for(timeout=PATIENCE)
    tab.wait_for_timeout(STILL)
    return window(tab)


def page_train(tab: Page, address: str) -> list[Image.Image]:
    """The Train page during a run."""
    opened(tab, f"{address}/?page=train", TRAIN)
    tab.get_by_role("button", name="Train", exact=True).click()
    tab.get_by_text(re.compile(r"^[7-9]\d\d of 1000$")).wait_for(timeout=PATIENCE)
    return window(tab)


def page_transfer(tab: Page, address: str) -> list[Image.Image]:
    """The Transfer page after a comparison."""
    trained(tab, address)
    tab.get_by_role("tab", name="Transfer").click()
    tab.get_by_role("button", name="Compare", exact=True).click()
    tab.get_by_text("standard error").wait_for(timeout=PATIENCE)
    tab.wait_for_timeout(STILL)
    return window(tab)


def page_inside(tab: Page, address: str) -> list[Image.Image]:
    """The Inside page: the regret of every word."""
    trained(tab, address)
    tab.get_by_role("tab", name="Inside").click()
    tab.get_by_role("button", name="regret map").click()
    tab.get_by_role("button", name="Measure", exact=True).click()
    tab.get_by_text("Word by word").wait_for(timeout=PATIENCE)
    tab.wait_for_timeout(STILL)
    return window(tab)


def trained(tab: Page, address: str) -> None:
    """Train the default model to the end of its run."""
    opened(tab, f"{address}/?page=train&corpus=reviews", TRAIN)
    tab.get_by_role("button", name="Train", exact=True).click()
    tab.get_by_text("1000 of 1000", exact=True).wait_for(timeout=PATIENCE)


def opened(tab: Page, address: str, sight: str) -> None:
    """Open a page and wait until a part of it is there."""
    tab.goto(address)
    tab.locator(sight).first.wait_for(timeout=PATIENCE)


def window(tab: Page) -> list[Image.Image]:
    """What the window shows, as a picture of one frame."""
    return [Image.open(BytesIO(tab.screenshot())).convert("RGB")]


PICTURES: dict[str, Callable[[Page, str], list[Image.Image]]] = {
    "training": training,
    "page_stage": page_stage,
    "page_train": page_train,
    "page_transfer": page_transfer,
    "page_inside": page_inside,
}


@contextmanager
def app() -> Iterator[str]:
    """The address of the app, which keeps its runs in a folder that goes away."""
    with TemporaryDirectory() as runs:
        port = server.free_port()
        thread = server.start(port, runs=Path(runs))
        while not server.answers(port):
            time.sleep(0.05)
        try:
            yield f"http://localhost:{port}"
        finally:
            thread.stop()


def write(names: list[str]) -> None:
    """Write each picture that is named."""
    with app() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for name in names:
            context = browser.new_context(viewport={"width": 1200, "height": 840})
            file = DOCS / f"{name}.webp"
            first, *more = PICTURES[name](context.new_page(), address)
            moves = {"append_images": more, "duration": [FRAME] * len(more) + [LAST], "loop": 0} if more else {}
            first.save(file, "WEBP", save_all=bool(more), quality=75, method=6, **moves)
            print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")
            context.close()
        browser.close()


if __name__ == "__main__":
    write(sys.argv[1:] or list(PICTURES))
