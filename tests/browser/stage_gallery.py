"""Hand-written records for the stage, as pages and screenshots: `python tests/browser/stage_gallery.py DIR`."""

import base64
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]
HAPPY = "I am so happy to see you .".split()
STORY = (
    "the old sailor told the children a story about a ship that never came back from the sea because its captain "
    "had followed a star which nobody else could see and he smiled while the wind sang over the roofs"
).split()
HOSTILE = [
    "<script>alert(1)</script>",
    "</script>",
    "<img src=x onerror=alert(2)>",
    "${alert(3)}",
    "\u2028",
    "'\"",
    "&amp;",
    "日本語",
]


def cell(text: str, key: str, state: str = "kept", **more: Any) -> Record:
    """One token box of a lane."""
    return {
        "text": text,
        "key": key,
        "state": state,
        "chosen": False,
        "graded": False,
        "badge": "",
        "was": "",
        **more,
    }


def words(text: Sequence[str], **more: Any) -> list[Record]:
    """The words of a text as untouched cells with the keys t0, t1 ..."""
    return [cell(word, f"t{i}", **more) for i, word in enumerate(text)]


def lane(name: str, cells: Iterable[Record]) -> Record:
    """A lane with its usual title."""
    titles = {"original": "Original", "inputs": "What the model sees", "decoder": "Decoder input"}
    return {"name": name, "title": titles.get(name, "What it must predict"), "cells": list(cells)}


def matrix(
    name: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    state: Callable[[int, int], int],
    graded: Iterable[int] = (),
    **more: Any,
) -> Record:
    """A visibility matrix from a function of (reader, read)."""
    marked = set(graded)
    codes = bytes(state(i, j) for i in range(len(rows)) for j in range(len(columns)))
    return {
        "name": name,
        "title": title,
        "rows": list(rows),
        "columns": list(columns),
        "states": base64.b64encode(codes).decode(),
        "shape": [len(rows), len(columns)],
        "graded_rows": [int(i in marked) for i in range(len(rows))],
        "order": None,
        "weights": None,
        **more,
    }


def weights(n: int, m: int, heads: int, state: Callable[[int, int], int], seed: int = 0) -> Record:
    """Attention weights that look like attention: rows sum to one over the visible places."""
    chance = random.Random(seed)
    data = bytearray()
    for _ in range(heads):
        for i in range(n):
            row = [chance.random() ** 4 if state(i, j) == 1 else 0.0 for j in range(m)]
            data.extend(round(255 * value / (sum(row) or 1)) for value in row)
    return {"heads": heads, "data": base64.b64encode(bytes(data)).decode()}


def frame(name: str, caption: str, lanes: list[Record], matrices: Sequence[Record] = ()) -> Record:
    """A named frame."""
    return {"name": name, "title": name.capitalize(), "caption": caption, "lanes": lanes, "matrices": list(matrices)}


def record(title: str, subtitle: str, source: str, frames: list[Record], **more: Any) -> Record:
    """A whole record with a clean leak verdict unless `more` says otherwise."""
    leak = {"leak": False, "sentence": "No scored answer can reach its own prediction.", "path": []}
    base = {"version": 1, "title": title, "subtitle": subtitle, "formula": "", "source": source, "text": []}
    return {**base, "leak": leak, "frames": frames, **more}


def full(i: int, j: int) -> int:
    """Everybody sees everybody."""
    return 1


def causal(i: int, j: int) -> int:
    """Nobody sees what comes later."""
    return int(j <= i)


def lm() -> Record:
    """Next-word prediction: nothing is hidden but the future."""
    original, inputs = lane("original", words(HAPPY)), lane("inputs", words(HAPPY))
    shifted = [cell(word, f"t{i + 1}", graded=True) for i, word in enumerate(HAPPY[1:])] + [cell("", "+end")]
    targets = lane("targets", shifted)
    square = matrix("content", "Who may look at whom", HAPPY, HAPPY, causal, range(7))
    seen = {**square, "weights": weights(8, 8, 4, causal)}
    return record(
        "LM",
        "Guess the next word from everything before it.",
        "GPT, sec. 3.1",
        [
            frame("text", "The sentence has 8 tokens.", [original]),
            frame("arrange", "The model reads the tokens as they are; nothing is hidden.", [original, inputs]),
            frame("visibility", "Each token sees itself and what stands to its left.", [original, inputs], [square]),
            frame(
                "ask",
                "Every place must predict the next token: 7 of 8 places are graded.",
                [original, inputs, targets],
                [square],
            ),
            frame("predict", "What each head looks at while it answers.", [original, inputs, targets], [seen]),
        ],
    )


