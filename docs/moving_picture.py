"""Write docs/stage.webp anew with `python docs/moving_picture.py`: the stage of PLM as its own export animates it.

Needs the Chromium of the system and playwright, which the tests need too.
"""

import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageSequence
from playwright.sync_api import sync_playwright

from playground.objectives import find_objective
from playground.trace.rebuild import rebuild
from widgets.animation import page

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.chromium import chromium

FILE = Path(__file__).with_name("stage.webp")
OBJECTIVE = "PLM"
WIDTH = 900
"""Pixels, about the width of a README."""


def exported() -> bytes:
    """The animation (APNG) that the stage saves when a person asks for it."""
    record = rebuild(OBJECTIVE, wanted=find_objective(OBJECTIVE).printed.plan).record()
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        place = Path(folder) / "stage.html"
        place.write_text(page(record), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        tab = browser.new_page(color_scheme="light")
        tab.goto(place.as_uri())
        tab.get_by_role("button", name="Share").click()
        with tab.expect_download() as saved:
            tab.get_by_role("button", name="Animation (APNG)").click()
        made = saved.value.path().read_bytes()
        browser.close()
    return made


def moving(film: bytes) -> bytes:
    """The same, smaller, as an animated WebP."""
    with Image.open(BytesIO(film)) as source:
        shown = [(frame.convert("RGB"), frame.info["duration"]) for frame in ImageSequence.Iterator(source)]
    pictures = [picture.resize((WIDTH, picture.height * WIDTH // picture.width)) for picture, _ in shown]
    made = BytesIO()
    times = [round(duration) for _, duration in shown]
    pictures[0].save(made, "WEBP", save_all=True, append_images=pictures[1:], duration=times, loop=0, quality=70)
    return made.getvalue()


if __name__ == "__main__":
    FILE.write_bytes(moving(exported()))
    print(f"{FILE.name}: {FILE.stat().st_size / 1e3:.0f} kB")
