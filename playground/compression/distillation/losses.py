"""The losses of distillation: each compares what a student computes with what its teacher computes."""

from math import sqrt

import torch
from torch import Tensor
from torch.nn.functional import kl_div, log_softmax, mse_loss, normalize

from playground.compression.distillation.reading import TextReading, Trace


def soft_targets(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """T² times the divergence of the teacher's softened classes from the student's, scores `[n, c]` (Hinton, sec. 2).

    Where an answer is one number, `c` = 1, it is the squared difference.
    """
    if student.shape[-1] == 1:
        return mse_loss(student, teacher)
    soft = log_softmax(teacher / temperature, -1)
    return kl_div(log_softmax(student / temperature, -1), soft, reduction="batchmean", log_target=True) * temperature**2


def patient(student: TextReading, teacher: TextReading, mapping: list[int]) -> Tensor:
    """The mean over mapped layers of the squared distance of the head's normed vectors (PKD).

    A last layer that is mapped to the last is left out, for the answers compare these, unless it is the only layer.
    """
    ends = len(student.vectors) - 1, len(teacher.vectors) - 1
    pairs = [pair for pair in enumerate(mapping) if pair != ends] or [ends]
    ours = torch.stack([normalize(student.vectors[k], dim=-1) for k, _ in pairs])
    theirs = torch.stack([normalize(teacher.vectors[k], dim=-1) for _, k in pairs])
    return ((ours - theirs) ** 2).sum(-1).mean()


def state_mse(student: Trace, teacher: Trace, level: int, followed: int) -> Tensor:
    """The mean squared difference of the states at one level of each: 0 embeddings, k layer k.

    At 0 it is that of TinyBERT's embeddings (arXiv:1909.10351, eq. 9), at k MobileBERT's feature map transfer
    (arXiv:2004.02984, sec. 3.4).
    """
    return mse_loss(student.states[level][student.valid], teacher.states[followed][teacher.valid])


def hidden_mse(student: Trace, teacher: Trace, mapping: list[int]) -> Tensor:
    """The sum over layers of the mean squared difference of their states (TinyBERT, eq. 8)."""
    return torch.stack([state_mse(student, teacher, k + 1, t + 1) for k, t in enumerate(mapping)]).sum()


def attention_mse(student: Trace, teacher: Trace, mapping: list[int]) -> Tensor:
    """The sum over layers of the mean squared difference of attention before its softmax (TinyBERT, eq. 7)."""
    each = []
    for k, t in enumerate(mapping):
        allowed = (student.allowed[k] & teacher.allowed[t]).expand_as(student.attention[k])
        each.append(mse_loss(student.attention[k][allowed], teacher.attention[t][allowed]))
    return torch.stack(each).sum()


def attention_transfer(student: Trace, teacher: Trace, layer: int = -1) -> Tensor:
    """The divergence of one layer's attention, counted from 0, a mean over heads and queries.

    Of the last layer it is MiniLM's (arXiv:2002.10957), of each layer MobileBERT's (arXiv:2004.02984, sec. 3.4).
    """
    return _divergence(student.attention[layer], teacher.attention[layer], student, teacher, layer)


def value_relation(student: Trace, teacher: Trace) -> Tensor:
    """The same of the softmax of the last layers' values times values (MiniLM)."""
    return _divergence(_relation(student.values[-1]), _relation(teacher.values[-1]), student, teacher)


def _relation(values: Tensor) -> Tensor:
    return values @ values.transpose(-1, -2) / sqrt(values.shape[-1])


def _divergence(ours: Tensor, theirs: Tensor, student: Trace, teacher: Trace, layer: int = -1) -> Tensor:
    """The divergence of the teacher's rows `[b, h, n, m]` from the student's, a mean over rows that are no padding."""
    allowed = student.allowed[layer] & teacher.allowed[layer]
    ours, theirs = (x.masked_fill(~allowed, -1e9).log_softmax(-1) for x in (ours, theirs))
    rows = student.valid[:, None, :].expand(ours.shape[:3])
    return kl_div(ours[rows], theirs[rows], reduction="batchmean", log_target=True)
