"""Loaded before workers are copied: the first optimiser of a process imports a third of torch."""

import torch

torch.optim.AdamW([torch.zeros(1)], fused=True)