def mlm() -> Record:
    """Masked words with the 80/10/10 outcomes."""
    picked = {1, 3, 6}
    original = lane("original", words(HAPPY))
    chosen = lane("inputs", [cell(w, f"t{i}", chosen=i in picked) for i, w in enumerate(HAPPY)])
    done = {
        1: cell("am", "t1", "graded_as_is", chosen=True, graded=True),
        3: cell("[MASK]", "t3", "masked", chosen=True, graded=True, was="happy"),
        6: cell("river", "t6", "randomised", chosen=True, graded=True, was="you"),
    }
    changed = lane("inputs", [done.get(i, cell(w, f"t{i}")) for i, w in enumerate(HAPPY)])
    targets = lane(
        "targets",
        [cell(w if i in picked else "", f"t{i}", graded=i in picked) for i, w in enumerate(HAPPY)],
    )
    rows = [done[i]["text"] if i in done else w for i, w in enumerate(HAPPY)]
    square = matrix("encoder", "Who may look at whom", rows, rows, full, picked)
    return record(
        "MLM",
        "Hide some words and guess them from both sides.",
        "arXiv:1810.04805, sec. 3.1",
        [
            frame("text", "The sentence has 8 tokens.", [original]),
            frame("arrange", "The model reads a copy.", [original, lane("inputs", words(HAPPY))]),
            frame("choose", "3 of 8 tokens are chosen.", [original, chosen]),
            frame("corrupt", "One is masked, one is swapped, one stays but is graded.", [original, changed]),
            frame("visibility", "Everybody may look at everybody.", [original, changed], [square]),
            frame("ask", "Only the chosen tokens are graded.", [original, changed, targets], [square]),
        ],
        leak={
            "leak": True,
            "level": "amber",
            "sentence": "By design: a token that is left as it is shows its own answer.",
            "path": [],
        },
    )


def plm() -> Record:
    """Permuted order with a content and a query stream (XLNet)."""
    order = [4, 1, 6, 0, 3, 7, 2, 5]
    rank = {position: slot for slot, position in enumerate(order)}
    original = lane("original", words(HAPPY))
    dealt = lane("inputs", [cell(w, f"t{i}", badge=str(rank[i] + 1)) for i, w in enumerate(HAPPY)])
    graded = order[-3:]
    content = matrix(
        "content",
        "Content stream: sees itself",
        HAPPY,
        HAPPY,
        lambda i, j: int(rank[j] <= rank[i]),
        order=order,
    )
    query = matrix(
        "query",
        "Query stream: knows only its place",
        HAPPY,
        HAPPY,
        lambda i, j: 2 if i == j else int(rank[j] < rank[i]),
        graded,
        order=order,
    )
    targets = lane(
        "targets",
        [cell(w if i in graded else "", f"t{i}", graded=i in graded) for i, w in enumerate(HAPPY)],
    )
    both = [content, query]
    return record(
        "PLM",
        "Predict the words in a random order; two streams keep the answer out of sight.",
        "arXiv:1906.08237, sec. 2.3",
        [
            frame("text", "The sentence has 8 tokens.", [original]),
            frame("arrange", "The model reads a copy.", [original, lane("inputs", words(HAPPY))]),
            frame("propose", "An order is dealt; the tokens do not move.", [original, dealt]),
            frame("visibility", "A reader sees what comes before it in the order.", [original, dealt], both),
            frame("ask", "Only the last three of the order are graded.", [original, dealt, targets], both),
            frame("predict", "The query stream answers in the order.", [original, dealt, targets], both),
        ],
    )


def mass() -> Record:
    """A masked run in the encoder that the decoder writes (MASS): three matrices."""
    picked = range(3, 6)
    original = lane("original", words(HAPPY))
    chosen = lane("inputs", [cell(w, f"t{i}", chosen=i in picked) for i, w in enumerate(HAPPY)])
    changed = lane(
        "inputs",
        [
            cell("[MASK]", f"t{i}", "masked", chosen=True, was=w) if i in picked else cell(w, f"t{i}")
            for i, w in enumerate(HAPPY)
        ],
    )
    decoder = lane("decoder", [cell("[START]", "+s", "special"), *(cell(HAPPY[i], f"t{i}") for i in (3, 4))])
    targets = lane("targets", [cell(HAPPY[i], f"t{i}", graded=True) for i in picked])
    rows = [item["text"] for item in changed["cells"]]
    steps = [item["text"] for item in decoder["cells"]]
    three = [
        matrix("encoder", "Encoder", rows, rows, full),
        matrix("decoder", "Decoder", steps, steps, causal, range(3)),
        matrix("cross", "Decoder to encoder", steps, rows, full, range(3)),
    ]
    return record(
        "MASS",
        "Hide one run of words and let a decoder write it.",
        "arXiv:1905.02450, sec. 3.2",
        [
            frame("text", "The sentence has 8 tokens.", [original]),
            frame("choose", "A run of three tokens is chosen.", [original, chosen]),
            frame("corrupt", "The run is masked.", [original, changed]),
            frame("propose", "The decoder gets the run, shifted by one.", [original, changed, decoder]),
            frame(
                "visibility", "The decoder sees its past and the whole encoder.", [original, changed, decoder], three
            ),
            frame("ask", "It must write the run.", [original, changed, decoder, targets], three),
        ],
    )


