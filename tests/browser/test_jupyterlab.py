"""Journeys in JupyterLab: a live stage is stepped through, an order is dragged and kept, the app's tile is found."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Frame, Page, expect
from psutil import Process

from tests.browser.pages import STATE, steps
from tests.browsing import PATIENCE, shot, wait_until
from widgets.app.server import free_port

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-for-this-test"
STARTED = 4 * PATIENCE
"""Milliseconds until something that starts a process (Lab, a kernel, the app) must have come up on a busy machine."""

MEMORY = 2 << 30
"""Bytes of a session on Binder."""

QUIET = '{"fetchNews": "false", "checkForUpdates": false, "doNotDisturbMode": true}'
"""Settings of a Lab that asks no other machine for news or newer versions."""

FOLDERS = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
}
"""Where this Lab keeps what it would else keep in the home of the person."""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A real JupyterLab as Binder starts it, below a prefix, with a token and 2 GB: its address and its process."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", home / "notebooks", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    notification = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    notification.parent.mkdir(parents=True)
    notification.write_text(QUIET)
    port = free_port()
    address = f"http://localhost:{port}/user/me/"
    command = [ROOT / "binder" / "start", Path(sys.prefix) / "bin" / "jupyter", "lab"]
    command += [f"--notebook-dir={home / 'notebooks'}", "--no-browser"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    command += ["--ServerApp.base_url=/user/me/", "--expose-app-in-browser", "--allow-root"]
    environment = os.environ | {name: str(home / folder) for name, folder in FOLDERS.items()}
    environment["MEM_LIMIT"] = str(MEMORY)
    with open(home / "log", "w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until_up(f"{address}api", server, home / "log")
        yield address, server.pid
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture
def lab(started: tuple[str, int]) -> str:
    """The address of the JupyterLab."""
    return started[0]


def wait_until_up(address: str, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + STARTED / 1000
    while time.monotonic() < end:
        assert server.poll() is None, f"JupyterLab ended: {log.read_text()[-3000:]}"
        try:
            with urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not come up: {log.read_text()[-3000:]}")


def stage_when(frame: Page | Frame, condition: str) -> dict:
    """The stage's state `s` once it meets a condition written in JavaScript."""
    frame.wait_for_function(f"() => {{ const s = {STATE}; return s && ({condition}); }}", timeout=PATIENCE)
    return frame.evaluate(STATE)


def listening(page: Page) -> AbstractContextManager:
    """Waits until the app, which starts with its first visit, hears what a person does."""
    return page.expect_console_message(lambda m: "document idle" in m.text, timeout=STARTED)


def cells(page: Page) -> list[int]:
    """Which cell of the notebook is active, and how many there are."""
    return page.evaluate("(({content: n}) => [n.activeCellIndex, n.widgets.length])(jupyterapp.shell.currentWidget)")


def press(page: Page, key: str, condition: str) -> None:
    """Press a key on the stage; what it does is seen, and Lab did nothing with it."""
    before = cells(page)
    page.keyboard.press(key)
    stage_when(page, condition)
    assert cells(page) == before, f"Lab took {key} for itself"
    expect(page.locator("section.stage")).to_be_focused()


@pytest.mark.guarded
def test_a_notebook_cell_shows_the_live_stage_and_keeps_its_keys(page: Page, lab: str) -> None:
    page.goto(f"{lab}lab/tree/00_start_here.ipynb?reset&token={TOKEN}")
    expect(page.get_by_role("button", name="| Idle")).to_be_visible(timeout=STARTED)
    page.locator(".jp-Notebook .jp-Cell").first.click()
    for _ in range(5):
        page.keyboard.press("Shift+Enter")
    stage = page.locator("section.stage")
    stage.wait_for(timeout=STARTED)
    expect(page.locator("[id^=stage-]")).to_be_hidden()  # the picture without a kernel stays in reserve
    assert stage_when(page, "s.layout.lanes.length")["name"] == "text"
    stage.focus()
    expect(stage).to_be_focused()
    press(page, "ArrowRight", "s.name === 'choose' && !s.moving")
    for key in ("ArrowDown", "x", "a", "Enter"):  # in Lab: next cell, cut, new cell above, edit
        press(page, key, "s.name === 'choose' && !s.playing")
    press(page, " ", "s.playing && s.frame > 1")
    press(page, " ", "!s.playing")
    press(page, "Home", "s.name === 'text'")
    press(page, "End", "s.name === 'ask' && !s.moving && s.layout.matrices.length")
    shot(page, "lab-stage-light")
    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    stage_when(page, "s.dark")
    shot(page, "lab-stage-dark")


NOTEBOOK = "jupyterapp.shell.currentWidget"


def rows_of_both_matrices(page: Page) -> list[str]:
    """Who may attend to whom on the last frame of the first stage, as the table in words says it."""
    stage = page.locator("section.stage").first
    stage.focus()
    page.keyboard.press("End")
    stage_when(page, "s.name === 'ask' && !s.moving && s.layout.matrices.length === 2")
    page.keyboard.press("t")
    rows = stage.locator(".stage-table tbody tr")
    expect(rows).to_have_count(16)
    said = rows.all_inner_texts()
    page.keyboard.press("t")
    return said


