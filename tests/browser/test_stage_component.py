"""The stage in a real browser: it steps, scrubs, speaks, sorts, follows the theme, and never runs its data."""

import base64
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page

sys.path.insert(0, str(Path(__file__).parent))
import stage_gallery as gallery

from widgets.scene import js, page, standalone, svg
from widgets.scene.hosts import ESM

HANDLE = "document.querySelector('[id^=stage-]').__stage"


class Stage:
    """A page with one stage, and short words for what a person does with it."""

    def __init__(self, tab: Page, folder: Path) -> None:
        self.tab, self.folder = tab, folder

    def open(self, name: str) -> "Stage":
        file = self.folder / f"{name}.html"
        file.write_text(page(gallery.RECORDS[name](), name), encoding="utf-8")
        self.tab.goto(file.as_uri())
        self.tab.wait_for_function(f"{HANDLE} !== undefined")
        self.tab.locator("section.stage").focus()
        return self

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

    def pixels(self) -> str:
        return self.tab.evaluate("document.querySelector('canvas').toDataURL()")

    def colours(self) -> int:
        """How many different colours the canvas shows, coarsely."""
        return self.tab.evaluate(
            "() => { const c = document.querySelector('canvas'), copy = new OffscreenCanvas(c.width, c.height);"
            " const pen = copy.getContext('2d', { willReadFrequently: true }); pen.drawImage(c, 0, 0);"
            " const d = pen.getImageData(0, 0, c.width, c.height).data, seen = new Set();"
            " for (let i = 0; i < d.length; i += 4 * 97) seen.add(`${d[i] >> 4} ${d[i + 1] >> 4} ${d[i + 2] >> 4}`);"
            " return seen.size }"
        )

    def spoken(self) -> str:
        return self.tab.locator("canvas").get_attribute("aria-label") or ""

    def lane(self, name: str) -> dict[str, Any]:
        cells = next(lane for lane in self.state()["layout"]["lanes"] if lane["name"] == name)["cells"]
        return {cell["key"]: cell for cell in cells}


@pytest.fixture
def stage(browser: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A page from a file; any request that leaves the machine, any error and any dialogue fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **getattr(request, "param", {}))
    tab, trouble = context.new_page(), []
    tab.add_init_script("window.alerts = []; window.alert = (text) => window.alerts.push(text);")
    local = ("file:", "data:", "blob:", "http://127.0.0.1", "http://localhost")
    tab.on("request", lambda sent: None if sent.url.startswith(local) else trouble.append(sent.url))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("console", lambda said: trouble.append(said.text) if said.type in ("error", "warning") else None)
    tab.on("dialog", lambda dialogue: (trouble.append(dialogue.message), dialogue.dismiss()))
    yield Stage(tab, tmp_path)
    alerts = tab.evaluate("window.alerts") if not tab.is_closed() and tab.url != "about:blank" else []
    context.close()
    assert not trouble and not alerts


def test_keys_step_through_the_frames_and_words_follow(stage: Stage) -> None:
    stage.open("mlm")
    assert stage.state()["name"] == "text"
    stage.press("ArrowRight")
    assert stage.settle()["name"] == "arrange"
    stage.press("ArrowRight", "ArrowRight", "ArrowLeft")
    assert stage.settle()["name"] == "choose"
    assert "3 of 8 tokens are chosen." in stage.spoken()
    assert stage.tab.locator(".stage-caption").inner_text().split("\n")[0].startswith("Choose")
    assert stage.press("End").settle()["name"] == "ask"
    assert stage.tab.get_by_role("button", name="Step forward").is_disabled()
    assert stage.press("Home").settle()["frame"] == 0
    assert stage.tab.locator(".stage-where").inner_text() == "Text (1/6)"


def test_the_range_scrubs_between_frames(stage: Stage) -> None:
    stage.open("t5")
    scrub = stage.tab.get_by_role("slider")
    scrub.fill("2.5")
    state = stage.state()
    assert (state["frame"], round(state["fraction"], 2)) == (2, 0.5)
    assert scrub.get_attribute("aria-valuetext") == "Fold, 4 of 6"
    flying = stage.lane("targets")["t3"]
    stage.set(2)
    start = stage.lane("inputs")["t3"]
    stage.set(3)
    end = stage.lane("targets")["t3"]
    assert start["y"] < flying["y"] < end["y"], "a folded word flies from the inputs to the targets"
    assert "t3" not in stage.lane("inputs") and stage.lane("inputs")["+a"]["state"] == "inserted"


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
    assert stage.tab.get_by_role("button", name="Sort axes by order").get_attribute("aria-pressed") == "true"
    stage.tab.get_by_role("button", name="Sort axes by order").click()
    stage.settle()
    stage.tab.mouse.move(0, 0)
    assert stage.pixels() == before


