"""What all tests share: one thread, and properties that are the same in every run."""

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile("playground", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("playground")
torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several workers every file stays together on one; the browser's files, the longest, are dealt first."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(str(item.path)))
