"""What all tests share: one thread, properties that are the same in every run, and `--quick`."""

from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile("playground", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("playground")
torch.set_num_threads(1)

HERE = Path(__file__).parent
LEFT_OUT = ("browser", "notebooks", "fuzz")
"""The folders that `--quick` leaves out."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="one case of every test, none that is slow, no browser")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--quick`, the folders that take long are not even read."""
    return True if config.getoption("--quick") and collection_path in [HERE / name for name in LEFT_OUT] else None


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """With `--quick`, make only the first case of each parameter: making all 15,000 takes longer than the tests."""
    if metafunc.config.getoption("--quick"):
        metafunc.definition.own_markers[:] = [_first_case(mark) for mark in metafunc.definition.own_markers]


def _first_case(mark: pytest.Mark) -> pytest.Mark:
    """The same mark with the first of its cases that is not slow; other marks as they are."""
    if mark.name != "parametrize" or len(mark.args) != 2:
        return mark
    names, values = mark.args[0], list(mark.args[1])
    first = next((k for k, v in enumerate(values) if not any(m.name == "slow" for m in getattr(v, "marks", ()))), 0)
    ids = mark.kwargs.get("ids")
    picked = {"ids": [list(ids)[first]]} if ids is not None and not callable(ids) else {}
    return pytest.mark.parametrize(names, values[first : first + 1], **{**mark.kwargs, **picked}).mark


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--quick`, keep the first case of every test."""
    if not config.getoption("--quick"):
        return
    first = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            first.setdefault((item.path, getattr(item, "originalname", item.name)), item)
    kept = list(first.values())
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
