"""Where there is little memory, or a GPU that computes wrongly, the visit begins smaller and the page says why."""

import pytest
import torch

from playground import devices
from playground.corpora import open_corpus
from playground.errors import UserError
from playground.training.memory import estimate
from playground.zoo import entries, entry_named
from widgets.app import limits
from widgets.app import main as app
from widgets.app.public import shared_quota
from widgets.state.train.store import TrainStore


@pytest.fixture
def asked():
    """The check of a device is made once per process; here it is made for every test."""
    devices.agrees.cache_clear()
    yield
    devices.agrees.cache_clear()


def apple(monkeypatch, answers):
    """A machine with an Apple GPU that gives these answers to the check."""
    real = devices._checked
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(devices, "_checked", lambda name: answers(real("cpu")) if name == "mps" else real(name))


def test_an_apple_gpu_that_computes_as_the_cpu_is_used(monkeypatch, asked):
    apple(monkeypatch, lambda right: [each * (1 + 1e-5) for each in right])
    assert (devices.available(), devices.doubt()) == (("mps", "cpu"), "")


def broken(_):
    raise NotImplementedError("The operator is not there")


@pytest.mark.parametrize("answers", [lambda right: [right[0], *(-each for each in right[1:])], broken])
def test_one_that_does_not_is_left_alone_and_the_page_says_so(monkeypatch, asked, answers):
    apple(monkeypatch, answers)
    assert devices.available() == ("cpu",) and devices.pick().type == "cpu"
    [said] = limits.notices()
    assert "Apple GPU" in said and said.endswith("Everything runs on the CPU.")
    with pytest.raises(UserError, match="Apple GPU of this machine is not used"):
        devices.pick("mps")


def test_a_device_that_gives_no_number_is_not_trusted(monkeypatch, asked):
    apple(monkeypatch, lambda right: [each * float("nan") for each in right])
    assert not devices.agrees("mps")


def test_where_memory_is_little_a_visit_begins_small_and_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("MEM_LIMIT", str(2 * 1024**3))
    store = TrainStore(tmp_path)
    limits.fit(store)
    assert (store.steps, store.workers) == (limits.SHORT, 1)
    [said] = limits.notices()
    assert said.startswith("This session has 2.1 GB of memory") and f"{limits.SHORT} steps" in said
    main = app.app(tmp_path).main
    assert said in main[0].object, "it stands above everything else"
    monkeypatch.setenv("MEM_LIMIT", str(64 * 1024**3))
    monkeypatch.setattr(limits, "container_limit", lambda: None)
    assert limits.notices() == []


def test_the_limit_of_the_container_counts_where_nobody_says_less(monkeypatch):
    monkeypatch.delenv("MEM_LIMIT", raising=False)
    monkeypatch.setattr(limits, "container_limit", lambda: 1_500_000_000)
    assert limits.limit() == 1_500_000_000 and limits.little()
    monkeypatch.setenv("MEM_LIMIT", "1000000000")
    assert limits.limit() == 1_000_000_000
    monkeypatch.setattr(limits, "container_limit", lambda: None)
    monkeypatch.delenv("MEM_LIMIT")
    assert limits.limit() is None and not limits.little()


@pytest.mark.parametrize(
    ("room", "visits", "each"),
    [
        (1 << 30, 3, 124_580_608),
        (2 << 30, 13, 111_344_896),
        (24 << 30, limits.MOST_VISITS, 626_745_094),
        (500_000_000, 1, 110_000_000),
    ],
)
def test_places_and_the_share_of_each_come_from_the_memory_that_is_there(monkeypatch, room, visits, each):
    monkeypatch.delenv("MEM_LIMIT", raising=False)
    monkeypatch.setattr(limits, "machine", lambda: 64 << 30)
    monkeypatch.setattr(limits, "container_limit", lambda: room)
    assert (limits.most_visits(), limits.memory_of_visit()) == (visits, each)
    assert shared_quota(2).memory == each
    monkeypatch.setattr(limits, "container_limit", lambda: None)
    monkeypatch.setattr(limits, "machine", lambda: room)
    assert limits.most_visits() == visits


def test_every_entry_fits_into_the_smallest_share():
    for entry in map(entry_named, entries()):
        assert estimate(entry, len(open_corpus(entry.corpus).tokenizer)) < limits.VISIT, entry.name
