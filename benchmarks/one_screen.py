"""How far down the window what moves reaches, on each page and in each size of window.

python benchmarks/one_screen.py
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.test_one_screen import ENDS, STAGES, TEXTS, address_of
from tests.chromium import chromium
from widgets.app import server

SIZES = ((1280, 800), (1280, 720), (1920, 1080), (390, 844))
SETTLED = 1500  # ms


def lowest(page: Page) -> int:
    """The lower edge of what moves, in pixels of the window."""
    page.wait_for_timeout(SETTLED)
    return round(page.evaluate(ENDS)["bottom"])


def main() -> None:
    """Serve the app in this process, open its pages in every size and print a table."""
    port = server.free_port()
    thread = server.start(port, runs=Path(tempfile.mkdtemp()))
    print("| stage | text |", " | ".join(f"{w}x{h}" for w, h in SIZES), "|\n|---|---|" + "---|" * len(SIZES))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        for name in STAGES:
            for text, words in TEXTS.items():
                ends = []
                for width, height in SIZES:
                    page = browser.new_page(viewport={"width": width, "height": height})
                    page.goto(address_of(f"http://localhost:{port}", name, words))
                    page.locator("section.stage").first.wait_for()
                    ends.append(f"{lowest(page)}")
                    page.close()
                print(f"| {name} | {text} |", " | ".join(ends), "|", flush=True)
        browser.close()
    thread.stop()


if __name__ == "__main__":
    main()