def t5() -> Record:
    """Spans fold into sentinels and fly to the target (T5)."""
    gone = {2: "+a", 3: "+a", 6: "+b"}
    original = lane("original", words(HAPPY))
    chosen = lane("inputs", [cell(w, f"t{i}", chosen=i in gone) for i, w in enumerate(HAPPY)])
    first, second = cell("<0>", "+a", "inserted"), cell("<1>", "+b", "inserted")
    kept = words(HAPPY)
    folded = [*kept[:2], first, *kept[4:6], second, kept[7]]
    written = [first, *(cell(HAPPY[i], f"t{i}") for i in (2, 3)), second, cell(HAPPY[6], "t6")]
    graded = [*({**item, "graded": True} for item in written), cell("[END]", "+end", "special", graded=True)]
    decoder = [cell("[START]", "+start", "special"), *written]
    rows, steps = [item["text"] for item in folded], [item["text"] for item in decoder]
    three = [
        matrix("encoder", "Encoder", rows, rows, full),
        matrix("decoder", "Decoder", steps, steps, causal, range(6)),
        matrix("cross", "Decoder to encoder", steps, rows, full, range(6)),
    ]
    before = [original, lane("inputs", folded), lane("targets", graded)]
    after = [original, lane("inputs", folded), lane("decoder", decoder), lane("targets", graded)]
    return record(
        "T5",
        "Fold the gaps away and write them out.",
        "arXiv:1910.10683, sec. 3.1.4",
        [
            frame("text", "The sentence has 8 tokens.", [original]),
            frame("arrange", "The encoder reads a copy.", [original, lane("inputs", words(HAPPY))]),
            frame("choose", "Two spans are chosen: 3 of 8 tokens.", [original, chosen]),
            frame("fold", "Each span folds into one sentinel; its words fly to the target.", before),
            frame("propose", "The decoder reads the target, shifted by one.", after),
            frame("visibility", "The decoder sees its past and the whole encoder.", after, three),
        ],
    )


def long(count: int = 40) -> Record:
    """MLM on a long text, with padding at the end."""
    chance = random.Random(3)
    text = [STORY[i % len(STORY)] for i in range(count - 3)] + ["[PAD]"] * 3
    real = count - 3
    picked = set(chance.sample(range(real), round(real * 0.15)))
    base = [cell(w, f"t{i}", "padding" if i >= real else "kept") for i, w in enumerate(text)]
    changed = [
        cell("[MASK]", f"t{i}", "masked", chosen=True, graded=True, was=w) if i in picked else base[i]
        for i, w in enumerate(text)
    ]
    rows = [item["text"] for item in changed]
    square = matrix(
        "encoder", "Who may look at whom", rows, rows, lambda i, j: 3 if j >= real or i >= real else 1, picked
    )
    square["weights"] = weights(count, count, 2, lambda i, j: int(j < real))
    targets = [cell(w if i in picked else "", f"t{i}", graded=i in picked) for i, w in enumerate(text)]
    original = lane("original", base)
    return record(
        f"MLM, {count} tokens",
        "The same picture with a long text.",
        "arXiv:1810.04805, sec. 3.1",
        [
            frame("text", f"The text has {real} tokens and 3 places of padding.", [original]),
            frame("corrupt", f"{len(picked)} tokens are masked.", [original, lane("inputs", changed)]),
            frame("visibility", "Nobody looks at padding.", [original, lane("inputs", changed)], [square]),
            frame(
                "ask",
                "Masked ones are graded.",
                [original, lane("inputs", changed), lane("targets", targets)],
                [square],
            ),
        ],
    )


