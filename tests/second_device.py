"""A second device where there is none: tensors that say they are on it and hold their values on the CPU.

As on CUDA, an operation on tensors of two devices is refused, but for single numbers and for an index, which may come
from the CPU; a generator draws for its own device alone. Sparse tensors are not understood. Written for PyTorch 2.13,
in which these names are private or may move: `Tensor._make_wrapper_subclass`, `torch.utils._python_dispatch`,
`torch.utils._pytree`, `optimizer._get_fused_kernels_supported_devices`.
"""

import warnings
from contextlib import contextmanager, nullcontext

import pytest
import torch
from torch.optim import optimizer
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only

from playground import batch, rng
from playground.finetuning.run import trainer
from playground.models import reading_order
from playground.objectives.choose import spans

SECOND = torch.device("meta")
"""The name that the device goes by: PyTorch's own for tensors without values, for which no hardware is needed."""

CROSSING = ("aten::_to_copy", "aten::copy_")
"""Operations that take values from one device to another."""

INDEXED = ("aten::index", "aten::index_put", "aten::index_put_")
"""Operations whose second argument, the indices, may be on the CPU."""

PACKED = "aten::_pack_padded_sequence"
"""Takes lengths from the CPU as its second argument and leaves the sizes of its steps there as its second result."""

RECURRENT = ("lstm", "gru", "rnn_tanh")
"""Layers whose first states must lie contiguously, behind the texts or, where these are packed, behind their sizes."""

CACHES = (
    batch.arange, batch._rows, batch._constant, spans._counts, trainer._epoch, trainer._orders,
    reading_order._triangles,
)  # fmt: skip
"""What keeps tensors by their device, to be forgotten afterwards."""


class MixedDevices(Exception):
    """Tensors of two devices meet in one operation, or a generator and a tensor."""


class SecondTensor(torch.Tensor):
    """A tensor on the second device; its `values` are on the CPU."""

    @staticmethod
    def __new__(cls, values):
        form = {"strides": values.stride(), "storage_offset": values.storage_offset(), "dtype": values.dtype}
        made = torch.Tensor._make_wrapper_subclass(cls, values.shape, **form, device=SECOND)
        made.on_cpu = values
        return made

    def data_ptr(self):
        return self.on_cpu.data_ptr()

    def tolist(self):
        return self.on_cpu.tolist()

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return computed(operation, args, kwargs or {})


class SecondGenerator(torch.Generator):
    """A source of random numbers for the second device."""

    device = SECOND


class Dispatch(TorchDispatchMode):
    """Makes tensors on the second device and moves tensors there."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        return computed(operation, args, kwargs or {})


class Functions(TorchFunctionMode):
    """What an operation does not see: values typed in Python, and the device of a generator."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in (torch.tensor, torch.as_tensor) and kwargs.get("device") == SECOND:
            return function(*args, **{**kwargs, "device": "cpu"}).to(SECOND)
        if function is torch.Tensor.new_tensor and args[0].device == SECOND:
            return torch.tensor(*args[1:], **{"dtype": args[0].dtype, **kwargs}).to(SECOND)
        if getattr(function, "__name__", "") in RECURRENT and args[0].device == SECOND:
            states = tree_leaves(args[1 if isinstance(args[3], bool) else 2])
            if any(isinstance(each, torch.Tensor) and not each.is_contiguous() for each in states):
                raise MixedDevices(f"{function.__name__} begins with states that do not lie contiguously")
        made = function(*args, **kwargs)
        source = kwargs.get("generator")
        if source is not None and made.device != source.device:
            raise MixedDevices(f"{function.__name__} on {made.device} by a generator of {source.device}")
        return made


def computed(operation, args, kwargs):
    """The result of an operation, computed on the CPU, on the device that it names or else on that of its tensors."""
    name, wanted = operation.name().partition(".")[0], kwargs.get("device")
    second = any(isinstance(each, SecondTensor) for each in tree_leaves((args, kwargs)))
    if second and name not in CROSSING:
        checked = (args[:1], args[2:]) if name in (*INDEXED, PACKED) else args
        refuse_mixed(name, [each for each in tree_leaves((checked, kwargs)) if isinstance(each, torch.Tensor)])
    device = {} if wanted is None else {"device": torch.device("cpu")}
    args_there, kwargs_there = tree_map_only(SecondTensor, lambda each: each.on_cpu, (args, {**kwargs, **device}))
    made = operation(*args_there, **kwargs_there)
    if name == "aten::copy_":
        return args[0]
    if name == PACKED and second:
        return SecondTensor(made[0]), made[1]
    if not (second if wanted is None else wanted == SECOND):
        return made
    wrapped = tree_map_only(torch.Tensor, SecondTensor, made)
    return return_and_correct_aliasing(operation, args, kwargs, wrapped) if second else wrapped


def refuse_mixed(name, tensors):
    """A tensor with an axis that is not on the second device has no place beside one that is."""
    if any(each.dim() and not isinstance(each, SecondTensor) for each in tensors):
        raise MixedDevices(f"{name} of {', '.join(f'{each.device} {list(each.shape)}' for each in tensors)}")


@contextmanager
def second_device():
    """Within it everything can run on `SECOND`."""
    fused = [*optimizer._get_fused_kernels_supported_devices(), SECOND.type]
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), Functions(), Dispatch():
        warnings.filterwarnings("ignore", "for .*: copying from a non-meta parameter")  # it holds its values
        patch.setattr(optimizer, "_get_fused_kernels_supported_devices", lambda: list(fused))
        patch.setattr(rng, "Generator", lambda device: (SecondGenerator if device == SECOND else torch.Generator)())
        try:
            yield SECOND
        finally:
            for cache in CACHES:
                cache.cache_clear()


@contextmanager
def another_device():
    """The GPU of this machine, or `second_device` where there is none."""
    with nullcontext(torch.device("cuda", 0)) if torch.cuda.is_available() else second_device() as device:
        yield device
