"""What all tests share: one thread, and properties that are the same in every run."""

import torch
from hypothesis import HealthCheck, settings

settings.register_profile("playground", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("playground")
torch.set_num_threads(1)
