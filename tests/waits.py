"""Counts what Python waits for: a GPU computes beside it, and must not be asked for a value in every step."""

from collections import Counter

import torch
from torch.utils._python_dispatch import TorchDispatchMode

ASKING = (
    "aten::_local_scalar_dense aten::nonzero aten::equal aten::is_nonzero aten::masked_select aten::_unique2 "
    "aten::unique_consecutive aten::unique_dim aten::bincount aten::histc aten::repeat_interleave.Tensor "
    "aten::_assert_async"
).split()
"""Operations whose answer, or its shape, must come from the device before Python goes on."""


class Asked(TorchDispatchMode):
    """Counts the operations that wait for the device, by their names.

    On the CPU copies are not counted, since there are none; within `second_device` those from and to the CPU are.
    """

    def __init__(self):
        super().__init__()
        self.seen = Counter()

    def __enter__(self):
        plain = torch.Tensor.tolist

        def counted(values):
            self.seen["tolist"] += 1
            return plain(values)

        torch.Tensor.tolist = counted
        return super().__enter__()

    def __exit__(self, *why):
        del torch.Tensor.tolist  # what the tensors inherit
        super().__exit__(*why)

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        name = operation.name()
        if name in ASKING or crosses(name, args, kwargs or {}):
            self.seen[name] += 1
        return operation(*args, **(kwargs or {}))


def crosses(name, args, kwargs):
    """Whether an operation copies between devices, or is indexed by truth values: the device counts the true ones."""
    if name == "aten::_to_copy":
        return (kwargs.get("device") or args[0].device) != args[0].device
    if name == "aten::copy_":
        return args[0].device != args[1].device
    index = args[1] if name.startswith("aten::index") and len(args) > 1 and isinstance(args[1], list) else []
    return any(i is not None and (i.dtype == torch.bool or i.device != args[0].device) for i in index)