def test_rows_are_read_by_key_and_by_pointer(stage: Stage) -> None:
    stage.open("plm").press("End", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown")
    reader = stage.state()["reader"]
    assert (reader["matrix"], reader["label"], reader["locked"]) == ("query", "happy", True)
    stage.tab.wait_for_function("document.querySelector('canvas').getAttribute('aria-label').includes('sees')")
    assert stage.spoken() == "Predict: 'happy' sees 4 of 8 places, not itself."
    assert stage.press("Escape").state()["reader"] is None
    content = stage.state()["layout"]["matrices"][0]
    x, y = content["x"] + content["size"] * 1.5, content["y"] + content["size"] * 0.5
    stage.tab.locator("canvas").hover(position={"x": x, "y": y})
    assert stage.state()["reader"] == {"matrix": "content", "row": 0, "column": 1, "label": "I", "locked": False}
    stage.tab.locator("canvas").click(position={"x": x, "y": y})
    stage.tab.mouse.move(0, 0)
    assert stage.state()["reader"]["locked"]
    chip = stage.lane("inputs")["t3"]
    stage.tab.locator("canvas").hover(position={"x": chip["x"] + 5, "y": chip["y"] + 5})
    assert stage.state()["reader"]["row"] == 3


def test_it_plays_pauses_and_takes_another_record(stage: Stage) -> None:
    stage.open("lm").press("+", "+", "+", " ")
    assert stage.state()["speed"] == 4 and stage.state()["playing"]
    stage.tab.wait_for_function(f"{HANDLE}.state().frame === 2")
    assert not stage.press(" ").state()["playing"]
    stage.settle()
    stage.set(2)
    stage.tab.evaluate(f"(record) => {HANDLE}.update(record)", gallery.mlm())
    assert stage.state()["name"] == "visibility", "a new record keeps the frame of the same name"
    stage.tab.evaluate(f"(record) => {HANDLE}.update(record)", {"frames": []})
    assert "no text" in stage.spoken()
    stage.tab.evaluate(f"{HANDLE}.destroy()")
    assert stage.tab.locator("section.stage").count() == 0


def test_weights_are_drawn_for_the_head_that_is_picked(stage: Stage) -> None:
    stage.open("lm").press("End")
    mean = stage.pixels()
    stage.tab.get_by_label("Attention head").select_option("2")
    stage.tab.wait_for_function(f"{HANDLE}.state().head === 2")
    stage.tab.evaluate("new Promise(requestAnimationFrame)")
    head = stage.pixels()
    stage.tab.get_by_label("Attention head").select_option("none")
    stage.tab.evaluate("new Promise(requestAnimationFrame)")
    assert len({mean, head, stage.pixels()}) == 3


def test_hostile_text_stays_text(stage: Stage) -> None:
    stage.open("hostile").press("End")
    assert stage.tab.locator(".stage-title").inner_text() == "<script>alert(6)</script>"
    assert [cell["text"] for cell in stage.lane("inputs").values()] == gallery.HOSTILE
    assert (
        stage.tab.locator("section.stage script, section.stage img, section.stage b:not(.stage-caption b)").count() == 0
    )


@pytest.mark.parametrize("stage", [{"reduced_motion": "reduce", "color_scheme": "dark"}], indirect=True)
def test_calm_and_dark_are_respected_while_it_runs(stage: Stage) -> None:
    stage.open("mlm")
    assert stage.state()["dark"]
    dark = stage.pixels()
    stage.press("ArrowRight")
    stage.tab.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))")
    assert (stage.state()["frame"], stage.state()["fraction"]) == (1, 0)
    stage.press("ArrowLeft")
    stage.tab.emulate_media(color_scheme="light")
    stage.tab.wait_for_function(f"!{HANDLE}.state().dark")
    assert stage.settle()["frame"] == 0 and stage.pixels() != dark
    stage.tab.evaluate("document.documentElement.style.cssText = '--panel-on-background-color: #fff; background: #000'")
    stage.tab.wait_for_function(f"{HANDLE}.state().dark")


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
        [module, gallery.mlm()],
    )
    assert told == {
        "first": 1,
        "second": 2,
        "kept": "choose",
        "told": [["frame", 5]],
        "left": 0,
        "hears": 0,
    }


@pytest.mark.parametrize("stage", [{"java_script_enabled": False}], indirect=True)
def test_without_scripts_the_last_frame_is_a_picture(stage: Stage) -> None:
    file = stage.folder / "still.html"
    file.write_text(page(gallery.t5()), encoding="utf-8")
    stage.tab.goto(file.as_uri())
    image = stage.tab.locator("figure img").bounding_box()
    assert image and image["width"] > 300 and image["height"] > 200
    assert "sees its past" in stage.tab.locator("figcaption").inner_text()


@pytest.mark.parametrize("name", sorted(gallery.RECORDS))
def test_stills_are_xml_with_their_words_as_text(name: str) -> None:
    record = gallery.RECORDS[name]()
    drawn = ElementTree.fromstring(svg(record))
    words = "".join(drawn.itertext())
    assert all(cell["text"][:3] in words for lane in record["frames"][-1]["lanes"] for cell in lane["cells"])
    assert svg(record, "text") == svg(record, 0)


def test_scripts_cannot_be_closed_by_data() -> None:
    hostile = {"a": "</script>\u2028&"}
    assert js(hostile) == '{"a": "\\u003c/script\\u003e\\u2028\\u0026"}'
    assert standalone(gallery.hostile()).count("</script>") == 1
