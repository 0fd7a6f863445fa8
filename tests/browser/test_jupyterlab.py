"""Journey: a person opens the first notebook in JupyterLab, steps through a live stage, and finds the app's tile."""

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

from tests.browser.test_stage_page import FIND
from tests.browsing import PATIENCE, shot
from widgets.app.server import free_port

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
TOKEN = "a-token-for-this-test"
STARTED = 4 * PATIENCE
"""Milliseconds until something that starts a process (Lab, a kernel, the app) must have come up on a busy machine."""

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
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real JupyterLab, below a prefix as on a hub, without the settings of whoever runs the tests."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(NOTEBOOKS, home / "notebooks", ignore=shutil.ignore_patterns(".*", "__pycache__"))
    notification = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    notification.parent.mkdir(parents=True)
    notification.write_text(QUIET)
    port = free_port()
    address = f"http://localhost:{port}/user/me/"
    command = [Path(sys.prefix) / "bin" / "jupyter", "lab", f"--notebook-dir={home / 'notebooks'}", "--no-browser"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    command += ["--ServerApp.base_url=/user/me/", "--expose-app-in-browser", "--allow-root"]
    environment = os.environ | {name: str(home / folder) for name, folder in FOLDERS.items()}
    with open(home / "log", "w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until_up(f"{address}api", server, home / "log")
        yield address
    finally:
        server.terminate()
        server.wait(30)


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
    frame.wait_for_function(f"() => {{ const s = ({FIND})(); return s && ({condition}); }}", timeout=PATIENCE)
    return frame.evaluate(FIND)


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


def test_a_notebook_cell_shows_the_live_stage_and_keeps_its_keys(page: Page, lab: str) -> None:
    page.goto(f"{lab}lab/tree/00_start_here.ipynb?reset&token={TOKEN}")
    expect(page.get_by_role("button", name="| Idle")).to_be_visible(timeout=STARTED)
    page.locator(".jp-Notebook .jp-Cell").first.click()
    for _ in range(5):
        page.keyboard.press("Shift+Enter")
    stage = page.locator("section.stage")
    stage.wait_for(timeout=STARTED)
    expect(page.locator("[id^=stage-]")).to_have_count(0)  # the picture without a kernel stays in reserve
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


def test_the_tile_opens_the_app_behind_the_login_of_jupyter(page: Page, lab: str) -> None:
    page.goto(f"{lab}lab?reset&token={TOKEN}")
    with listening(page):
        page.locator(".jp-LauncherCard", has_text="Playground").click(timeout=STARTED)
    inside = page.frame_locator("iframe")
    inside.get_by_role("tab", name="Stage").wait_for()
    app = next(frame for frame in page.frames if frame.url.startswith(f"{lab}playground/"))
    stage_when(app, "s.layout.lanes.length")
    inside.get_by_label("your sentence").fill("the cat saw the dog near the old barn")
    stage_when(app, "s.layout.lanes[0].cells.length === 9")
    inside.locator("section.wall canvas").wait_for()
    shot(page, "lab-app")


def test_the_app_has_an_address_of_its_own(page: Page, lab: str) -> None:
    with listening(page):
        page.goto(f"{lab}playground/?token={TOKEN}", timeout=STARTED)
    page.get_by_role("tab", name="Stage").wait_for()
    expect(page).to_have_title("Pretraining Playground")
    stage_when(page, "s.layout.lanes.length")


def test_a_stranger_does_not_get_in(page: Page, lab: str) -> None:
    page.goto(f"{lab}playground/")
    expect(page).to_have_url(re.compile("/login"))
