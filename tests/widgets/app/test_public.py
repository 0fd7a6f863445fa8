"""The app served to others: what the options mean, who gets in, what a visit may take, and when it ends."""

import socket
from gzip import decompress as gunzip
from http.cookiejar import CookieJar
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen

import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from playground.cli import main as command
from playground.errors import UserError
from playground.training.system.turns import Turns
from tests.runs import becomes
from widgets.app import main, public, server, session
from widgets.app.public import Public, shared_quota
from widgets.pages.queue import RULES, line
from widgets.state.app import Store
from widgets.state.quota import Quota
from widgets.state.train import extra_seeds


def test_the_options_of_the_command_line(tmp_path, monkeypatch):
    file = tmp_path / "password"
    file.write_text("open sesame \nnot this line\n")
    asked = public.public("/a/b/", str(file), ["https://play.example.org", "localhost:8080"])
    assert (asked.prefix, asked.password, asked.scheme) == ("/a/b", "open sesame", "https")
    assert asked.origins == ("play.example.org", "localhost:8080")
    assert "sesame" not in repr(asked)
    monkeypatch.setenv(public.VARIABLE, "from outside")
    assert public.public("", "env", []).password == "from outside"


@pytest.mark.parametrize(
    ("prefix", "password", "origins", "said"),
    [
        ("no path", "", [], "not a path"),
        ("/a?b", "", [], "not a path"),
        ("", "/nowhere/at/all", [], "cannot be read"),
        ("", "env", [], "is empty"),
        ("", "", ["*"], "is not a host"),
        ("", "", ["a b"], "is not a host"),
        ("", "", ["ftp://play.example.org"], "is not a host"),
        ("", "", ["http://["], "is not a host"),
    ],
)
def test_options_that_mean_nothing_are_refused(prefix, password, origins, said, monkeypatch):
    monkeypatch.delenv(public.VARIABLE, raising=False)
    with pytest.raises(UserError, match=said):
        public.public(prefix, password, origins)


def test_without_public_the_options_of_others_are_refused(capsys):
    assert command(["app", "--no-browser", "--prefix", "/a"]) == 2
    assert "add --public" in capsys.readouterr().err


@pytest.fixture(scope="module")
def address():
    """A served app below a path and behind a password."""
    port = server.free_port()
    thread = server.start(port, public=Public("/a/b", ("play.example.org",), password="sesame"))
    with socket.socket() as probe:
        assert becomes(lambda: probe.connect_ex(("127.0.0.1", port)) == 0)
    yield f"http://127.0.0.1:{port}/a/b"
    thread.stop()


@pytest.fixture
def visitor():
    """Somebody with a browser that keeps cookies."""
    return build_opener(HTTPCookieProcessor(CookieJar()))


def enter(visitor, address, password, after="/a/b/ended"):
    return visitor.open(f"{address}/login", urlencode({"password": password, "next": after}).encode())


def test_who_does_not_know_the_password_stays_outside(visitor, address, monkeypatch):
    monkeypatch.setattr(public, "WRONG_WAITS", 0.0)
    asked = visitor.open(f"{address}/?page=train")
    assert asked.url.endswith("/a/b/login?next=%2Fa%2Fb%2F%3Fpage%3Dtrain") and b'type="password"' in asked.read()
    with pytest.raises(HTTPError) as refused:
        enter(visitor, address, "Sesame")
    assert refused.value.code == 403 and b"not the password" in refused.value.read()
    assert b'type="password"' in visitor.open(f"{address}/").read()


def test_who_knows_it_gets_in_and_to_no_other_place(visitor, address):
    assert enter(visitor, address, "sesame").url == f"{address}/ended"
    assert b"bokeh" in visitor.open(f"{address}/").read()
    for elsewhere in ("//evil.example", "https://evil.example/a/b/", "/a/bc", "/a/b/\\evil"):
        assert enter(visitor, address, "sesame", elsewhere).url == f"{address}/"


def test_the_address_to_join_at_is_one_that_other_machines_know(monkeypatch):
    monkeypatch.setattr(public, "addresses", lambda port: tuple(f"{n}:{port}" for n in ("127.0.0.1", "10.0.0.7", "vm")))
    for own in ("localhost", "127.0.0.1"):
        assert public.reachable(f"http://{own}:5006/play/class/a") == "http://10.0.0.7:5006/play/class/a"
        assert public.reachable(f"http://{own}:5006/class/a", ["play.example.org"]) == "http://play.example.org/class/a"
    joined = public.reachable("http://localhost:5006/class/a", ["localhost:5006", "play.example.org"], "https")
    assert joined == "https://play.example.org/class/a"
    for kept in ("https://play.example.org/class/a", "http://10.0.0.9:5006/class/a"):
        assert public.reachable(kept, ["localhost:5006"]) == kept
    assert public.reachable("http://localhost:5006/class/a", ["localhost:5006"]) == "http://localhost:5006/class/a"


