"""Loaded by the process that workers are copies of: the first optimiser of a process loads a third of torch."""

import torch

torch.optim.AdamW([torch.zeros(1)], fused=True)
