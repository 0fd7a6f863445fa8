"""A class in the browser: a teacher begins it, two students guess and train, one closes the tab, the band goes on."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browsing import shot, visit, wait_until
from widgets.app import server
from widgets.app.public import Public, reachable
from widgets.state.classroom import STEPS, TeacherStore


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, Public]]:
    """An app that others reach below a path, and what it knows."""
    public, port = Public(prefix="/play"), server.free_port()
    thread = server.start(port, public=public)
    yield f"http://localhost:{port}/play", public
    thread.stop()


def join(page: Page, guess: str) -> None:
    page.get_by_label("my guess").fill(guess)
    page.get_by_role("button", name="Save my guess and train").click()
    expect(page.get_by_text("You are the")).to_be_visible()


def test_a_teacher_and_two_students(
    page: Page, profile: BrowserContext, served: tuple[str, Public], tmp_path: Path, endless: None, monkeypatch
) -> None:
    monkeypatch.setattr(TeacherStore.param.steps, "default", STEPS[-1])  # a seed that is done stays in the class
    address, public = served
    at, (first, second) = f"{address}/class/ten-A", (profile.new_page() for _ in range(2))
    visit(first, at)
    expect(first.get_by_text("has not begun yet")).to_be_visible()
    visit(page, f"{at}?teacher")
    page.get_by_label("key").fill(public.key)
    page.get_by_label("key").press("Enter")
    page.get_by_role("button", name="Start the class").click()
    expect(page.get_by_text(f"Join at {reachable(at)}")).to_be_visible()
    join(first, "2.5")
    room = public.classes.find("ten-A")
    assert room is not None
    visit(second, at)
    wait_until(page, lambda: room.losses)
    expect(second.get_by_text("Save your guess to see the curves")).to_be_visible()
    expect(second.locator(".bk-Figure")).to_be_hidden()
    join(second, "3,1")
    assert [(member.seed, member.guess) for member in room.members] == [(0, 2.5), (1, 3.1)]
    expect(page.get_by_text(room.members[1].name)).to_be_visible()
    assert page.locator(".wide").evaluate("table => table.scrollWidth <= table.clientWidth"), "no word of it is cut"
    page.get_by_role("button", name="Show the guesses").click()
    expect(page.get_by_role("cell", name="3.1", exact=True)).to_be_visible()
    wait_until(page, lambda: max(room.losses, default=0) >= 10)
    shot(page, "class-teacher")
    shot(first, "class-student")
    second.close()
    wait_until(page, lambda: [member.seed for member in room.members] == [0])
    assert room.members[0].session.state == "running"
    with page.expect_download() as arriving:
        page.get_by_role("button", name="CSV").click()
    arriving.value.save_as(tmp_path / "class.csv")
    [line] = csv.DictReader((tmp_path / "class.csv").read_text().splitlines())
    assert (line["name"], line["guess (nats)"]) == (room.members[0].name, "2.5")
    first.close()
    wait_until(page, lambda: not room.members)