@pytest.mark.parametrize("path", ["/", "/?page=train", "/class/monday"])
def test_a_health_check_asks_with_head_and_begins_no_visit(path, address):
    before = len(main._visits)
    with urlopen(Request(f"{address}{path}", method="HEAD")) as answer:
        assert (answer.status, answer.read()) == (200, b"")
    assert len(main._visits) == before


def test_a_page_is_found_at_the_address_that_people_type(visitor, address):
    asked = enter(visitor, address, "sesame", "/a/b/train?corpus=reviews")
    assert asked.url == f"{address}/?page=train&corpus=reviews" and b"bokeh" in asked.read()
    assert [name.lower() for name in main.PAGES] == session.ADDRESSES


def test_pages_of_other_hosts_cannot_connect(address):
    (served,) = [s for s, *_ in main.pn.state._servers.values() if f":{s.port}/" in address]
    assert served._tornado.websocket_origins == {"play.example.org:80"}


def test_scripts_go_to_others_compressed(address):
    script = f"{address}/static/js/bokeh.min.js"
    with urlopen(script) as plain, urlopen(Request(script, headers={"Accept-Encoding": "gzip"})) as small:
        whole, packed = plain.read(), small.read()
        assert small.headers["Content-Encoding"] == "gzip" and gunzip(packed) == whole and 2 * len(packed) < len(whole)


# what one visit may take


@pytest.fixture
def crowd(tmp_path):
    """Two visits that share a machine on which one trains at a time."""
    quota = Quota(Turns(1, 60.0), upload=1_000, runs=2, checkpoints=2, memory=200_000_000)
    stores = [Store(tmp_path / name, quota) for name in "ab"]
    yield stores
    for store in stores:
        store.close()


def test_visits_train_in_turns_and_read_their_place(crowd):
    first, second = crowd
    assert line(first) == RULES
    first.train.begin().start()
    assert becomes(lambda: first.train.session.in_line.trains)
    second.train.begin().start()
    assert becomes(lambda: second.position == 1)
    assert line(second).startswith("Your training is waiting: it is number 1 of 1 in the queue.")
    assert line(first).startswith("Your training is running. 1 other waits.")
    first.train.end()
    assert becomes(lambda: second.train.session.in_line.trains)
    assert line(second) == "Your training is running. Nobody waits."
    assert becomes(lambda: second.train.kept())
    assert [len(store.train.kept()) for store in crowd] == [1, 1], "each sees its own run alone"


def test_no_visit_takes_more_than_its_share(crowd):
    store = crowd[0]
    store.train.keep("long.txt", b"x" * 2_000)
    assert "at most 1,000" in store.train.trouble
    store.train.seeds = 3
    session = store.train.begin()
    assert extra_seeds.siblings(store.train) is None, "no processes of one's own"
    assert session.run.save_every >= store.train.steps // 2
    store.train.shapes = {"RoBERTa": {"width": 512, "layers": 8}}
    assert store.train.begin() is None and "one visit has 200" in store.train.trouble


def test_a_full_list_of_runs_is_refused_in_a_sentence(crowd, monkeypatch):
    store = crowd[0]
    monkeypatch.setattr(store.train, "kept", lambda: (1, 2))
    assert store.train.begin() is None and store.train.trouble.startswith("2 runs are saved, the maximum for one visit")


def test_an_idle_visit_ends_sooner_in_a_crowd_and_not_while_it_trains(monkeypatch, tmp_path):
    visit, now = Document(), SimpleNamespace(seconds=0.0)
    store = SimpleNamespace(busy=False, ended=False)
    monkeypatch.setattr(main, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    monkeypatch.setattr(main, "idle", lambda _, since: (now.seconds - since) / 60)
    with set_curdoc(visit):
        look = main.end_when_idle(store, lambda: setattr(store, "ended", True))

    def ended(minutes, busy=False):
        now.seconds, store.busy, store.ended = 60.0 * minutes, busy, False
        look()
        return store.ended

    assert not ended(public.IDLE_MINUTES - 1) and ended(public.IDLE_MINUTES + 1)
    assert not ended(2 * public.IDLE_MINUTES, busy=True) and not ended(2 * public.IDLE_MINUTES + 6)
    monkeypatch.setattr(main, "_visits", dict.fromkeys(range(main.limits.most_visits())))
    assert ended(2 * public.IDLE_MINUTES + 6)


def test_one_processor_is_left_to_answer():
    assert [shared_quota(cores).turns.at_once for cores in (1, 2, 8)] == [1, 1, 7]
