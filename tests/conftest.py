"""What all tests share: one thread, properties that are the same in every run, and the tiers of `tests/tiers.py`."""

import gc
from itertools import compress
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

from tests import tiers

settings.register_profile("playground", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("playground")
torch.set_num_threads(1)
gc.set_threshold(20_000, 10, 20)


@pytest.fixture(autouse=True, scope="session")
def _own_data(tmp_path_factory):
    """No test writes into the list of runs of the person who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


OF_ALL = pytest.StashKey[int]()
"""How many cases there are with `--all`."""

TOLD: dict[tiers.Tier, str] = {
    "all": "every case of every test",
    "sample": "laws are sampled and the longest tests left out; `make test-all` (--all) runs the rest",
    "quick": "one case of every test, no browser, nothing that trains; `make test-all` (--all) runs the rest",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="every case of every test")
    parser.addoption("--quick", action="store_true", help="one case of every test, no browser, nothing that trains")


def tier(config: pytest.Config) -> tiers.Tier:
    """How many of the tests are asked for."""
    return "all" if config.getoption("--all") else "quick" if config.getoption("--quick") else "sample"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[OF_ALL] = 0


def pytest_report_header(config: pytest.Config) -> str:
    return f"cases: {TOLD[tier(config)]}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if tier(config) == "quick" and collection_path in tiers.NOT_QUICK else None


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Choose the cases before they are made: making all of them takes longer than running the sample."""
    metafunc.config.stash[OF_ALL] += max(1, len(metafunc._calls))
    if metafunc._calls:
        whole = metafunc.definition.get_closest_marker("whole") is not None
        test = metafunc.definition.nodeid
        metafunc._calls = tiers.cases(test, metafunc._calls, whole, tier(metafunc.config))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that a tier does not hold."""
    kept = [tiers.stays(item, tier(config)) for item in items]
    config.hook.pytest_deselected(items=[item for item, stays in zip(items, kept, strict=True) if not stays])
    items[:] = compress(items, kept)


def pytest_collection_finish() -> None:
    """What is loaded by now stays; to look for cycles in it again and again takes a seventh of a run."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log) -> tiers.OneBrowser | None:
    return tiers.OneBrowser(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells the first process how many cases there are."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["of all"] = session.config.stash[OF_ALL]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    node.config.stash[OF_ALL] = getattr(node, "workeroutput", {}).get("of all", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    ran = sum(len(terminalreporter.stats.get(end, ())) for end in ("passed", "failed", "skipped"))
    of_all = f" of {config.stash[OF_ALL]:,}" if tier(config) == "sample" else ""
    terminalreporter.write_line(f"{ran:,}{of_all} cases ran: {TOLD[tier(config)]}")
