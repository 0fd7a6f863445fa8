"""AdamW and Muon of torch without its compiler, which they import when they are made: 100 MB and two seconds."""

from inspect import unwrap

import torch
from torch.optim import Optimizer


class _Uncompiled(Optimizer):
    """The functions of an optimiser below the decorators that keep the compiler off them."""

    add_param_group = unwrap(Optimizer.add_param_group)
    zero_grad = unwrap(Optimizer.zero_grad)
    state_dict = unwrap(Optimizer.state_dict)
    load_state_dict = unwrap(Optimizer.load_state_dict)


class AdamW(_Uncompiled, torch.optim.AdamW):
    """AdamW (arXiv:1711.05101); its step is not differentiable."""

    step = torch.no_grad()(unwrap(torch.optim.AdamW.step))


class Muon(_Uncompiled, torch.optim.Muon):
    """Muon (Jordan et al., 2024), for matrices."""
