"""How the app serves a class: many visits at once, each of which opens the Train page, trains, and goes on clicking.

Every visit is a client of Bokeh's own protocol over a websocket, as a browser is, but it draws nothing: twenty browsers
would measure themselves. It reads every message and says that its page is drawn, as a page does.
A click is answered when the first message arrives that changes what the click is to change (a button that turns on or
off, a page that is made). Measured are lost visits and clicks, the time to the answers, the memory of the server
before, at most and after all have left, and how far the runs came.

    python benchmarks/class.py --sessions 20 --seconds 120
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

import psutil
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

PATIENCE = 60.0  # seconds after which a click or a visit counts as lost
AWAY = 1001  # why a browser closes the connection of a page that is left (RFC 6455, sec. 7.4.1)
TRAIN_PAGE, ZOO_PAGE = 1, 4


@dataclass
class Visit:
    """One page as its server sees it: what has arrived, and how long each click waited for its answer."""

    socket: WebSocketClientConnection
    ids: dict[str, str] = field(default_factory=dict)
    answers: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    opened: float = 0.0
    step: int = 0
    positions: list[int] = field(default_factory=list)
    _awaited: list[tuple[Callable[[str], bool], asyncio.Future[None]]] = field(default_factory=list)
    _number: int = 0

    @classmethod
    async def open(cls, address: str) -> "Visit":
        """Ask for the page as a browser does, connect, and take the document."""
        longest: dict[str, Any] = {"request_timeout": PATIENCE, "connect_timeout": PATIENCE}
        page = await AsyncHTTPClient(max_clients=1_000).fetch(address, **longest)
        token = re.search(r'"token":\s*"([^"]+)"', page.body.decode())
        assert token is not None, "the server is full"
        where = HTTPRequest(f"ws://{urlsplit(address).netloc}{urlsplit(address).path.rstrip('/')}/ws", **longest)
        socket = await websocket_connect(where, subprotocols=["bokeh", token[1]], max_message_size=10**9)
        visit = cls(socket)
        await visit._message()  # its ACK
        visit._send("PULL-DOC-REQ", {})
        visit._read(await visit._message())
        return visit

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        self._number += 1
        for part in ({"msgid": f"load{self._number}", "msgtype": kind}, {}, content):
            self.socket.write_message(json.dumps(part))

    async def _message(self) -> str:
        """The content of the next message; the server has closed the connection where there is none."""
        head = await self._part()
        _, content = await self._part(), await self._part()
        for _ in range(2 * json.loads(head).get("num_buffers", 0)):
            await self._part()
        return content

    async def _part(self) -> str:
        part = await self.socket.read_message()
        if part is None:
            raise ConnectionError("the server has closed the connection")
        return part if isinstance(part, str) else ""

    def _read(self, content: str) -> None:
        """Take over what a message says: models by their labels, the step of the run, the place in the line."""
        if '"attributes"' in content:
            self._find(json.loads(content))
        for said in re.findall(r"b&gt;(\d[\d,]*) of [\d,]+&lt;", content):
            self.step = max(self.step, int(said.replace(",", "")))
        self.positions += map(int, re.findall(r"it is number (\d+) of", content))
        for test, answer in self._awaited:
            if not answer.done() and test(content):
                answer.set_result(None)

    def _find(self, part: Any) -> None:
        """Models by what they are called: "Train" for the button, "Train data" for what it is made of."""
        if isinstance(part, list):
            for each in part:
                self._find(each)
        elif isinstance(part, dict):
            data = part.get("attributes", {}).get("data") if isinstance(part.get("attributes"), dict) else None
            if isinstance(data, dict) and isinstance(data.get("attributes"), dict):
                name = data["attributes"].get("label") or re.sub(r"\d+$", "", data.get("name", ""))
                self.ids.setdefault(str(name), part["id"])
                self.ids.setdefault(f"{name} data", data["id"])
            for each in part.values():
                self._find(each)

    async def listen(self) -> None:
        """Read until the connection ends; whoever waits is told."""
        while True:
            self._read(await self._message())

    def change(self, name: str, attribute: str, value: object) -> None:
        """Tell the server a value that the page has changed."""
        self._patch(kind="ModelChanged", model={"id": self.ids[f"{name} data"]}, attr=attribute, new=value)

    def press(self, name: str) -> None:
        """Press a button, in the words in which a browser tells it."""
        targets = [[name, None] for name in ("target", "currentTarget", "relatedTarget")]
        data = {"type": "map", "entries": targets}
        self._tell("dom_event", [["model", {"id": self.ids[name]}], ["node", "click"], ["data", data]])

    def arrive(self) -> None:
        """Say that the page is there and drawn."""
        self._tell("document_ready")

    def _tell(self, name: str, entries: list[Any] | None = None) -> None:
        values = {"type": "map", **({"entries": entries} if entries else {})}
        event = {"type": "event", "name": name, "values": values}
        self._patch(kind="MessageSent", msg_type="bokeh_event", msg_data=event)

    def _patch(self, **event: Any) -> None:
        self._send("PATCH-DOC", {"events": [event]})

    async def until(self, there: Callable[[str], bool]) -> None:
        """Wait for a message of which something is true."""
        answer = asyncio.get_running_loop().create_future()
        self._awaited.append((there, answer))
        await asyncio.wait_for(answer, PATIENCE)
        self._awaited = [each for each in self._awaited if each[1] is not answer]

    async def click(self, act: Callable[[], None], what: str, answered: Callable[[str], bool]) -> None:
        """Do something and note how long the answer took."""
        begun = time.perf_counter()
        act()
        try:
            await self.until(answered)
        except TimeoutError:
            self.lost.append(what)
        else:
            self.answers.append(time.perf_counter() - begun)

    async def switch(self, name: str, label: str, on: bool) -> None:
        """Press a button that turns the button called Train on or off."""
        train = self.ids["Train data"]

        def answered(content: str) -> bool:
            changed = (e for e in json.loads(content).get("events", ()) if e.get("attr") == "disabled")
            return any(e["model"]["id"] == train and e["new"] is not on for e in changed)

        await self.click(lambda: self.press(name), label, answered)


async def spend(address: str, seconds: float, chance: random.Random, start: asyncio.Barrier) -> Visit:
    """One visit: open, train, then pause, go on and look at another page until the time is over."""
    begun = time.perf_counter()
    try:
        visit = await Visit.open(f"{address}/?page=train")
    except BaseException:
        await start.wait()  # the others begin all the same
        raise
    listening = asyncio.create_task(visit.listen())
    try:
        visit.arrive()
        while "Train" not in visit.ids and time.perf_counter() < begun + PATIENCE:
            await asyncio.sleep(0.1)
        visit.opened = time.perf_counter() - begun
        await start.wait()
        if "Train" not in visit.ids:
            visit.lost.append("the page")
            return visit
        end = time.perf_counter() + seconds
        await visit.switch("Train", "Train", on=False)
        while time.perf_counter() < end and not listening.done():
            await asyncio.sleep(chance.uniform(2.0, 6.0))
            if chance.random() < 0.25:
                other = chance.choice((0, 2, 3, ZOO_PAGE))
                turn = partial(visit.change, "Tabs", "active", other)
                await visit.click(turn, "page", lambda content: '"page"' in content or '"search"' in content)
                visit.change("Tabs", "active", TRAIN_PAGE)
            else:
                await visit.switch("Pause", "Pause", on=True)
                await asyncio.sleep(chance.uniform(0.5, 1.5))
                await visit.switch("Train", "Resume", on=False)
    finally:
        if listening.done():
            visit.lost.append("the visit")
        listening.cancel()
        visit.socket.close(AWAY)
    return visit


@dataclass(frozen=True)
class Load:
    """What was measured: seconds to the answers and until pages were there, what was lost, megabytes of the server,
    steps of the runs, the last place in the line that was seen, seconds of the server's processor.
    """

    answers: list[float]
    lost: list[str]
    memory: dict[str, float]
    opened: list[float]
    steps: list[int]
    positions: int
    processor: float

    @property
    def report(self) -> str:
        """The figures in lines."""
        ninety_five = quantiles(self.answers, n=20)[-1] if len(self.answers) > 1 else max(self.answers, default=0.0)
        memory = ", ".join(f"{name} {size:,.0f} MB" for name, size in self.memory.items())
        return "\n".join([
            f"clicks: {len(self.answers)} answered, median {median(self.answers):.2f} s, 95 % {ninety_five:.2f} s, "
            f"longest {max(self.answers):.2f} s; lost: {self.lost or 'none'}",
            f"pages opened at once: median {median(self.opened):.1f} s, longest {max(self.opened):.1f} s",
            f"steps of the runs: {min(self.steps)} to {max(self.steps)}, {sum(self.steps)} in all; longest line seen: "
            f"{self.positions}; processor time of the server {self.processor:.0f} s",
            f"memory: {memory}",
        ])  # fmt: skip


async def measure(address: str, sessions: int, seconds: float, server: psutil.Process, rest: float = 25.0) -> Load:
    """Let so many visits train at once, and look at the server before, meanwhile and after."""
    size = lambda: server.memory_info().rss / 1e6  # noqa: E731
    memory, ready = {"at rest": size()}, asyncio.Barrier(sessions)
    begun = sum(server.cpu_times()[:2])
    sizes = [size()]

    async def watch() -> None:
        while True:
            sizes.append(size())
            await asyncio.sleep(0.5)

    watching = asyncio.create_task(watch())
    work = (spend(address, seconds, random.Random(k), ready) for k in range(sessions))
    visits = await asyncio.gather(*work, return_exceptions=True)
    watching.cancel()
    there = [visit for visit in visits if isinstance(visit, Visit)]
    lost = [f"visit: {visit!r}" for visit in visits if not isinstance(visit, Visit)]
    processor = sum(server.cpu_times()[:2]) - begun
    await asyncio.sleep(rest)
    memory |= {"at most": max(sizes), "after all have left": size()}
    return Load(
        [answer for visit in there for answer in visit.answers],
        lost + [one for visit in there for one in visit.lost],
        memory,
        [visit.opened for visit in there],
        [visit.step for visit in there],
        max((position for visit in there for position in visit.positions), default=0),
        processor,
    )


@contextmanager
def served() -> Iterator[tuple[str, psutil.Process]]:
    """The app in a process of its own, in an empty folder; its address and its process."""
    from widgets.app.server import free_port

    port, root = free_port(), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    command = [sys.executable, "-m", "playground", "app", "--public", "--no-browser", "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPATH": root}
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield f"http://localhost:{port}", psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(30)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--rounds", type=int, default=2, help="so often, on the same server: what is not given back?")
    given = parser.parse_args()
    with served() as (address, server):
        asyncio.run(measure(address, 1, 3.0, server))  # the first visit fills what all share
        for turn in range(given.rounds):
            found = asyncio.run(measure(address, given.sessions, given.seconds, server))
            load = os.getloadavg()[0]
            print(f"round {turn + 1}, {given.sessions} visits for {given.seconds:g} s, load {load:.1f}")
            print(found.report, flush=True)


if __name__ == "__main__":
    main()
