"""What the stage costs: milliseconds and bytes from an edit to a record, and milliseconds a frame in a real browser.

python benchmarks/stage.py [--rounds 15] [--words 8,32,64] [--browser]
"""

import argparse
import json
import os
import tempfile
import time
import zlib
from pathlib import Path
from statistics import median

from playground.refusal import Refusal
from widgets.scene import page, typeset
from widgets.scene.hosts import ESM
from widgets.store import StageStore

WORDS = "the old sailor told the children a story about a ship that never came back from the sea".split()
OBJECTIVES = ("LM", "MLM", "PLM", "T5 spans", "BART infilling")


def text(number: int) -> str:
    return " ".join(WORDS[i % len(WORDS)] for i in range(number))


def spent(act, rounds: int) -> float:
    """Median milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


def engine(sizes: list[int], rounds: int) -> None:
    print("| objective | words | roll again, ms | paint a cell, ms | record, ms | record, kB | packed, kB |")
    print("|---|---|---|---|---|---|---|")
    for name in OBJECTIVES:
        for number in sizes:
            try:
                store = StageStore(objective=name, text=text(number))
            except Refusal:
                continue
            rolled = spent(lambda store=store: store.edit({"do": "roll"}), rounds)
            record = json.dumps(typeset(store.record())).encode()
            made = spent(lambda store=store: typeset(store.record()), rounds)
            matrix = store.record()["frames"][-1]["matrices"][0]["name"]
            turns = iter(range(10_000))
            painted = spent(
                lambda store=store, matrix=matrix, turns=turns: store.edit(
                    {"do": "paint", "matrix": matrix, "cells": [[1, 0, next(turns) % 2 == 1]]}
                ),
                rounds,
            )
            sizes_told = f"{len(record) / 1000:.0f} | {len(zlib.compress(record)) / 1000:.1f}"
            print(f"| {name} | {number} | {rolled:.1f} | {painted:.1f} | {made:.1f} | {sizes_told} |")
    print(f"\nThe drawing module: {len(ESM) / 1000:.0f} kB, packed {len(zlib.compress(ESM.encode())) / 1000:.0f} kB.")


FRAME = """(steps) => {
  const stage = document.querySelector('[id^=stage-]').__stage, times = [];
  for (let i = 0; i < steps; i++) {
    const at = (i * 0.37) % 4, start = performance.now();
    stage.set(Math.floor(at), at % 1);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}"""


def browser(sizes: list[int]) -> None:
    from playwright.sync_api import sync_playwright

    print("\n| objective | words | scrub, median ms a frame | 95th percentile | page, kB |")
    print("|---|---|---|---|---|")
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        chromium = play.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name in OBJECTIVES:
            for number in sizes:
                file = Path(folder) / "stage.html"
                file.write_text(page(StageStore(objective=name, text=text(number)).record()), encoding="utf-8")
                tab = chromium.new_page(viewport={"width": 1280, "height": 800})
                tab.goto(file.as_uri())
                times = tab.evaluate(FRAME, 200)
                size = file.stat().st_size / 1000
                print(f"| {name} | {number} | {median(times):.1f} | {times[int(0.95 * len(times))]:.1f} | {size:.0f} |")
                tab.close()
        chromium.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--words", default="8,32,64")
    parser.add_argument("--browser", action="store_true")
    options = parser.parse_args()
    sizes = [int(number) for number in options.words.split(",")]
    engine(sizes, options.rounds)
    if options.browser:
        browser(sizes)


if __name__ == "__main__":
    main()
