"""What all tests share: one thread, and properties that are the same in every run."""

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile("playground", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("playground")
torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several workers, browser and notebook tests share one and every other file stays together on one."""
    for item in items:
        folder = item.path.parent.name
        group = "real" if folder in {"browser", "notebooks"} else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
