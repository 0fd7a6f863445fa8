"""What the stage costs, and what BertViz costs for the same attention: bytes, time to the painted page, hover, scrub.

python benchmarks/stage.py [--rounds 15] [--words 8,32,64] [--browser] [--training] [--peer LIBRARIES] [--tokens 64,128]

`--peer` names a folder into which `npm install d3@5.7.0 jquery@2.1.4 requirejs@2.3.6` has put the three libraries that
BertViz' pages load from a CDN; they are served from there, so that nothing waits for a network. BertViz itself is put
beside the benchmarks' packages with `pip install --no-deps bertviz==1.4.1`: its pages need nothing of what it asks for,
and its cloud client would hold python-dateutil below 3.
"""

import argparse
import base64
import json
import re
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch

from playground.errors import UserError
from playground.trace.frames import attention as encoded
from playground.trace.model_frames import with_numbers
from tests.chromium import chromium
from widgets.animation import page, typeset
from widgets.animation.widget import ESM
from widgets.state.stage.store import StageStore

WORDS = "the old sailor told the children a story about a ship that never came back from the sea".split()
OBJECTIVES = ("LM", "MLM", "PLM", "T5 spans", "BART infilling")
LAYERS, HEADS = 12, 12
TARGETS = (
    "Aims, for 12 layers x 12 heads: at 64 tokens at most 1 MB and under 0.5 s to the painted page, at 128 tokens under"
    " 50 ms from hover to repaint; at 64 tokens and 16 heads under 16 ms a frame; training slowed by less than 5 %."
)


def words(number: int) -> list[str]:
    return [WORDS[i % len(WORDS)] for i in range(number)]