def test_an_order_is_dragged_and_is_still_there_when_the_notebook_is_opened_again(page: Page, lab: str) -> None:
    address = f"{lab}lab/tree/04_can_a_model_read_in_any_order.ipynb?reset&token={TOKEN}"
    page.goto(address)
    expect(page.get_by_role("button", name="| Idle")).to_be_visible(timeout=STARTED)
    quick = "cell.setSource(cell.source.replace('quick = False', 'quick = True'))"
    page.evaluate(f"(() => {{ const cell = {NOTEBOOK}.model.sharedModel.cells[1]; {quick} }})()")
    assert page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')"), "every cell holds what it asserts"
    page.evaluate(f"{NOTEBOOK}.content.scrollToItem(4)")
    before = rows_of_both_matrices(page)
    page.locator(".stage-order").first.scroll_into_view_if_needed()
    eighth, first = (page.locator(f".stage-order [data-at='{k}']").first.bounding_box() for k in (3, 5))
    assert eighth and first
    page.mouse.move(eighth["x"] + 8, eighth["y"] + 8)
    page.mouse.down()
    page.mouse.move(first["x"] + first["width"] + 3, first["y"] + 8, steps=6)
    page.mouse.up()
    stage_when(page, "String(s.plan.order) === '3,5,6,2,1,8,4,7'")
    after = rows_of_both_matrices(page)
    assert before[:8] != after[:8] and before[8:] != after[8:], "content stream and query stream"
    shot(page, "lab-order")
    page.evaluate(f"{NOTEBOOK}.content.activeCellIndex = 6")
    assert page.evaluate("jupyterapp.commands.execute('notebook:run-cell')")
    expect(page.locator(".jp-Cell", has_text="print(orders.value)")).to_contain_text("[3, 5, 6, 2, 1, 8, 4, 7]")
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    page.evaluate(f"{NOTEBOOK}.sessionContext.shutdown()")
    page.evaluate("jupyterapp.commands.execute('application:close')")
    again = page.context.new_page()  # Lab writes an error where the model of a widget is gone; we show what was kept
    again.goto(address, timeout=STARTED)
    again.locator(".jp-Notebook section.stage, .jp-Notebook figure").first.wait_for(timeout=STARTED)
    again.evaluate(f"{NOTEBOOK}.content.scrollToItem(4)")
    assert stage_when(again, "String(s.plan.order) === '3,5,6,2,1,8,4,7'")
    assert rows_of_both_matrices(again) == after
    expect(again.get_by_text("Error displaying widget").locator("visible=true")).to_have_count(0)
    shot(again, "lab-opened-again")


def test_the_tile_opens_the_app_behind_the_login_of_jupyter(page: Page, lab: str) -> None:
    page.goto(f"{lab}lab?reset&token={TOKEN}")
    with listening(page):
        page.locator(".jp-LauncherCard", has_text="Playground").click(timeout=STARTED)
    inside = page.frame_locator("iframe")
    inside.get_by_role("tab", name="Stage").wait_for()
    app = next(frame for frame in page.frames if frame.url.startswith(f"{lab}playground/"))
    inside.locator("section.wall canvas").wait_for()
    shot(page, "lab-app")
    inside.get_by_label("your sentence").fill("the cat saw the dog near the old barn")
    inside.get_by_role("button", name="MLM: given").press("Enter")
    stage_when(app, "s.layout.lanes[0].cells.length === 9")


def test_the_app_has_an_address_of_its_own(page: Page, lab: str) -> None:
    with listening(page):
        page.goto(f"{lab}playground/?token={TOKEN}", timeout=STARTED)
    page.get_by_role("tab", name="Stage").wait_for()
    expect(page).to_have_title("Pretraining Playground")
    expect(page.get_by_text("This session has 2.1 GB of memory, so it begins small")).to_be_visible()
    stage_when(page, "s.layout.lanes.length")


def test_lab_a_kernel_and_the_app_that_trains_stay_inside_the_memory_of_a_session(
    page: Page, started: tuple[str, int]
) -> None:
    address, process = started
    with listening(page):
        page.goto(f"{address}playground/?page=train&token={TOKEN}", timeout=STARTED)
    page.get_by_role("button", name="Train", exact=True).click()
    wait_until(page, lambda: steps(page) > 20)
    session = [Process(process), *Process(process).children(recursive=True)]
    taken = [(" ".join(each.cmdline()[1:4]), each.memory_full_info().uss) for each in session]
    assert {"ipykernel_launcher", "panel"} <= {word for name, _ in taken for word in name.split()}, taken
    assert sum(size for _, size in taken) < MEMORY, taken


def test_a_stranger_does_not_get_in(page: Page, lab: str) -> None:
    page.goto(f"{lab}playground/")
    expect(page).to_have_url(re.compile("/login"))
