"""How long the app takes to open: for one browser, for several at once, and another tab of an open page.

Every browser is a context of its own of Chromium (or of what CHROMIUM names) in a window of 1280x800, which has stored
nothing; browsers and server share the machine. In a class every browser has a machine of its own: so one browser opens
a page also while others ask for it that draw nothing (clients of `class.py`). A page is usable when every part of it is
drawn. The server is a process of its own, and its first page, which fills what all share, is not counted.

    python benchmarks/opening.py --rounds 3 --at-once 6
"""

import argparse
import asyncio
import os
import re
import time
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from typing import Any

from playwright.async_api import Browser, Page, async_playwright, expect

from tests.chromium import chromium

load: Any = import_module("benchmarks.class")

PAGES = {
    "landing": "",
    "Stage": "?view=stage",
    "Train": "?page=train",
    "Transfer": "?page=transfer",
    "Corpus": "?page=corpus",
    "Zoo": "?page=zoo",
    "Inside": "?page=inside",
}
PATIENCE = 120_000.0  # milliseconds

FIRST_BYTE = "performance.getEntriesByType('navigation')[0].responseStart / 1000"

NODES = """() => {
  const count = (root) => {
    let n = 0;
    for (const e of root.querySelectorAll('*')) n += 1 + (e.shadowRoot ? count(e.shadowRoot) : 0);
    return n;
  };
  return count(document);
}"""
"""The elements of a page, those in shadow roots too."""


@dataclass(frozen=True)
class Opened:
    """Seconds until the first byte and until the page is usable, kilobytes of the answer and over the socket, nodes."""

    first_byte: float
    usable: float
    answer: float
    socket: float
    nodes: int


class Visitor:
    """One browser that opens the app."""

    def __init__(self, page: Page) -> None:
        self.page, self.received = page, 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._count))

    def _count(self, content: str | bytes) -> None:
        self.received += len(content.encode() if isinstance(content, str) else content)

    @classmethod
    async def new(cls, browser: Browser) -> "Visitor":
        """A browser that has stored nothing."""
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        return cls(await context.new_page())

    async def open(self, address: str) -> Opened:
        """Open a page and wait until it is drawn."""
        begun = time.perf_counter()
        idle = self.page.wait_for_event("console", lambda m: "document idle" in m.text, timeout=PATIENCE)
        waiting = asyncio.ensure_future(idle)
        answer = await self.page.goto(address, timeout=PATIENCE)
        await waiting
        await self._drawn()
        usable = time.perf_counter() - begun
        size = len(await answer.body()) if answer is not None else 0
        first, nodes = await self.page.evaluate(FIRST_BYTE), await self.page.evaluate(NODES)
        return Opened(first, usable, size / 1e3, self.received / 1e3, nodes)

    async def turn(self, name: str) -> float:
        """Seconds from the click on a tab until its page is drawn."""
        begun = time.perf_counter()
        await self.page.get_by_role("tab", name=name, exact=True).click()
        await self._drawn()
        return time.perf_counter() - begun

    async def _drawn(self) -> None:
        """Nothing is announced any more."""
        await expect(self.page.get_by_text(re.compile(r"^Loading \S+ …$"))).to_have_count(0, timeout=PATIENCE)
        await self.page.evaluate("() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")

    async def close(self) -> None:
        """Leave the page as somebody does who closes the tab."""
        await self.page.goto("about:blank")
        await self.page.context.close()


async def alone(browser: Browser, address: str) -> Opened:
    """One browser opens a page."""
    visitor = await Visitor.new(browser)
    opened = await visitor.open(address)
    await visitor.close()
    return opened


async def at_once(browser: Browser, address: str, visitors: int) -> list[Opened]:
    """So many browsers open a page at the same moment."""
    there = [await Visitor.new(browser) for _ in range(visitors)]
    opened = await asyncio.gather(*(visitor.open(address) for visitor in there))
    await asyncio.gather(*(visitor.close() for visitor in there))
    return list(opened)


async def among(browser: Browser, address: str, visitors: int) -> list[Opened]:
    """One browser opens a page at the same moment as clients that draw nothing, `visitors` in all."""
    visitor = await Visitor.new(browser)
    opened, *others = await asyncio.gather(visitor.open(address), *(client(address) for _ in range(visitors - 1)))
    for other in others:
        other.socket.close(load.AWAY)
    await visitor.close()
    return [opened]


async def client(address: str) -> Any:
    """A visit that asks for a page and says that it is there."""
    visit = await load.Visit.open(address)
    visit.arrive()
    return visit


async def tabs(browser: Browser, address: str) -> dict[str, float]:
    """Seconds to each other tab, clicked for the first time from the landing page."""
    visitor = await Visitor.new(browser)
    await visitor.open(address)
    names = ("Train", "Transfer", "Post-training", "Corpus", "Zoo", "Inside", "Compress", "Claims")
    found = {name: await visitor.turn(name) for name in names}
    await visitor.close()
    return found


async def measure(address: str, rounds: int, visitors: int) -> None:
    """Print the tables."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        await alone(browser, address)
        print(
            "| page | first byte, s | usable, s | answer, kB | over the socket, kB | nodes |\n|---|---|---|---|---|---|"
        )
        for name, query in PAGES.items():
            one = [await alone(browser, f"{address}/{query}") for _ in range(rounds)]
            print(f"| {name} | {_columns(one)} |", flush=True)
        print(f"\n| {visitors} at once | first byte, s: median, last | usable, s: median, last |\n|---|---|---|")
        for what, opening in (("browsers", at_once), ("one of them a browser", among)):
            for name in ("landing", "Train"):
                all_ = [await opening(browser, f"{address}/{PAGES[name]}", visitors) for _ in range(rounds)]
                spread = (
                    f"{_last(all_, of, median):.2f}, {_last(all_, of, max):.2f}" for of in ("first_byte", "usable")
                )
                print(f"| {what}: {name} | {' | '.join(spread)} |", flush=True)
        turned = [await tabs(browser, address) for _ in range(rounds)]
        print(f"\n| tab | {' | '.join(turned[0])} |\n|---|{'---|' * len(turned[0])}")
        print(f"| s | {' | '.join(f'{median(each[name] for each in turned):.2f}' for name in turned[0])} |")
        await browser.close()


def _columns(one: list[Opened]) -> str:
    middle: Any = lambda what: median(getattr(each, what) for each in one)  # noqa: E731
    figures = (f"{middle('first_byte'):.2f}", f"{middle('usable'):.2f}", f"{middle('answer'):.0f}")
    return " | ".join((*figures, f"{middle('socket'):,.0f}", f"{middle('nodes'):,.0f}"))


def _last(rounds: list[list[Opened]], what: str, of: Any) -> float:
    """The median over the rounds of the median or the last visitor."""
    return median(of([getattr(each, what) for each in opened]) for opened in rounds)


def main() -> None:
    """Serve the app in a process of its own, open its pages and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=6)
    given = parser.parse_args()
    with load.served() as (address, _):
        asyncio.run(measure(address, given.rounds, given.at_once))
    print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