def states() -> Record:
    """Every state of a token and of a cell, with a leak and its path."""
    kinds = "kept masked randomised graded_as_is deleted moved replaced same_by_luck inserted special padding".split()
    shown = [cell(kind.replace("_", " "), f"t{i}", kind) for i, kind in enumerate(kinds)]
    shown[1] = {**shown[1], "was": "before", "chosen": True, "graded": True}
    rows = [item["text"] for item in shown if item["state"] != "deleted"]
    square = matrix(
        "encoder",
        "Who may look at whom",
        rows,
        rows,
        lambda i, j: 3 if max(i, j) == 9 else 2 if i == j else 4 if (i, j) == (3, 5) else int(j <= i + 1),
        (1, 3),
    )
    path = [{"stream": "encoder", "position": p, "layer": n} for n, p in enumerate((5, 6, 3))]
    leak = {"leak": True, "sentence": "The answer at place 6 reaches its own prediction in two layers.", "path": path}
    lanes = [lane("original", words(kinds)), lane("inputs", shown)]
    frames = [
        frame("text", "All the states.", lanes[:1]),
        frame("visibility", "All the states of cells.", lanes, [square]),
    ]
    return record("States", "Every sign of the picture once.", "", frames, leak=leak)


def hostile() -> Record:
    """Text that would like to be markup."""
    original, inputs = lane("original", words(HOSTILE)), lane("inputs", words(HOSTILE))
    square = matrix("encoder", "<b>bold</b>", HOSTILE, HOSTILE, full)
    frames = [
        frame("text", "</script><script>alert(4)</script>", [original]),
        frame("visibility", "<img src=x onerror=alert(5)>", [original, inputs], [square]),
    ]
    return record("<script>alert(6)</script>", "</title><script>alert(7)</script>", "<i>x</i>", frames)


RECORDS: dict[str, Callable[[], Record]] = {
    "lm": lm,
    "mlm": mlm,
    "plm": plm,
    "mass": mass,
    "t5": t5,
    "long": long,
    "longest": lambda: long(64),
    "states": states,
    "hostile": hostile,
}

SHOTS: list[tuple[str, float, int, str, str]] = [
    # record, position, width, scheme, what to do first (JavaScript with `stage` as the handle)
    *((name, 99.0, width, "light", "") for name in RECORDS for width in (1280, 800, 360)),
    *((name, 99.0, 1280, "dark", "") for name in RECORDS),
    ("mlm", 2.0, 1280, "light", ""),
    ("mlm", 2.5, 1280, "light", ""),
    ("mlm", 3.0, 1280, "dark", ""),
    ("lm", 0.0, 1280, "light", ""),
    ("lm", 0.5, 1280, "light", ""),
    ("lm", 1.55, 1280, "light", ""),
    ("lm", 2.5, 1280, "light", ""),
    ("plm", 4.0, 1280, "light", "sort"),
    ("plm", 4.0, 1280, "dark", "reader"),
    ("plm", 2.6, 800, "light", ""),
    ("mass", 5.0, 1280, "light", "reader"),
    ("mass", 5.0, 360, "dark", "reader"),
    ("t5", 2.5, 1280, "light", ""),
    ("t5", 3.5, 1280, "light", ""),
    ("long", 3.0, 1280, "light", "reader"),
    ("states", 1.0, 1280, "light", "reader"),
]


def shoot(folder: Path, only: Sequence[str]) -> None:
    """Writes the pages and takes the screenshots with the system's Chromium and no network."""
    from playwright.sync_api import sync_playwright

    from tests.browsing import ARGUMENTS, CHROMIUM
    from widgets.animation import page

    for name, make in RECORDS.items():
        (folder / f"{name}.html").write_text(page(make(), name), encoding="utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for name, at, width, scheme, first in SHOTS:
            label = f"{name}-{at:g}-{width}-{scheme}{'-' + first if first else ''}"
            if only and not any(word in label for word in only):
                continue
            tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            tab.on("pageerror", lambda error, label=label: print("PAGE ERROR", label, error))
            tab.on("console", lambda message, label=label: print("CONSOLE", label, message.text))
            tab.route("**", lambda r: r.continue_() if r.request.url.startswith(("file:", "data:")) else r.abort())
            tab.goto((folder / f"{name}.html").as_uri())
            tab.wait_for_function("document.querySelector('[id^=stage-]')?.__stage")
            tab.evaluate(
                "at => document.querySelector('[id^=stage-]').__stage.set(Math.floor(at), at % 1)", min(at, 99.0)
            )
            if first == "sort":
                tab.get_by_role("button", name="Sort axes by order").click()
                tab.wait_for_timeout(1000)
            if first == "reader":
                tab.locator("section.stage").focus()
                for _ in range(4):
                    tab.keyboard.press("ArrowDown")
            tab.wait_for_timeout(150)
            tab.screenshot(path=folder / f"{label}.png", full_page=True)
            tab.close()
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Say where the pages and pictures go: python tests/browser/stage_gallery.py DIR [NAME ...]")
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    shoot(target, sys.argv[2:])
