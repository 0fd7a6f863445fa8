"""How long the app takes to open, with its scripts as they are and compiled in the browser as Panel does, in turns.

The clock runs from the request to the moment at which every part is drawn, in a window of 1280x800 of Chromium (or
what CHROMIUM names), each time in a browser context of its own, which has stored nothing. Medians over the rounds.

    python benchmarks/opening.py --rounds 8
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

from panel.custom import AnyWidgetComponent
from playwright.sync_api import Browser, sync_playwright

from tests.chromium import chromium
from widgets.app import server
from widgets.panel_compat import Component

PAGES = {
    "landing": "",
    "stage": "?view=stage",
    "Train": "?page=train",
    "Transfer": "?page=transfer",
    "Corpus": "?page=corpus",
}


@contextmanager
def compiled() -> Iterator[None]:
    """Every script of ours goes through the compiler of Panel's page, as the scripts of any component do."""
    with mock.patch.object(Component, "_get_properties", AnyWidgetComponent._get_properties):
        yield


def seconds(browser: Browser, address: str) -> float:
    """From the request to the page that is drawn whole."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    begun = time.perf_counter()
    with page.expect_console_message(lambda m: "document idle" in m.text):
        page.goto(address)
    took = time.perf_counter() - begun
    page.goto("about:blank")
    context.close()
    return took


def measure(browser: Browser, address: str, rounds: int) -> dict[str, tuple[float, float]]:
    """For each page the seconds with scripts as they are, and compiled."""
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in PAGES}
    for turn in range(-1, rounds):  # the first turn warms both up
        for name, query in PAGES.items():
            plain = seconds(browser, f"{address}/{query}")
            with compiled():
                other = seconds(browser, f"{address}/{query}")
            if turn >= 0:
                found[name][0].append(plain)
                found[name][1].append(other)
    return {name: (median(plain), median(other)) for name, (plain, other) in found.items()}


def main(arguments: list[str] | None = None) -> None:
    """Serve the app in this process, open its pages and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    given: Any = parser.parse_args(arguments)
    port = server.free_port()
    thread = server.start(port, runs=Path(tempfile.mkdtemp()))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        found = measure(browser, f"http://localhost:{port}", given.rounds)
        browser.close()
    thread.stop()
    print("| page | as they are, s | compiled in the browser, s | ratio |\n|---|---|---|---|")
    for name, (plain, other) in found.items():
        print(f"| {name} | {plain:.2f} | {other:.2f} | {other / plain:.2f} |")
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)


if __name__ == "__main__":
    main()
