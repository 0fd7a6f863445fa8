"""Compiled steps: the model's pass and its losses by `torch.compile`, on CUDA as a CUDA graph where shapes stay.

A checkpoint does not depend on whether its run was compiled.
"""

from dataclasses import dataclass, field
from typing import Any

import torch

from playground.batch import Batch
from playground.errors import UserError
from playground.models import LanguageModel
from playground.training import accumulation

BACKEND = "inductor"
"""The backend of `torch.compile`."""

GRAPHS: dict[str, Any] = {"triton.cudagraphs": True, "triton.cudagraph_skip_dynamic_graphs": True}
"""The options of `torch.compile` in its mode "reduce-overhead", for shapes that stay."""


@dataclass
class Compiled:
    """The gradient of a batch by compiled code; once that has `failed`, for the reason it holds, uncompiled."""

    failed: str = ""
    _code: dict[bool, Any] = field(default_factory=dict, repr=False)

    def __call__(self, model: LanguageModel, example: Batch, accumulate: int, precision: str) -> accumulation.Graded:
        if not self.failed:
            try:
                return accumulation.SingleProcess(self._losses)(model, example, accumulate, precision)
            except Exception as error:  # an error of the batch itself is raised again below
                if accumulation.bytes_asked(error) is not None:
                    raise
                self.failed = _reason(error)
            model.zero_grad(set_to_none=True)
        return accumulation.SINGLE_PROCESS(model, example, accumulate, precision)

    def _losses(
        self, model: LanguageModel, part: Batch, precision: str, shares: accumulation.Shares
    ) -> accumulation.Graded:
        for question in (q for example in part.with_auxiliary for q in example.questions):
            positions = question.loss_positions  # cached before the trace: their number depends on the data
            _ = question.at_query and positions.most_per_row
        device = model.token_embedding.weight.device
        graphs = device.type == "cuda" and not shares  # a graph would overwrite the sum of the gradients of parts
        if graphs not in self._code:
            options = GRAPHS if graphs else None
            self._code[graphs] = torch.compile(accumulation.losses, fullgraph=True, backend=BACKEND, options=options)
        torch.compiler.cudagraph_mark_step_begin()
        weights = {name: torch.as_tensor(share, device=device) for name, share in shares.items()}  # not constants
        loss, terms, states = self._code[graphs](model, part, precision, weights)
        means = {name: term.clone() for name, term in terms.items()}  # a graph overwrites its outputs
        return accumulation.Graded(loss.clone(), means, tuple(state.clone() for state in states))


def _reason(error: BaseException) -> str:
    if type(error).__name__ == "FailOnRecompileLimitHit":
        return "the shapes of its batches change too often"
    inner = getattr(error, "inner_exception", error)
    if type(inner).__name__ == "InvalidCxxCompiler":
        return "no C++ compiler was found (install g++ or clang++)"
    first = next((line.strip() for line in str(inner).splitlines() if line.strip()), "")
    return f"torch.compile raised {type(inner).__name__}" + (f" ({first[:120]})" if first else "")


def failed(gradient: object) -> str:
    """Why a gradient that should be compiled is not; empty where it is, or need not be."""
    return gradient.failed if isinstance(gradient, Compiled) else ""


def of(gradient: accumulation.Gradient) -> Compiled:
    """The same gradient by compiled code, where it is computed in one process."""
    if isinstance(gradient, Compiled):
        return gradient
    if gradient is not accumulation.SINGLE_PROCESS:
        raise UserError("Compiled steps are for one process alone; leave out either --compile or torchrun.")
    return Compiled()
