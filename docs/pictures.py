"""Write the pictures of the README with `python docs/pictures.py [NAME ...]`: moving ones and screenshots of the app.

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

from PIL import Image, ImageSequence
from playwright.sync_api import Locator, Page, sync_playwright

from playground.objectives import find_objective
from playground.trace.rebuild import rebuild
from widgets.animation import page as animated_page
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
EARLY = 30
"""Frames that are all kept, while the model changes fast; of the later ones every third."""

SIDEBAR = 275
LOSS = (145, 560)
GUESSES = (-8, 460)
"""Pixels of the Train page, 1280 wide: its controls, the loss curve, the predictions from their heading."""


def stage(tab: Page, address: str) -> bytes:
    """The stage of PLM, as its own export animates it."""
    record = rebuild("PLM", wanted=find_objective("PLM").printed.plan).record()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "stage.html"
        path.write_text(animated_page(record), encoding="utf-8")
        tab.goto(path.as_uri())
        tab.get_by_role("button", name="Share").click()
        with tab.expect_download() as download:
            tab.get_by_role("button", name="Animation (APNG)").click()
        with Image.open(download.value.path()) as source:
            frames = [(frame.convert("RGB"), frame.info["duration"]) for frame in ImageSequence.Iterator(source)]
    return moving([frame for frame, _ in frames], [round(duration) for _, duration in frames])


def training(tab: Page, address: str) -> bytes:
    """A training run: the loss curve above, predictions and an attention head below."""
    tab.set_viewport_size({"width": 1280, "height": 2400})
    opened(tab, f"{address}/?page=1", TRAIN)
    tab.get_by_label("probe sentence").fill(SENTENCE)
    tab.keyboard.press("Enter")
    tab.get_by_role("button", name="Train", exact=True).click()
    fold_runs(tab)
    heading = tab.get_by_text("Predictions for the probe sentence")
    heading.wait_for(timeout=PATIENCE)
    frames, done = [], tab.get_by_text("1000 of 1000", exact=True)
    tab.get_by_text("likeliest answers").wait_for(timeout=PATIENCE)
    while not done.count():
        frames.append(loss_and_guesses(tab, heading))
        tab.wait_for_timeout(FRAME)
    tab.wait_for_timeout(2000)
    frames = [*frames[:EARLY], *frames[EARLY::3], loss_and_guesses(tab, heading)]
    return moving(frames, [FRAME] * (len(frames) - 1) + [LAST])


def loss_and_guesses(tab: Page, heading: Locator) -> Image.Image:
    """Two stretches of the Train page, one above the other."""
    box = heading.bounding_box()
    assert box is not None, "the predictions are on the page"
    whole = Image.open(BytesIO(tab.screenshot())).convert("RGB")
    stretches = (LOSS, tuple(round(box["y"]) + edge for edge in GUESSES))
    parts = [whole.crop((SIDEBAR, top, whole.width, bottom)) for top, bottom in stretches]
    joined = Image.new("RGB", (parts[0].width, sum(part.height for part in parts)), "white")
    joined.paste(parts[0], (0, 0))
    joined.paste(parts[1], (0, parts[0].height))
    return joined


def moving(frames: list[Image.Image], milliseconds: list[int]) -> bytes:
    """Frames as an animated WebP."""
    small = [frame.resize((WIDTH, frame.height * WIDTH // frame.width), Image.Resampling.LANCZOS) for frame in frames]
    file = BytesIO()
    small[0].save(
        file, "WEBP", save_all=True, append_images=small[1:], duration=milliseconds, loop=0, quality=70, method=6
    )
    return file.getvalue()


def page_stage(tab: Page, address: str) -> bytes:
    """The Stage page with PLM, near the end of its animation."""
    opened(tab, f"{address}/?objective=PLM&view=stage", "section.stage")
    return still(tab)


def page_train(tab: Page, address: str) -> bytes:
    """The Train page during a run: the loss curve and the probes below it."""
    opened(tab, f"{address}/?page=1", TRAIN)
    tab.get_by_role("button", name="Train", exact=True).click()
    fold_runs(tab)
    tab.get_by_text(re.compile(r"^[7-9]\d\d of 1000$")).wait_for(timeout=PATIENCE)
    return picture(tab)


def page_transfer(tab: Page, address: str) -> bytes:
    """The Transfer page after a comparison."""
    trained(tab, address)
    tab.get_by_role("tab", name="Transfer").click()
    tab.get_by_role("button", name="Compare", exact=True).click()
    tab.get_by_text("standard error").wait_for(timeout=PATIENCE)
    return still(tab)


def page_inside(tab: Page, address: str) -> bytes:
    """The Inside page: the regret of every word."""
    trained(tab, address)
    tab.get_by_role("tab", name="Inside").click()
    tab.get_by_role("button", name="regret map").click()
    tab.get_by_role("button", name="Look", exact=True).click()
    tab.get_by_text("Word by word").wait_for(timeout=PATIENCE)
    return still(tab)


def trained(tab: Page, address: str) -> None:
    """Train the default model to the end of its run."""
    opened(tab, f"{address}/?page=1&corpus=reviews", TRAIN)
    tab.get_by_role("button", name="Train", exact=True).click()
    tab.get_by_text("1000 of 1000", exact=True).wait_for(timeout=PATIENCE)


def fold_runs(tab: Page) -> None:
    """Close the list of runs, which is open where there are some."""
    runs = tab.get_by_role("button", name="Runs: list, tree and comparison")
    if runs.get_attribute("aria-expanded") == "true":
        runs.click()


def opened(tab: Page, address: str, sight: str) -> None:
    """Open a page and wait until a part of it is there."""
    tab.goto(address)
    tab.locator(sight).first.wait_for(timeout=PATIENCE)


def still(tab: Page) -> bytes:
    """What the window shows, once nothing moves."""
    tab.wait_for_timeout(3000)
    return picture(tab)


def picture(tab: Page) -> bytes:
    """What the window shows, as a WebP."""
    file = BytesIO()
    Image.open(BytesIO(tab.screenshot())).convert("RGB").save(file, "WEBP", quality=82, method=6)
    return file.getvalue()


PICTURES: dict[str, Callable[[Page, str], bytes]] = {
    "stage": stage,
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
            file.write_bytes(PICTURES[name](context.new_page(), address))
            print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")
            context.close()
        browser.close()


if __name__ == "__main__":
    write(sys.argv[1:] or list(PICTURES))
