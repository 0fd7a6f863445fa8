"""The stage in a real browser: it steps, scrubs, speaks, sorts, follows the theme, and never runs its data."""

import base64
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from playwright.sync_api import Browser, BrowserContext, Page, expect

from playground.analysis.predictions import read
from playground.objectives import find_objective, objectives
from playground.trace.lockstep import lockstep
from playground.trace.rebuild import Rebuilt, rebuild
from playground.trace.signal import measure
from playground.training import Run, train
from tests.browser import stage_gallery as gallery
from tests.browser.pages import HANDLE
from tests.browsing import PATIENCE, painted
from tests.runs import alone, reviews, suited_reviews, tiny
from widgets.animation import page, typeset
from widgets.animation.widget import ESM
from widgets.state.stage.model import StageModel
from widgets.state.stage.store import StageStore


class Stage:
    """A page with one stage, and short words for what a person does with it."""

    def __init__(self, tab: Page, folder: Path) -> None:
        self.tab, self.folder = tab, folder

    def open(self, name: str, record: Any = None) -> "Stage":
        file = self.folder / f"{name}.html"
        file.write_text(page(record or gallery.RECORDS[name](), name), encoding="utf-8")
        self.tab.goto(file.as_uri())
        self.tab.wait_for_function(f"{HANDLE} !== undefined")
        self.tab.locator("section.stage, section.stages").first.focus()
        painted(self.tab)
        return self

    def edit(self, record: Any) -> "Stage":
        """Opens a record whose edits are written down in `window.edits`."""
        self.open("editable", gallery.RECORDS["lm"]())
        module = "data:text/javascript;base64," + base64.b64encode(ESM.encode()).decode()
        self.tab.evaluate(
            """async ([module, record]) => {
              const { mount } = await import(module);
              window.edits = [];
              const el = document.querySelector("[id^=stage-]");
              el.__stage.destroy();
              mount(el, record, { onEdit: (edit) => window.edits.push(edit) });
            }""",
            [module, typeset(record)],
        )
        self.tab.locator("section.stage, section.stages").first.focus()
        painted(self.tab)
        return self

    def edits(self) -> Any:
        return self.tab.evaluate("window.edits.splice(0)")

    def drag(self, start: str, end: str, by: tuple[int, int] = (0, 0)) -> None:
        (a, b) = (self.tab.locator(part).first.bounding_box() for part in (start, end))
        assert a and b
        self.tab.mouse.move(a["x"] + a["width"] / 2, a["y"] + a["height"] / 2)
        self.tab.mouse.down()
        self.tab.mouse.move(b["x"] + b["width"] / 2 + by[0], b["y"] + b["height"] / 2 + by[1], steps=5)
        self.tab.mouse.up()

    def state(self) -> Any:
        return self.tab.evaluate(f"{HANDLE}.state()")

    def set(self, frame: int, fraction: float = 0.0) -> None:
        self.tab.evaluate(f"([frame, fraction]) => {HANDLE}.set(frame, fraction)", [frame, fraction])

    def press(self, *keys: str) -> "Stage":
        for key in keys:
            self.tab.keyboard.press(key)
        return self

    def settle(self) -> Any:
        """Waits until nothing moves and answers with the state."""
        self.tab.wait_for_function(
            f"(() => {{ const s = {HANDLE}.state(); return !s.moving && s.sort === Number(s.sorted) }})()"
        )
        return self.state()

    def point(self, at: dict[str, float]) -> Any:
        """Points at a place of the picture and answers with the state that it leads to."""
        self.tab.locator("canvas").first.hover(position=at)  # type: ignore[arg-type]
        return self.painted()

    def painted(self) -> Any:
        """Waits until what was done last is on the canvas and said beside it, and answers with the state."""
        painted(self.tab)
        return self.state()

    def pixels(self) -> str:
        self.painted()
        return self.tab.evaluate("document.querySelector('canvas').toDataURL()")

    def colours(self) -> int:
        """How many different colours the canvas shows, coarsely."""
        self.painted()
        return self.tab.evaluate(
            "() => { const c = document.querySelector('canvas'), copy = new OffscreenCanvas(c.width, c.height);"
            " const pen = copy.getContext('2d', { willReadFrequently: true }); pen.drawImage(c, 0, 0);"
            " const d = pen.getImageData(0, 0, c.width, c.height).data, seen = new Set();"
            " for (let i = 0; i < d.length; i += 4 * 97) seen.add(`${d[i] >> 4} ${d[i + 1] >> 4} ${d[i + 2] >> 4}`);"
            " return seen.size }"
        )

    def spoken(self) -> str:
        self.painted()
        return self.tab.locator("canvas").get_attribute("aria-label") or ""

    def lane(self, name: str) -> dict[str, Any]:
        cells = next(lane for lane in self.painted()["layout"]["lanes"] if lane["name"] == name)["cells"]
        return {cell["key"]: cell for cell in cells}


