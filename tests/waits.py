"""Counts what Python waits for: a GPU computes beside it, and must not be asked for a value in every step."""

from collections import Counter

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

ASKING = (
    "aten::_local_scalar_dense aten::nonzero aten::equal aten::is_nonzero aten::masked_select aten::_unique2 "
    "aten::unique_consecutive aten::unique_dim aten::bincount aten::histc aten::repeat_interleave.Tensor "
    "aten::_assert_async"
).split()
"""Operations whose answer, or its shape, must come from the device before Python goes on."""


class Asked(TorchDispatchMode):
    """Counts the operations that wait for the device, by their names.

    On the CPU all tensors stand for those of a device, and there are no copies. Within `second_device` only its own
    tensors, named by their `kind`, are asked, and copies from and to the CPU count.
    """

    def __init__(self, kind=torch.Tensor):
        super().__init__()
        self.kind, self.seen = kind, Counter()

    def __enter__(self):
        self.plain = self.kind.tolist

        def counted(values):
            self.seen["tolist"] += 1
            return self.plain(values)

        self.kind.tolist = counted
        return super().__enter__()

    def __exit__(self, *why):
        self.kind.tolist = self.plain
        super().__exit__(*why)

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        name = operation.name()
        asked = name in ASKING and any(isinstance(each, self.kind) for each in tree_leaves(args))
        if asked or crosses(name, args, kwargs or {}, self.kind):
            self.seen[name] += 1
        return operation(*args, **(kwargs or {}))


def crosses(name, args, kwargs, kind):
    """Whether an operation copies between devices, or is indexed by truth values: the device counts the true ones."""
    if name == "aten::_to_copy":
        return (kwargs.get("device") or args[0].device) != args[0].device
    if name == "aten::copy_":
        return args[0].device != args[1].device
    if not name.startswith("aten::index") or len(args) < 2 or not isinstance(args[1], list):
        return False
    truth = isinstance(args[0], kind) and any(i is not None and i.dtype == torch.bool for i in args[1])
    return truth or any(i is not None and i.device != args[0].device for i in args[1])
