"""What all tests share: one thread, and properties that are the same in every run."""

import pytest
import torch
from hypothesis import HealthCheck, settings

from tests.texts import SURVEY, tokens_of_words

settings.register_profile("playground", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("playground")
torch.set_num_threads(1)


@pytest.fixture
def survey():
    """The survey's sentence as a batch of one row, each word a token."""
    return tokens_of_words(SURVEY)
