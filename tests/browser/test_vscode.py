"""VS Code, as far as it can be had without the editor: what its notebook webview forbids, paints and forwards.

It shows a widget on a page of its own: with a content security policy, in colours that are CSS variables, under a body
whose class names the theme, in a box that is white in every theme; it imports the module from a blob and sends every
key that the page lets through to the editor, where "m" or Ctrl+Z would act on the cell.
"""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browsing import painted, shot, wait_until
from tests.live import live_widget
from widgets.animation import js
from widgets.animation.widget import ESM
from widgets.state.stage.store import StageStore

POLICY = (
    "default-src 'none'; script-src 'nonce-webview' blob:; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Stricter than the editor's own, which also lets eval and its own resources through."""

THEMES = {
    "vscode-dark": ("#cccccc", "#1f1f1f"),
    "vscode-light": ("#3b3b3b", "#ffffff"),
    "vscode-high-contrast": ("#ffffff", "#000000"),
}
"""The class of the body, and the editor's ink and paper in it."""

WEBVIEW = """<!doctype html>
<html lang="en" style="{colours}"><head><meta charset="utf-8"><title>webview</title>
<meta http-equiv="Content-Security-Policy" content="{policy}">
<base href="https://file+.vscode-resource.vscode-cdn.net/notebooks/">
<style>
  :root {{ --jp-content-font-color1: rgba(0, 0, 0, .87); }}
  body {{ background: transparent; color: var(--vscode-editor-foreground); overflow: hidden; padding: 0; }}
  table, thead, tr, th, td, tbody {{ border: none !important; }}
  tr:nth-child(even) {{ background-color: rgba(130, 130, 130, .08); }}
  html {{ background: var(--vscode-editor-background); }}
  .cell-output-ipywidget-background {{ background: white !important; }}
</style></head>
<body class="{theme}" data-vscode-theme-kind="{theme}">
<div id="container"><div class="cell-output-ipywidget-background"><div id="output"></div></div></div>
<script nonce="webview">
  self.require = {{}};
  window.forwarded = [];
  window.refused = [];
  window.told = [];
  addEventListener("keydown", (event) => forwarded.push(event.key));
  addEventListener("securitypolicyviolation", (event) => refused.push(event.violatedDirective + " " + event.sample));
  window.values = {{ record: {record}, frame: 0, playing: false, editable: true, edit: {{}} }};
  window.hears = {{}};
  const model = {{
    get: (name) => values[name],
    set: (name, value) => {{ values[name] = value; told.push([name, value]); }},
    save_changes() {{}},
    on: (event, act) => (hears[event] = act),
    off: (event) => delete hears[event],
  }};
  const address = URL.createObjectURL(new Blob([{module}], {{ type: "text/javascript" }}));
  import(address).then(async ({{ default: widget }}) => {{
    URL.revokeObjectURL(address);
    window.leave = await widget.render({{ model, el: document.getElementById("output") }});
  }});
</script></body></html>"""

STATE = "document.getElementById('output').__stage?.state()"


def opened(page: Page, folder: Path, record: Any, theme: str) -> Page:
    """The webview with a stage in it."""
    text = WEBVIEW.format(colours=colours(theme), policy=POLICY, theme=theme, record=js(record), module=js(ESM))
    (folder / "webview.html").write_text(text, encoding="utf-8")
    page.goto((folder / "webview.html").as_uri())
    page.locator("section.stage, section.stages").first.wait_for()
    return painted(page)


def colours(theme: str) -> str:
    ink, paper = THEMES[theme]
    return f"--vscode-editor-foreground: {ink}; --vscode-foreground: {ink}; --vscode-editor-background: {paper};"


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[k : k + 2], 16)) for k in (1, 3, 5))})"