def spent(act: Callable[[], Any], rounds: int) -> float:
    """Median milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


# ---------------------------------------------------------------------------------------------- an edit and a record


def engine(sizes: list[int], rounds: int) -> None:
    print("| objective | words | roll again, ms | paint a cell, ms | record, ms | record, kB | packed, kB |")
    print("|---|---|---|---|---|---|---|")
    for name in OBJECTIVES:
        for number in sizes:
            try:
                store = StageStore(objective=name, text=" ".join(words(number)))
            except UserError:
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


# ---------------------------------------------------------------------------------------------- in a browser

STAGE = "document.querySelector('[id^=stage-]')?.__stage"

SCRUB = """([steps, last]) => {
  const stage = document.querySelector('[id^=stage-]').__stage, times = [];
  for (let i = 0; i < steps; i++) {
    const at = (i * 0.37) % last, start = performance.now();
    stage.set(Math.floor(at), at % 1);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}"""

PAINTED = """(ready, patience) => new Promise((done, give_up) => {
  setTimeout(() => give_up(new Error("nothing was painted")), patience);
  const end = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
  const wait = () => ready() ? end() : setTimeout(wait, 5);
  wait();
})"""
"""Milliseconds from the start of the navigation to the second frame after the picture is there."""

HOVERS = """() => {
  window.hovers = [];
  addEventListener("pointermove", (event) => requestAnimationFrame(() => {
    const after = new MessageChannel();
    after.port1.onmessage = () => hovers.push(performance.now() - event.timeStamp);
    after.port2.postMessage(0);
  }), { capture: true });
}"""
"""Writes down, for every move of the pointer, the milliseconds until the frame that shows it has been painted."""


@contextmanager
def opened() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield made
        made.close()


def browser(sizes: list[int]) -> None:
    print("\n| objective | words | scrub, median ms a frame | 95th percentile | page, kB |")
    print("|---|---|---|---|---|")
    with opened() as open_browser, tempfile.TemporaryDirectory() as folder:
        for name in OBJECTIVES:
            for number in sizes:
                file = Path(folder) / "stage.html"
                record = StageStore(objective=name, text=" ".join(words(number))).record()
                file.write_text(page(record), encoding="utf-8")
                tab = open_browser.new_page(viewport={"width": 1280, "height": 800})
                tab.goto(file.as_uri())
                tab.wait_for_function(READY["stage"])
                times = tab.evaluate(SCRUB, [200, len(record["frames"]) - 1])
                size = file.stat().st_size / 1000
                print(f"| {name} | {number} | {median(times):.1f} | {times[int(0.95 * len(times))]:.1f} | {size:.0f} |")
                tab.close()


# ---------------------------------------------------------------------------------------------- beside BertViz


def attention(layers: int, heads: int, n: int) -> torch.Tensor:
    """Weights that look like a model's: every row sums to one and few places hold most of it, `[layers, h, n, n]`."""
    rng = torch.Generator().manual_seed(0)
    return (3 * torch.randn(layers, heads, n, n, generator=rng)).softmax(-1)


def recorded(weights: torch.Tensor, tokens: list[str], whole: bool = True) -> dict[str, Any]:
    """The attention as a record of the stage: all layers and heads as bytes over one visibility.

    Of a long text the `whole` is drawn, as BertViz draws it, and not the stretch with which the stage would open.
    """
    n = len(tokens)
    cells = [{"text": word, "key": f"t{i}"} for i, word in enumerate(tokens)]
    lanes = [{"name": "inputs", "title": "The model sees", "cells": cells}]
    seen = {"name": "encoder", "title": "Who sees whom", "rows": tokens, "columns": tokens, "shape": [n, n]}
    everybody = {**seen, "states": base64.b64encode(bytes([1]) * n * n).decode(), "scored_rows": [], "order": None}
    frames = [{"name": "text", "title": "Text", "caption": "", "lanes": lanes, "matrices": [everybody]}]
    record = {"version": 1, "title": "Attention", "subtitle": "", "source": "", "frames": frames}
    record |= {"begin": f"1-{n}"} if whole else {}
    looked = {"encoder": encoded((255 * weights).round().to(torch.uint8), (n, n))}
    made = {"model": "a model", "attention": looked, "guesses": [], "losses": {}, "captions": {"forward": ""}}
    made = with_numbers(record, made, {"forward": "Forward"})
    return {**made, "frames": made["frames"][-1:] * len(weights)}  # as many as there are layers, to scrub through


def ours(weights: torch.Tensor, tokens: list[str], whole: bool = True) -> str:
    return page(recorded(weights, tokens, whole))


def theirs(view: str, weights: torch.Tensor, tokens: list[str]) -> str:
    import bertviz

    made = getattr(bertviz, f"{view}_view")(list(weights[:, None]), tokens, html_action="return")
    return f"<!doctype html><html><head><meta charset='utf-8'></head><body>{made.data}</body></html>"


READY = {
    "stage": f"() => {STAGE} !== undefined",
    "head": "() => document.querySelectorAll('svg line').length ",
    "model": "() => document.querySelectorAll('svg line').length > 0",
}


def serving(libraries: str, tab: Any) -> None:
    """Answer BertViz' requests to its CDN from the folder of libraries."""
    folder = Path(libraries) / "node_modules"
    files = {"require": "requirejs/require.js", "jquery": "jquery/dist/jquery.min.js", "d3": "d3/dist/d3.min.js"}

    def answer(route: Any) -> None:
        name = next((name for name in files if f"/{name}" in route.request.url), None)
        if name is None:
            route.abort()
        else:
            route.fulfill(path=folder / files[name], content_type="text/javascript")

    tab.route(re.compile("^https:"), answer)


def look(open_browser: Any, file: Path, view: str, libraries: str, patience: float) -> dict[str, Any]:
    """One page: seconds until it is painted, DOM nodes, milliseconds from hover to repaint."""
    tab = open_browser.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(1000 * patience)
    serving(libraries, tab)
    tab.goto(file.as_uri(), wait_until="commit")
    painted = tab.evaluate(f"({PAINTED})({READY[view]}, {1000 * patience})") / 1000
    found = {"painted": painted, "nodes": tab.evaluate("document.querySelectorAll('*').length")}
    if view != "model":
        found["hover"] = hover(tab, view)
    if view == "stage":
        found["scrub"] = median(tab.evaluate(SCRUB, [100, max(1, tab.evaluate(f"Number({STAGE}.state() && 11)"))]))
    tab.close()
    return found


def hover(tab: Any, view: str) -> float:
    """The median over some moves of the pointer, each over another token."""
    tab.evaluate(HOVERS)
    for x, y in positions(tab, view):
        before = tab.evaluate("hovers.length")
        tab.mouse.move(x, y)
        tab.wait_for_function(f"hovers.length > {before}")
    return median(tab.evaluate("hovers"))


def positions(tab: Any, view: str) -> list[tuple[float, float]]:
    if view == "stage":
        box = tab.locator("section.stage canvas").first.bounding_box()
        matrix = tab.evaluate(f"{STAGE}.state().layout.matrices[0]")
        x, y, size = box["x"] + matrix["x"], box["y"] + matrix["y"], matrix["size"]
        rows = [row for row in range(1, matrix["n"], 3) if y + row * size < 880]
        return [(x + 3 * size, y + (row + 0.5) * size) for row in rows[:12]]
    spots = tab.evaluate(
        "[...document.querySelectorAll('#left text, svg text')].map((t) => t.getBoundingClientRect())"
        ".filter((b) => b.width && b.top > 0 && b.bottom < 880).map((b) => [b.x + b.width / 2, b.y + b.height / 2])"
    )
    return [tuple(spot) for spot in spots[2:14]]


def peer(sizes: list[int], libraries: str, patience: float) -> None:
    print(f"\n{LAYERS} layers x {HEADS} heads, the same attention in each page.\n")
    print("| page | tokens | sent, MB | painted, s | DOM nodes | hover to repaint, ms | scrub, ms a frame |")
    print("|---|---|---|---|---|---|---|")
    with opened() as open_browser, tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            weights, tokens = attention(LAYERS, HEADS, n), words(n)
            makers = {"stage": ours, "head": partial(theirs, "head"), "model": partial(theirs, "model")}
            rows = [(view if view == "stage" else f"BertViz, {view} view", view, make) for view, make in makers.items()]
            if n > 64:
                rows.insert(1, ("stage, 64 of them and the overview", "stage", partial(ours, whole=False)))
            for name, view, make in rows:
                if view != "stage" and n > 128:
                    continue
                file = Path(folder) / f"{view}.html"
                file.write_text(make(weights, tokens), encoding="utf-8")
                sent = f"{file.stat().st_size / 1e6:.2f}"
                print(f"| {name} | {n} | {sent} | {told(open_browser, file, view, libraries, patience)} |", flush=True)


def told(open_browser: Any, file: Path, view: str, libraries: str, patience: float) -> str:
    """The cells of one row; a page that is not there in time says so."""
    from playwright.sync_api import Error

    try:
        found = look(open_browser, file, view, libraries, patience)
    except Error:
        return f"not within {patience:.0f} | | |"
    shown = (f"{found['painted']:.2f}", found["nodes"], _one(found.get("hover")), _one(found.get("scrub")))
    return " | ".join(map(str, shown))


def _one(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def sixteen(n: int = 64) -> None:
    """The scrub that the aims name: 64 tokens, 16 heads."""
    with opened() as open_browser, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stage.html"
        file.write_text(ours(attention(4, 16, n), words(n)), encoding="utf-8")
        tab = open_browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(file.as_uri())
        tab.wait_for_function(READY["stage"])
        times = tab.evaluate(SCRUB, [200, 3])
        print(f"\n{n} tokens, 16 heads: {median(times):.1f} ms a frame, 95th percentile {times[190]:.1f} ms.")


# ---------------------------------------------------------------------------------------------- while a model trains


def training(seconds: float = 12.0, turns: int = 3) -> None:
    """Steps a second of BERT on the default corpus with nobody looking and with the stage following, in turns."""
    alone, followed = [], []
    for _ in range(turns):
        alone.append(pace(seconds, follow=False))
        followed.append(pace(seconds, follow=True))
    slower = 1 - median(followed) / median(alone)
    print(f"\nTraining: {median(alone):.1f} steps a second alone, {median(followed):.1f} with the stage following")
    print(f"(10 looks a second, each sent as JSON): {100 * slower:.1f} % slower.")


def pace(seconds: float, follow: bool) -> float:
    from playground.analysis.predictions import glance, sentence_of
    from playground.corpora import open_corpus
    from playground.training import Run, Session
    from playground.zoo import find_entry

    corpus = open_corpus("world")
    sentence = sentence_of(corpus)
    run = Run(find_entry("RoBERTa"), corpus, 0, torch.device("cpu"), steps=100_000, evaluate_every=100_000)
    session = Session(run, lambda learner: glance(learner.model, learner.objective, learner.step, sentence)).start()
    while len(session.rows) < 20:
        time.sleep(0.05)
    before, start = len(session.rows), time.perf_counter()
    while time.perf_counter() - start < seconds:
        time.sleep(0.1)
        if follow:
            session.viewer.watch()
            sent(session.viewer.view)
    done, spent_ = len(session.rows) - before, time.perf_counter() - start
    session.stop()
    return done / spent_


def sent(seen: Any) -> int:
    """A look as the stage gets it: every layer and head as bytes; what it weighs."""
    if seen is None:
        return 0
    name, layers = next(iter(seen.weights.items()))
    record = recorded(layers.float() / 255, list(seen.rows[name]))
    return len(json.dumps(typeset(record)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--words", default="8,32,64")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--peer", metavar="LIBRARIES", default="")
    parser.add_argument("--tokens", default="64,128,256")
    parser.add_argument("--patience", type=float, default=120.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    sizes = [int(number) for number in options.words.split(",")]
    if options.peer:
        print(TARGETS)
        peer([int(number) for number in options.tokens.split(",")], options.peer, options.patience)
        sixteen()
    if options.training:
        training()
    if not options.peer and not options.training:
        engine(sizes, options.rounds)
    if options.browser:
        browser(sizes)


if __name__ == "__main__":
    main()
