"""Compiled steps: the model's pass and its losses as one piece of code made by `torch.compile`, where that works.

On a CUDA device a batch whose shapes stay is also recorded as a CUDA graph, so that a tiny model does not wait for its
kernels to be launched. The weights stay where they are: a checkpoint does not know whether its run was compiled.
"""

from dataclasses import dataclass, field
from typing import Any

import torch

from playground.batch import Batch
from playground.errors import Refusal
from playground.models import LanguageModel
from playground.training.accumulation import (
    SINGLE_PROCESS,
    Graded,
    Gradient,
    Shares,
    SingleProcess,
    bytes_asked,
    losses,
)

BACKEND = "inductor"
"""What turns the traced pass into code: torch's own compiler."""

GRAPHS: dict[str, Any] = {"triton.cudagraphs": True, "triton.cudagraph_skip_dynamic_graphs": True}
"""What "reduce-overhead" means in `torch.compile`, for shapes that stay."""


@dataclass
class Compiled:
    """The gradient of a batch by compiled code; once that has failed, the plain way, and `failed` says why."""

    failed: str = ""
    _code: dict[bool, Any] = field(default_factory=dict, repr=False)

    def __call__(self, model: LanguageModel, example: Batch, accumulate: int, precision: str) -> Graded:
        if not self.failed:
            try:
                return SingleProcess(self._losses)(model, example, accumulate, precision)
            except Exception as error:  # whatever is wrong with the batch itself goes wrong again below
                if bytes_asked(error) is not None:
                    raise
                self.failed = _reason(error)
            model.zero_grad(set_to_none=True)
        return SINGLE_PROCESS(model, example, accumulate, precision)

    def _losses(self, model: LanguageModel, part: Batch, precision: str, shares: Shares) -> Graded:
        for question in (q for example in part.with_auxiliary for q in example.questions):
            _ = (
                question.loss_positions,
                question.stream == "query" and question.loss_positions.most_per_row,
            )  # no matter of shapes: found before
        device = model.token_embedding.weight.device
        torch.compiler.cudagraph_mark_step_begin()
        told = {name: torch.as_tensor(share, device=device) for name, share in shares.items()}  # a number would be code
        loss, terms = self._made(device.type == "cuda" and not shares)(model, part, precision, told)
        return loss.clone(), {name: term.clone() for name, term in terms.items()}  # a graph writes over its answers

    def _made(self, graphs: bool) -> Any:
        """The compiled losses; parts of a batch add up their gradients, which a graph would write over."""
        if graphs not in self._code:
            options = GRAPHS if graphs else None
            self._code[graphs] = torch.compile(losses, fullgraph=True, backend=BACKEND, options=options)
        return self._code[graphs]


def _reason(error: BaseException) -> str:
    """Why there is no compiled code, in words."""
    if type(error).__name__ == "FailOnRecompileLimitHit":
        return "the shapes of its batches change too often"
    inner = getattr(error, "inner_exception", error)
    if type(inner).__name__ == "InvalidCxxCompiler":
        return "no C++ compiler was found (install g++ or clang++)"
    first = next((line.strip() for line in str(inner).splitlines() if line.strip()), "")
    return f"torch.compile raised {type(inner).__name__}" + (f" ({first[:120]})" if first else "")


def failed(gradient: object) -> str:
    """Why a gradient that should be compiled is not, nothing where it is or need not be."""
    return gradient.failed if isinstance(gradient, Compiled) else ""


def of(gradient: Gradient) -> Compiled:
    """The compiled way to the same gradient, where one process has it to itself."""
    if isinstance(gradient, Compiled):
        return gradient
    if gradient is not SINGLE_PROCESS:
        raise Refusal("Compiled steps are for one process alone; leave out either --compile or torchrun.")
    return Compiled()