@pytest.mark.parametrize("theme", THEMES)
def test_the_stage_runs_and_is_scrubbed_under_the_policy_of_a_webview(page: Page, tmp_path: Path, theme: str) -> None:
    record = live_widget(StageStore(objective="MLM")).record
    opened(page, tmp_path, record, theme)
    state = page.evaluate(STATE)
    assert state["name"] == "text" and state["dark"] == (theme != "vscode-light")
    ink, paper = map(rgb, THEMES[theme])
    styles = "(part) => { const s = getComputedStyle(part); return [s.color, s.backgroundColor] }"
    assert page.locator("section.stage").evaluate(styles) == [ink, paper]
    assert page.locator(".cell-output-ipywidget-background").evaluate(styles)[1] == "rgba(0, 0, 0, 0)"
    expect(page.locator(".stage-terms .stage-formula")).to_have_count(len(record["terms"]))
    assert page.locator(".stage-terms math mi").count() > 2
    last = len(record["frames"]) - 1
    page.get_by_role("slider", name="Animation step").fill(str(last))
    wait_until(page, lambda: page.evaluate("values.frame") == last)
    assert page.evaluate(STATE)["name"] == record["frames"][last]["name"]
    drawn = "document.querySelector('canvas').toDataURL().length"
    assert page.evaluate(drawn) > 5_000
    shot(page, f"webview-{theme}")
    page.locator("[data-word='2']").click()
    wait_until(page, lambda: page.evaluate("values.edit.edits?.length") == 1)
    assert page.evaluate("values.edit.edits[0]")["do"] == "choose"
    assert page.evaluate("refused") == []
    page.evaluate("leave()")
    assert page.evaluate("Object.keys(hears)") == []


def test_the_policy_of_the_webview_bites(browser: Browser, tmp_path: Path) -> None:
    """Else the tests here would show nothing: markup made of text and the network are refused."""
    context = browser.new_context()
    tab = opened(context.new_page(), tmp_path, live_widget(StageStore()).record, "vscode-dark")
    tab.evaluate(
        """() => {
          try { new DOMParser().parseFromString("<a/>", "application/xml"); } catch { forwarded.push("no markup"); }
          fetch("https://example.org").catch(() => forwarded.push("no network"));
        }"""
    )
    wait_until(tab, lambda: tab.evaluate("refused.length") >= 2)
    wait_until(tab, lambda: tab.evaluate("forwarded.length") >= 2)
    assert tab.evaluate("forwarded") == ["no markup", "no network"]
    context.close()


def test_keys_of_the_stage_stay_there_and_its_theme_follows(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, live_widget(StageStore(objective="LM", text="we walk home")).record, "vscode-dark")
    page.locator("section.stage").focus()
    for key in ("ArrowRight", " ", "p", "m", "Escape", "h", "n", "r", "3", "c", "f", "?", "b", "Control+z"):
        page.keyboard.press(key)
    assert page.evaluate("forwarded.filter((key) => key !== 'Control')") == []
    page.keyboard.press("F5")
    assert page.evaluate("forwarded.includes('F5')"), "what is not the stage's goes on to the editor"
    dressed = (
        "([colours, name]) => { document.documentElement.style.cssText = colours; document.body.className = name }"
    )
    page.evaluate(dressed, [colours("vscode-light"), "vscode-light"])
    wait_until(page, lambda: not page.evaluate(STATE)["dark"])
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("button", name="Picture (PNG)")).to_be_visible()
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)  # there is no address that would open it
    with page.expect_download() as saved:
        page.get_by_role("button", name="Drawing (SVG)").click()
    assert Path(saved.value.path()).read_bytes().startswith(b"<svg")
    assert page.evaluate("refused") == []


def test_several_in_step_and_a_long_text_run_there_too(page: Page, tmp_path: Path) -> None:
    store = StageStore(objective="PLM", text="we walk " * 50, compared=["LM"])
    record = live_widget(store).record
    assert len(record["records"]) == 2
    opened(page, tmp_path, record, "vscode-dark")
    page.get_by_role("slider", name="Animation step").first.fill("1")
    wait_until(page, lambda: page.evaluate("values.frame") == 1)
    page.locator(".stage-map").first.press("End")
    painted(page)
    ends = [each["stretch"]["from"] + each["stretch"]["size"] for each in page.evaluate(STATE)["stages"]]
    assert ends == [each["stretch"]["length"] for each in page.evaluate(STATE)["stages"]]
    assert page.evaluate("refused") == []