@pytest.fixture
def stage(browser: Browser, profile: BrowserContext, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A page from a file; any request that leaves the machine, any error and any dialogue fails the test.

    Only what differs from a plain browser (`request.param`) takes a profile of its own.
    """
    context = browser.new_context(**request.param) if hasattr(request, "param") else profile
    tab, trouble = context.new_page(), []
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.set_default_timeout(PATIENCE)
    tab.add_init_script("window.alerts = []; window.alert = (text) => window.alerts.push(text);")
    local = ("file:", "data:", "blob:", "http://127.0.0.1", "http://localhost")
    tab.on("request", lambda sent: None if sent.url.startswith(local) else trouble.append(sent.url))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("console", lambda said: trouble.append(said.text) if said.type in ("error", "warning") else None)
    tab.on("dialog", lambda dialogue: (trouble.append(dialogue.message), dialogue.dismiss()))
    yield Stage(tab, tmp_path)
    alerts = tab.evaluate("window.alerts") if not tab.is_closed() and tab.url != "about:blank" else []
    tab.close()
    if context is not profile:
        context.close()
    assert not trouble and not alerts


def test_keys_step_through_the_frames_and_words_follow(stage: Stage) -> None:
    stage.open("mlm")
    assert stage.state()["name"] == "text"
    stage.press("ArrowRight")
    assert stage.settle()["name"] == "choose"
    stage.press("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft")
    assert stage.settle()["name"] == "choose"
    assert "3 of 8 tokens are selected." in stage.spoken()
    expect(stage.tab.locator(".stage-caption b")).to_have_text(re.compile("^Choose"))
    assert stage.press("End").settle()["name"] == "ask"
    expect(stage.tab.get_by_role("button", name="Step forward")).to_be_disabled()
    assert stage.press("Home").settle()["frame"] == 0
    expect(stage.tab.locator(".stage-where")).to_have_text("Text (1/5)")
    stage.press("s", "s", "Shift+Space")
    assert stage.settle()["name"] == "choose"
    assert not stage.press("Space", "p").state()["playing"]


def test_l_holds_the_end_of_a_leak_and_lets_it_go(stage: Stage) -> None:
    stage.open("states").press("l")
    assert stage.state()["name"] == "visibility" and stage.state()["reader"]["row"] == 3
    assert stage.press("l").painted()["reader"] is None
    assert stage.open("lm").press("l").state()["reader"] is None, "where nothing leaks there is no way"


def test_an_order_that_turns_round_is_four_matrices_in_two_rows(stage: Stage) -> None:
    stage.open("turned", scene("PLM", settings={"streams": "an order that turns round"})).press("End")
    boxes = {box["name"]: box for box in stage.state()["layout"]["matrices"]}
    assert list(boxes) == ["content", "query", "content above", "query above"]
    assert boxes["content above"]["y"] > boxes["content"]["y"] + 8 * boxes["content"]["size"], "in two rows of two"
    assert stage.press("l").state()["reader"]["matrix"].startswith("query")


def test_the_range_scrubs_between_frames(stage: Stage) -> None:
    stage.open("folded")
    scrub = stage.tab.get_by_role("slider")
    scrub.fill("0.5")
    state = stage.state()
    assert (state["frame"], round(state["fraction"], 2)) == (0, 0.5)
    expect(scrub).to_have_attribute("aria-valuetext", re.compile("^(Text, 1|Fold, 2) of 2$"))
    flying = stage.lane("targets")["t1"]
    stage.set(0)
    start = stage.lane("inputs")["t1"]
    stage.set(1)
    end = stage.lane("targets")["t1"]
    assert start["y"] < flying["y"] < end["y"], "a folded word flies from the inputs to the targets"
    assert "t1" not in stage.lane("inputs") and stage.lane("inputs")["+a"]["state"] == "inserted"


def test_the_picture_is_a_function_of_frame_and_fraction(stage: Stage) -> None:
    stage.open("mlm")
    seen = []
    for frame in (0, 2, 3, 4):
        stage.set(frame)
        seen.append(stage.pixels())
        assert stage.colours() > 10
    assert len(set(seen)) == len(seen)
    stage.set(3, 0.4)
    stage.set(2)
    assert stage.pixels() == seen[1], "the way to a frame leaves no trace"


def test_sorting_the_axes_changes_the_picture_and_back(stage: Stage) -> None:
    stage.open("plm").press("End")
    before = stage.pixels()
    stage.press("o")
    assert stage.settle()["sorted"] and stage.pixels() != before
    expect(stage.tab.get_by_role("button", name="Sort axes by order")).to_have_attribute("aria-pressed", "true")
    stage.tab.get_by_role("button", name="Sort axes by order").click()
    stage.settle()
    stage.tab.mouse.move(0, 0)
    assert stage.pixels() == before


def test_segments_are_drawn_below_the_tokens_and_said_of_the_reader(stage: Stage) -> None:
    pair = rebuild("MLM + NSP", "How are you", pair="I am fine", overrides={"pair": "next"}).record()
    stage.open("pair", pair).press("End", "ArrowUp")
    assert stage.spoken().endswith("It is read with segment B (token_type_id 1).")
    drawn = stage.tab.evaluate(f"{HANDLE}.svg()")
    assert re.findall(r">(segment \w)<", drawn) == ["segment A", "segment B"]
    lone = rebuild("MLM").record()
    assert "segment" not in stage.open("lone", lone).tab.evaluate(f"{HANDLE}.svg()")
    assert stage.press("End", "ArrowUp").spoken().endswith("positions.")


def test_rows_are_read_by_key_and_by_pointer(stage: Stage) -> None:
    stage.open("plm").press("End", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown")
    reader = stage.state()["reader"]
    assert (reader["matrix"], reader["label"], reader["locked"]) == ("query", "to", True)
    assert stage.spoken() == "Predict: 'to' sees 4 of 8 positions, not itself."
    assert stage.press("Escape").state()["reader"] is None
    content = stage.state()["layout"]["matrices"][0]
    x, y = content["x"] + content["size"] * 1.5, content["y"] + content["size"] * 0.5
    assert stage.point({"x": x, "y": y})["reader"] == {
        "matrix": "content",
        "row": 0,
        "column": 1,
        "label": "I",
        "locked": False,
    }
    stage.tab.locator("canvas").click(position={"x": x, "y": y})
    stage.tab.mouse.move(0, 0)
    assert stage.painted()["reader"]["locked"]
    chip = stage.lane("inputs")["t3"]
    assert stage.point({"x": chip["x"] + 5, "y": chip["y"] + 5})["reader"]["row"] == 3


def test_it_plays_pauses_and_takes_another_record(stage: Stage) -> None:
    stage.open("lm").press("+", "+", "+", " ")
    assert stage.state()["speed"] == 4 and stage.state()["playing"]
    stage.tab.wait_for_function(f"{HANDLE}.state().frame === 2")
    assert not stage.press(" ").state()["playing"]
    stage.settle()
    stage.set(2)
    stage.tab.evaluate(f"(record) => {HANDLE}.update(record)", typeset(gallery.mlm()))
    assert stage.state()["name"] == "visibility", "a new record keeps the frame of the same name"
    stage.tab.evaluate(f"(record) => {HANDLE}.update(record)", {"frames": []})
    assert "no text" in stage.spoken()
    stage.tab.evaluate(f"{HANDLE}.destroy()")
    expect(stage.tab.locator("section.stage")).to_have_count(0)


@lru_cache
def lent(objective: str) -> StageModel:
    """A tiny model of an objective that has learned next to nothing; what it says is real all the same."""
    chosen = find_objective(objective)
    run = Run(alone(chosen), suited_reviews(chosen), steps=2)
    events = list(train(run))
    return StageModel(events[0].learner, run.corpus)


WATCHED = "the movie was good and the story was not bad ."
ANSWERED = ("PLM", "T5 spans", "RTD")
"""Two streams, a decoder, two models."""


@lru_cache
def answered(objective: str) -> tuple[Rebuilt, Any]:
    """A text, rebuilt in the words of such a model, and the record with what the model makes of it."""
    model = lent(objective)
    made = rebuild(
        model.ready(find_objective(objective)), WATCHED, pair="it was dull .", seed=3, tokenizer=model.corpus.tokenizer
    )
    return made, model.answers(made)


def test_frame_k_of_the_picture_is_example_k_of_the_engine(stage: Stage) -> None:
    """The chips that stand on screen in frame k are the ids of the example after stage k, whatever the way there."""
    stage.open("frames", gallery.RECORDS["lm"]())
    for objective in ANSWERED:
        made, record = answered(objective)
        stage.tab.evaluate(f"(record) => {HANDLE}.update(record)", typeset(record))
        steps = [s for s in made.steps if s.part == 0]
        same = [s.verb == "arrange" and torch.equal(s.batch.inputs.ids, s.batch.tokens.ids) for s in steps]
        examples = [s.batch for s, nothing in zip(steps, same, strict=True) if not nothing]
        assert len(record["frames"]) == 1 + len(examples) + 3
        examples += [examples[-1]] * 3  # forward, guesses and loss are about the training example itself
        for k, batch in reversed(list(enumerate(examples, 1))):
            stage.set(k, 0.0)
            drawn = {lane["name"]: lane["cells"] for lane in stage.state()["layout"]["lanes"]}
            for lane, stream in (("inputs", batch.inputs), ("decoder", batch.decoder)):
                ids = [] if stream is None else stream.ids[0][stream.valid[0]].tolist()
                texts = [c["text"] for c in drawn.get(lane, []) if c["state"] != "deleted"]
                assert texts == [batch.tokens.vocabulary[i] for i in ids], (objective, k, lane)


@pytest.mark.parametrize("objective", ANSWERED)
def test_guesses_and_losses_on_screen_are_the_models_and_only_where_it_is_scored(stage: Stage, objective: str) -> None:
    made, record = answered(objective)
    seen = read(lent(objective).learner.model, made.batch)
    stage.open("answers", record)
    names = [frame["name"] for frame in record["frames"]]
    stage.set(names.index("predict"), 0.0)
    shown = stage.state()["answers"]
    assert [(g["position"], g["truth"], g["first"]) for g in shown["guesses"]] == [
        (g.position, g.truth, g.top[0][0]) for g in seen.guesses
    ]
    assert shown["prices"] == []
    stage.set(names.index("loss"), 0.0)
    scored = [c["scored"] for c in record["frames"][-1]["lanes"][-1]["cells"]]
    prices = {p["position"]: p["loss"] for p in stage.state()["answers"]["prices"]}
    assert sorted(prices) == [k for k, g in enumerate(scored) if g]
    assert list(prices.values()) == pytest.approx([g.loss for g in seen.guesses], abs=1e-4)
    assert f"{fmean(g.loss for g in seen.guesses):.2f} nats" in stage.spoken()


def test_a_reader_says_where_it_looks_and_what_it_guesses(stage: Stage) -> None:
    made, record = answered("MLM")
    guess = read(lent("MLM").learner.model, made.batch).guesses[0]
    stage.open("spoken", record)
    stage.set([f["name"] for f in record["frames"]].index("predict"), 0.0)
    stage.press(*["ArrowDown"] * (guess.position + 1))
    assert f"the truth '{guess.truth}' has" in stage.spoken() and f"costs {guess.loss:.2f} nats" in stage.spoken()
    assert "attends most to" in stage.spoken()


def test_state_and_weight_are_never_confused(stage: Stage) -> None:
    """A forbidden cell stays hatched even if a record lies and gives it all the attention; an allowed one is filled."""
    _, record = answered("LM")
    told = record["numbers"]["attention"]["encoder"]
    n, m = record["frames"][-1]["matrices"][0]["shape"]
    full = base64.b64encode(bytes([255] * (told["heads"] * n * m))).decode()
    told = {**told, "data": dict.fromkeys(told["data"], full)}
    numbers = {**record["numbers"], "attention": {"encoder": told}}
    stage.open("lies", {**record, "numbers": numbers}).press("End")
    stage.settle()
    box = stage.state()["layout"]["matrices"][0]
    look = (
        "([x, y, size]) => { const c = document.querySelector('canvas'), r = c.width / c.clientWidth, n = size * r;"
        " const pen = new OffscreenCanvas(n, n).getContext('2d', { willReadFrequently: true });"
        " pen.drawImage(c, x * r, y * r, n, n, 0, 0, n, n); return pen.getImageData(0, 0, n, n).data.join() }"
    )

    def cell(row: int, column: int) -> str:
        painted(stage.tab)
        side = box["size"]
        return stage.tab.evaluate(look, [box["x"] + column * side, box["y"] + row * side, side])

    weighed = (cell(0, 3), cell(3, 0))
    stage.tab.get_by_label("Attention head").select_option("none")
    assert cell(0, 3) == weighed[0] and cell(3, 0) != weighed[1]


def test_layers_and_heads_are_chosen_by_key_and_what_is_not_there_is_asked_for(stage: Stage) -> None:
    run = Run(tiny("BERT", model={"layers": 3}), reviews(), steps=1)
    model = StageModel(next(iter(train(run))).learner, run.corpus)
    for layer in model.learner.model.layers:  # new heads all look everywhere alike
        layer.attn.query.weight.data *= 100
    made = rebuild("MLM", WATCHED, tokenizer=model.corpus.tokenizer)
    whole, top = model.answers(made), model.answers(made, layers=(99,))
    assert list(top["numbers"]["attention"]["encoder"]["data"]) == ["2"], "only what is asked for is sent"
    stage.open("whole", whole).press("End")
    stage.settle()
    pictures = {stage.pixels()}
    for key in (",", ",", "h", "h"):
        stage.press(key)
        pictures.add(stage.pixels())
    assert (stage.state()["layer"], stage.state()["head"]) == (0, 1) and len(pictures) == 5
    stage.edit(top).press("End", ",")
    assert stage.edits() == [{"do": "look", "layer": 1}]
    stage.tab.evaluate(f"(record) => {HANDLE}.update(record)", typeset(model.answers(made, layers=(1,))))
    assert stage.state()["answers"]["layers"][0]["held"] == [1] and stage.state()["layer"] == 1


@pytest.mark.parametrize("objective", ["LM", "PLM", "T5 spans"])
def test_what_a_model_says_fits_at_every_width(stage: Stage, objective: str) -> None:
    stage.open("wide", answered(objective)[1]).press("End")
    for width in (360, 700, 1600):
        stage.tab.set_viewport_size({"width": width, "height": 900})
        stage.tab.wait_for_function(
            f"Math.abs({HANDLE}.state().layout.width - document.querySelector('canvas').clientWidth) < 1"
        )
        assert stage.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        band, layout = stage.state()["answers"]["band"], stage.state()["layout"]
        assert band["x"] >= 0 and band["x"] + band["room"] <= layout["width"]
        for matrix in layout["matrices"]:
            right, bottom = matrix["x"] + matrix["m"] * matrix["size"], band["top"] + band["height"]
            assert right <= band["x"] or matrix["y"] >= bottom, "cards and matrices never overlap"


def test_hostile_text_stays_text(stage: Stage) -> None:
    stage.open("hostile").press("End")
    expect(stage.tab.locator(".stage-title")).to_have_text("<script>alert(6)</script>")
    assert [cell["text"] for cell in stage.lane("inputs").values()] == gallery.HOSTILE
    assert (
        stage.tab.locator("section.stage script, section.stage img, section.stage b:not(.stage-caption b)").count() == 0
    )


@pytest.mark.parametrize("stage", [{"reduced_motion": "reduce", "color_scheme": "dark"}], indirect=True)
def test_calm_and_dark_are_respected_while_it_runs(stage: Stage) -> None:
    stage.open("mlm")
    assert stage.state()["dark"]
    dark = stage.pixels()
    cut = stage.press("ArrowRight").painted()
    assert (cut["frame"], cut["fraction"]) == (1, 0)
    stage.press("ArrowLeft")
    stage.tab.emulate_media(color_scheme="light")
    stage.tab.wait_for_function(f"!{HANDLE}.state().dark")
    assert stage.settle()["frame"] == 0 and stage.pixels() != dark
    app, code = (
        "--panel-on-background-color: #fff",
        "--panel-on-background-color: initial; --vscode-editor-foreground: #ccc",
    )
    for host in (app, code):
        stage.tab.evaluate(f"document.documentElement.style.cssText = '{host}; background: #000'")
        stage.tab.wait_for_function(f"{HANDLE}.state().dark")
        stage.tab.evaluate("document.documentElement.style.cssText = ''")
        stage.tab.wait_for_function(f"!{HANDLE}.state().dark")


@pytest.mark.parametrize("name", ["mass", "longest", "states"])
def test_everything_fits_at_every_width(stage: Stage, name: str) -> None:
    stage.open(name).press("End")
    for width in (360, 520, 800, 1600):
        stage.tab.set_viewport_size({"width": width, "height": 900})
        stage.tab.wait_for_function(
            f"Math.abs({HANDLE}.state().layout.width - document.querySelector('canvas').clientWidth) < 1"
        )
        assert stage.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        layout = stage.state()["layout"]
        for cell in (cell for lane in layout["lanes"] for cell in lane["cells"]):
            assert (
                cell["x"] >= 0
                and cell["x"] + cell["w"] <= layout["width"]
                and cell["y"] + cell["h"] <= layout["height"]
            )
        for matrix in layout["matrices"]:
            assert matrix["size"] >= 4 and matrix["x"] + matrix["m"] * matrix["size"] <= layout["width"]
            assert matrix["y"] + matrix["n"] * matrix["size"] <= layout["height"]


CUT_OFF = """(formulas) => formulas.flatMap((each) => {
  const right = (part) => part.getBoundingClientRect().right;
  const pieces = [...each.querySelectorAll("math > mrow")];
  return pieces.filter((piece) => right(piece) > right(each.parentElement)).map((piece) => piece.textContent);
})"""


def test_every_formula_is_drawn_whole_and_so_are_its_symbols(stage: Stage) -> None:
    turned = [find_objective("CBOW NS").turn({"loss": loss}) for loss in ("hinge", "softmax", "nce")]
    terms = [term for objective in (*objectives().values(), *turned) for term in objective.current_terms]
    fed = {"weight": 1.0, "network": "main", "reader": "inputs", "positions": [1]}
    terms = [{"question": t.target, "latex": t.latex, "symbols": t.meanings, **fed} for t in terms]
    stage.open("formulas", {**gallery.RECORDS["lm"](), "terms": terms})
    formulas = stage.tab.locator(".stage-terms .stage-formula")
    expect(formulas).to_have_count(len(terms))
    for width in (1280, 360):
        stage.tab.set_viewport_size({"width": width, "height": 900})
        painted(stage.tab)
        assert formulas.evaluate_all(CUT_OFF) == []
    said = stage.tab.locator(".stage-explain p .stage-formula").all_inner_texts()
    assert len(said) == sum(len(term["symbols"]) for term in terms)
    assert not re.search(r"tilde|hat|bar|[\\\\{}_]", " ".join(said)), "signs and no commands"


@pytest.mark.parametrize("name", ["MLM", "PLM", "MLM + NSP"])
def test_every_control_is_within_reach_at_360_pixels(stage: Stage, name: str) -> None:
    stage.tab.set_viewport_size({"width": 360, "height": 740})
    for record in (StageStore(objective=name).record(), lockstep([rebuild(each).record() for each in ("LM", "PLM")])):
        for live in (False, True):
            stage.edit(record) if live else stage.open("narrow", record)
            far = "(e) => e.offsetParent && e.getBoundingClientRect().right > 360"
            assert (
                stage.tab.locator("button, select, input").evaluate_all(
                    f"(all) => all.filter({far}).map((e) => e.outerHTML)"
                )
                == []
            )


def test_the_module_serves_a_host_with_a_model(stage: Stage) -> None:
    """anywidget and Panel give `render` a model; a small one stands in for both."""
    stage.open("mlm")
    module = "data:text/javascript;base64," + base64.b64encode(ESM.encode()).decode()
    told = stage.tab.evaluate(
        """async ([module, record]) => {
          const { default: host } = await import(module);
          const values = { record, frame: 1, playing: false }, told = [], hears = {};
          const model = { get: (name) => values[name], save_changes: () => {}, off: (event) => delete hears[event],
            on: (event, act) => (hears[event] = act),
            set: (name, value) => { values[name] = value; told.push([name, value]); } };
          const el = document.body.appendChild(document.createElement("div"));
          const leave = host.render({ model, el });
          const first = el.__stage.state().frame;
          el.querySelector("[aria-label='Last frame']").click();
          values.frame = 2; hears["change:frame"]();
          const second = el.__stage.state().frame;
          values.record = new Map(Object.entries(record)); hears["change:record"]();
          const kept = el.__stage.state().name;
          leave();
          return { first, second, kept, told, left: el.childElementCount, hears: Object.keys(hears).length };
        }""",
        [module, typeset(gallery.mlm())],
    )
    assert told == {
        "first": 1,
        "second": 2,
        "kept": "corrupt",
        "told": [["frame", 4]],
        "left": 0,
        "hears": 0,
    }


def scene(objective: str, **values: Any) -> Any:
    store = StageStore(objective=objective)
    store.param.update(**values)
    assert store.trouble == ""
    return store.record()


def test_a_click_chooses_and_the_next_one_turns_the_action(stage: Stage) -> None:
    stage.edit(scene("MLM", text="We walk here now .", plan="chosen=2 actions=mask"))
    stage.tab.locator("[data-word='4']").click()
    stage.tab.locator("[data-word='2']").click()
    stage.tab.locator(".stage-hint").get_by_role("button", name="unchanged").click()
    stage.tab.locator("[data-word='2']").focus()
    stage.press("ArrowRight", "Enter", "ArrowLeft", "Delete", "Control+z")
    assert stage.edits() == [
        {"do": "choose", "word": 4},
        {"do": "act", "word": 2},
        {"do": "act", "word": 2, "to": "keep"},
        {"do": "choose", "word": 3},
        {"do": "choose", "word": 2},
        {"do": "undo"},
    ]
    expect(stage.tab.locator("[data-word='2']")).to_have_attribute("aria-label", "walk: hidden")


def test_a_drag_makes_a_run_and_its_end_resizes_it(stage: Stage) -> None:
    stage.edit(scene("T5 spans", text="We walk here now with you .", plan="spans=2:2"))
    stage.drag("[data-word='5']", "[data-word='6']")
    stage.drag("[data-span='2:2']", "[data-word='4']")
    stage.tab.locator("[data-word='3']").click()
    stage.tab.locator("[data-span='2:2']").focus()
    stage.press("ArrowLeft")
    assert stage.edits() == [
        {"do": "span", "from": 5, "to": 6},
        {"do": "span", "from": 2, "to": 4, "old": "2:2"},
        {"do": "unspan", "old": "2:2"},
        {"do": "span", "from": 2, "to": 2, "old": "2:2"},
    ]


def test_the_order_the_cut_the_split_and_the_pair_are_moved_by_hand(stage: Stage) -> None:
    stage.edit(scene("PLM", text="we walk home", plan="order=2,1,3 cut=1"))
    stage.drag("[data-at='0']", "[data-at='2']", by=(30, 0))
    stage.tab.locator("[data-unit='3']").focus()
    stage.press("Shift+ArrowLeft")
    stage.tab.locator("[data-cut]").focus()
    stage.press("ArrowRight")
    assert stage.edits() == [{"do": "order", "to": [1, 3, 2]}, {"do": "order", "to": [2, 3, 1]}, {"do": "cut", "to": 2}]
    stage.edit(scene("seq2seq LM", text="we walk home", plan="split=1"))
    stage.drag("[data-split]", "[data-word='2']")
    stage.edit(scene("NSP"))
    stage.tab.locator(".stage-hint").get_by_role("button", name="random").click()
    assert stage.edits() == [{"do": "pair", "to": "random"}]


def test_the_mask_is_painted_by_pointer_and_by_key(stage: Stage) -> None:
    stage.edit(scene("LM", text="we walk home"))
    assert stage.press("r").edits() == [{"do": "reset"}]
    stage.press("m")
    layout = stage.state()["layout"]["matrices"][0]
    x, y = (layout[k] + layout["size"] / 2 for k in ("x", "y"))
    box = stage.tab.locator("canvas").first.bounding_box()
    assert box and stage.state()["painting"]
    stage.tab.mouse.move(box["x"] + x + layout["size"], box["y"] + y)
    stage.tab.mouse.down()
    stage.tab.mouse.move(box["x"] + x + 2 * layout["size"], box["y"] + y, steps=4)
    stage.tab.mouse.up()
    stage.tab.locator("section.stage").focus()
    stage.press("ArrowDown", "Enter")
    assert stage.edits() == [
        {"do": "paint", "matrix": "encoder", "cells": [[0, 1, True], [0, 2, True]]},
        {"do": "paint", "matrix": "encoder", "cells": [[1, 0, False]]},
    ]
    stage.press("End").settle()
    stage.tab.get_by_role("button", name="Answer 2, walk: scored").click()
    stage.tab.get_by_role("button", name="Answer 1, we: scored").press("Enter")
    assert stage.edits() == [
        {"do": "paint", "matrix": "scored", "cells": [[0, 1, False]]},
        {"do": "paint", "matrix": "scored", "cells": [[0, 0, False]]},
    ]


def test_without_a_listener_nothing_can_be_edited(stage: Stage) -> None:
    stage.open("recorded", scene("MLM")).press("m", "n")
    assert not stage.state()["painting"]
    assert stage.tab.locator(".stage-lane [data-word]").count() == 0
    assert not stage.tab.get_by_role("button", name="Resample").is_visible()


def test_a_term_lights_its_positions_and_a_position_its_term(stage: Stage) -> None:
    stage.open("terms", scene("RTD")).press("End")
    terms = stage.tab.locator(".stage-terms button")
    expect(terms.locator(".stage-formula")).to_have_count(2)
    quiet = stage.pixels()
    terms.first.hover()
    assert stage.pixels() != quiet
    chip = stage.lane("inputs")["t0"]
    stage.point({"x": chip["x"] + 5, "y": chip["y"] + 9})
    assert [("lit" in (t.get_attribute("class") or "")) for t in terms.all()] == [False, True]
    expect(stage.tab.locator(".stage-explain")).to_contain_text("second log")


@pytest.mark.parametrize("name", ["MLM", "RTD"])
def test_the_bars_of_the_signal_are_the_engines_shares(stage: Stage, name: str) -> None:
    """One bar where one thing is asked; else one for each question, the main one first (RTD: all beside 15 %)."""
    made = StageStore(objective=name).rebuilt
    measured = measure(made.batch)
    stage.open("signal", made.record())
    bars = stage.tab.get_by_role("meter")
    expect(bars).to_have_count(len(measured))
    main = made.batch.targets[0].name
    asked = [main, *(target for target in measured if target != main)]
    for bar, meter in zip(bars.all(), (measured[target] for target in asked), strict=True):
        filled, whole = bar.locator("i").bounding_box(), bar.bounding_box()
        assert filled and whole
        assert filled["width"] / whole["width"] == pytest.approx(min(1.0, meter.share), abs=0.02)
        assert bar.get_attribute("aria-valuenow") == str(int(100 * min(1.0, meter.share) + 0.5))
        told = rf"^{meter.scored} scored answers? for {meter.read} tokens of text"
        expect(bar.locator("xpath=following-sibling::p[1]")).to_contain_text(re.compile(told))


def test_predict_first_asks_hides_and_scores(stage: Stage) -> None:
    stage.open("guess", scene("LM", text="we walk home")).press("g")
    expect(stage.tab.locator(".stage-quiz span")).to_contain_text("attend to")
    assert stage.state()["layout"]["matrices"] == []
    stage.tab.locator(".stage-quiz").get_by_role("button", name="we", exact=True).click()
    stage.tab.get_by_role("button", name="Reveal").click()
    expect(stage.tab.locator(".stage-quiz span")).to_have_text(re.compile("^[23] of [34]"))
    assert stage.state()["layout"]["matrices"]


def test_the_drawing_has_its_text_as_text_and_the_table_says_every_cell(stage: Stage) -> None:
    stage.open("saved", scene("PLM")).press("End")
    drawn = ElementTree.fromstring(stage.tab.evaluate(f"{HANDLE}.svg()"))
    words = ["".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"happy", "join", "today", "Original"} <= set(words)
    stage.press("t")
    table = stage.tab.locator(".stage-table table").first
    printed = rebuild("PLM", overrides={"order": [3, 5, 6, 8, 2, 1, 4, 7], "cut": 3})
    expect(table.locator("td.open")).to_have_count(sum(map(sum, printed.facts()["attention_mask"]["content"])))
    expect(table.locator("caption")).to_contain_text("entries allowed")
    with stage.tab.expect_download() as saved:
        stage.tab.get_by_role("button", name="Share").click()
        stage.tab.get_by_role("button", name="Query stream").click()
    lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "reader,I,am,happy,to,join,with,you,today" and lines[3] == "happy,0,0,0,0,0,0,0,0"
    for kind, start in (("Picture (PNG)", b"\x89PNG"), ("Drawing (SVG)", b"<svg")):
        with stage.tab.expect_download() as saved:
            stage.tab.get_by_role("button", name="Share").click()
            stage.tab.get_by_role("button", name=kind).click()
        assert Path(saved.value.path()).read_bytes().startswith(start)


@pytest.mark.parametrize("stage", [{"reduced_motion": "reduce"}], indirect=True)
def test_who_wants_no_motion_steps_through_a_storyboard(stage: Stage) -> None:
    stage.open("calm", scene("MLM")).press("b")
    sheets = stage.tab.locator(".stage-story button")
    expect(sheets).to_have_count(len(scene("MLM")["frames"]))
    sheets.nth(2).click()
    expect(sheets.nth(2)).to_have_attribute("aria-current", "true")
    assert stage.state()["frame"] == 2


def test_stages_in_step_share_one_player_whatever_their_frames(stage: Stage) -> None:
    records = [rebuild(name).record() for name in ("LM", "T5 spans", "PLM")]
    stage.open("steps", lockstep(records))
    for step, names in (("corrupt", ["arrange", "corrupt", "choose"]), ("ask", ["ask", "visibility", "ask"])):
        stage.tab.wait_for_function(f"!{HANDLE}.state().moving")
        while stage.tab.evaluate(f"{HANDLE}.state().name") != step:
            stage.press("ArrowRight")
            stage.tab.wait_for_function(f"!{HANDLE}.state().moving")
        assert [s["name"] for s in stage.tab.evaluate(f"{HANDLE}.state()")["stages"]] == names
    stage.tab.get_by_role("slider").fill("0.5")
    assert stage.tab.evaluate(f"{HANDLE}.state().fraction") == 0.5
    stage.tab.evaluate(f"(record) => {HANDLE}.update(record)", typeset(gallery.mlm()))
    expect(stage.tab.locator("section.stage .stage-controls")).to_have_count(1)  # one record is a stage again


@pytest.mark.parametrize("stage", [{"java_script_enabled": False}], indirect=True)
def test_without_scripts_the_last_frame_is_a_picture(stage: Stage) -> None:
    file = stage.folder / "still.html"
    file.write_text(page(rebuild("T5 spans").record()), encoding="utf-8")
    stage.tab.goto(file.as_uri())
    image = stage.tab.locator("figure img").bounding_box()
    assert image and image["width"] > 300 and image["height"] > 200
    expect(stage.tab.locator("figcaption")).to_contain_text("query-key pairs")


LONG_TEXT = " ".join(f"word{number}" for number in range(1, 201))


def shown_part(stage: Stage) -> tuple[int, int]:
    part = stage.painted()["stretch"]
    return part["from"] + 1, part["from"] + part["size"]


def test_a_long_text_is_drawn_in_stretches_below_the_whole_of_it(stage: Stage) -> None:
    stage.open("long", StageStore(objective="LM", text=LONG_TEXT).record())
    stage.press("End").settle()
    assert stage.state()["stretch"] == {"from": 0, "size": 64, "length": 200}
    stage.press("j")
    assert shown_part(stage) == (65, 128)
    assert [cell["text"] for cell in stage.lane("original").values()] == [f"word{k}" for k in range(65, 129)]
    frame = stage.tab.get_by_role("slider", name="Stretch of the text")
    cells = "tokens 65 to 128 of 200; 2080 of 4096 entries allowed here, 20100 of 40000 in all"
    expect(frame).to_have_attribute("aria-valuetext", cells)
    stage.press("ArrowDown")
    assert "'word64' sees 65 of 200 positions" in stage.spoken(), "what is said is true of the whole text"
    frame.focus()
    stage.press("ArrowLeft", "PageDown", "PageDown", "Home")
    assert shown_part(stage) == (1, 64)
    stage.press("End")
    assert shown_part(stage) == (137, 200)
    svg = stage.tab.evaluate(f"{HANDLE}.svg()")
    words = [part.text for part in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert "Tokens 137 to 200 of 200" in words and "word200" in words and "word1" not in words
    stage.tab.get_by_label("Tokens that are drawn").select_option("200")
    assert stage.painted()["stretch"] is None
    assert stage.state()["layout"]["matrices"][0]["n"] == 200


def test_the_frame_is_dragged_and_what_is_done_by_hand_is_meant_for_the_whole_text(stage: Stage) -> None:
    store = StageStore(objective="MLM", text=LONG_TEXT)
    stage.edit(store.record())
    stage.press("End").settle()
    box = stage.tab.locator(".stage-map").bounding_box()
    assert box
    side = box["width"] - 6
    x, y = box["x"] + 3 + 0.16 * side, box["y"] + 3 + 0.16 * side  # the middle of tokens 1 to 64 of 200
    stage.tab.mouse.move(x, y)
    stage.tab.mouse.down()
    stage.tab.mouse.move(x, y + 0.25 * side, steps=4)
    stage.tab.mouse.up()
    first, last = shown_part(stage)
    assert abs(first - 51) <= 2 and last == first + 63
    stage.tab.locator(f"[data-word='{first + 2}']").click()
    assert stage.edits()[-1]["word"] == first + 2
    stage.tab.locator("section.stage").focus()
    stage.press("m")
    matrix = stage.state()["layout"]["matrices"][0]
    at = {k: matrix[k] + (n + 0.5) * matrix["size"] for k, n in (("x", 5), ("y", 2))}
    stage.tab.locator("canvas").first.click(position=at)
    assert stage.edits()[-1]["cells"] == [[first + 1, first + 4, False]]


@pytest.mark.parametrize("stage", [{"color_scheme": "dark"}], indirect=True)
def test_a_long_text_fits_into_a_narrow_cell_and_two_of_them_move_together(stage: Stage) -> None:
    records = [rebuild(name, LONG_TEXT, longest=200).record() for name in ("PLM", "BART infilling")]
    stage.tab.set_viewport_size({"width": 360, "height": 740})
    stage.open("narrow", lockstep(records))
    assert stage.tab.evaluate("document.documentElement.scrollWidth") <= 360
    first, second = (each["stretch"] for each in stage.state()["stages"])
    assert (first["size"], second["size"]) == (20, 20)
    stage.tab.locator(".stage-map").first.press("End")
    ends = [each["stretch"]["from"] + each["stretch"]["size"] for each in stage.painted()["stages"]]
    assert ends == [each["stretch"]["length"] for each in stage.state()["stages"]]


def test_the_keys_of_the_app_say_where_they_are_heard_or_choose_in_a_notebook(stage: Stage) -> None:
    stage.open("mlm")
    for key in ("3", "0", "c", "/"):
        stage.press("f", key)
        expect(stage.tab.locator(".stage-hint")).to_contain_text("choose one of the first ten")
    stage.open("steps", lockstep([rebuild(name).record() for name in ("LM", "MLM")]))
    for key, words in (("c", "choose one of the first ten"), ("f", "forks a training run")):
        stage.press(key)
        expect(stage.tab.locator(".stages-said")).to_contain_text(words)
    stage.press("ArrowRight")
    expect(stage.tab.locator(".stages-said")).to_have_text("")
    stage.edit({**rebuild("LM").record(), "alone": True}).press("3", "0", "c", "/")
    asked = [{"do": "objective", "to": 3}, {"do": "objective", "to": 10}, {"do": "compare"}]
    assert stage.edits() == asked
    expect(stage.tab.locator(".stage-hint")).to_contain_text("searches all objectives in the app")
    stage.edit(rebuild("LM").record()).press("3", "c", "/")
    assert stage.edits() == [], "in the app the list of objectives hears them"


def test_in_step_every_key_is_heard_wherever_the_focus_is(stage: Stage) -> None:
    store = StageStore(objective="LM", compared=["MLM"])
    store.edit({"do": "paint", "matrix": "encoder", "cells": [[2, 4, True]]})
    stage.edit(store.record())
    both = f"{HANDLE}.state().stages"
    stage.tab.locator("section.stages").focus()
    stage.press("End", "ArrowDown")
    painted(stage.tab)
    assert [each["reader"]["row"] for each in stage.tab.evaluate(both)] == [0, 0]
    stage.press("Escape", "l")
    painted(stage.tab)
    first, second = stage.tab.evaluate(both)
    assert first["leak"] and first["reader"]["locked"] and second["reader"] is None
    stage.press("n", "r", "Control+z", "m")
    assert [edit["do"] for edit in stage.edits()] == ["roll", "reset", "undo"]
    assert stage.tab.evaluate(f"{both}[0].painting")
    stage.press("Escape")
    assert not stage.tab.evaluate(f"{both}[0].painting")
    stage.tab.locator("section.stage").nth(1).focus()
    stage.press("Home", "ArrowRight")
    stage.tab.wait_for_function(f"{HANDLE}.state().frame === 1 && !{HANDLE}.state().moving")
    assert all(not each["playing"] and not each["moving"] for each in stage.tab.evaluate(both)), "one player moves both"
    stage.press(" ")
    stage.tab.wait_for_function(f"{HANDLE}.state().playing")
    assert all(not each["playing"] for each in stage.tab.evaluate(both))


def test_in_step_a_layer_and_a_head_are_chosen_for_all(stage: Stage) -> None:
    models = [
        StageModel(
            next(iter(train(Run(tiny("BERT", model={"layers": 2}), reviews(), seed=k, steps=1)))).learner, reviews()
        )
        for k in (0, 1)
    ]
    made = rebuild("MLM", WATCHED, tokenizer=reviews().tokenizer)
    stage.edit(lockstep([models[0].answers(made, layers=(1,)), models[1].answers(made)]))
    eyes = f"{HANDLE}.state().stages.map((each) => [each.layer, each.head])"
    bar = stage.tab.locator(".stages-bar")
    bar.get_by_label("Layer").select_option("layer 1")
    assert stage.edits() == [{"do": "look", "layer": 0}], "the first has sent its last layer only"
    assert stage.tab.evaluate(eyes) == [[0, -1]] * 2
    bar.get_by_label("Attention head").select_option("head 2")
    assert stage.tab.evaluate(eyes) == [[0, 1]] * 2
    for focus in (stage.tab.locator("section.stages"), stage.tab.locator("section.stage").nth(1)):
        focus.focus()
        stage.press(".")
    assert stage.tab.evaluate(eyes) == [[0, 1]] * 2, "two steps of two layers"
    expect(bar.get_by_label("Layer")).to_have_value("0")


def test_without_a_run_f_says_what_it_forks_and_where(stage: Stage) -> None:
    stage.open("mlm").press("f")
    expect(stage.tab.locator(".stage-hint")).to_contain_text("forks a training run")
    stage.press("?")
    expect(stage.tab.locator(".stage-keys")).to_contain_text("fork the training run")
    stage.edit(rebuild("LM").record()).press("f")
    assert stage.edits()[-1]["do"] == "fork"
