"""Head pruning: the attention heads on which the answers depend least are cut out."""

from dataclasses import dataclass, replace

from torch import Generator, Tensor

from playground.compression.classifier import cut_heads, unshared_stack
from playground.compression.importance import head_importance
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.errors import UserError
from playground.knob import knob


@dataclass(frozen=True)
class CutHeads:
    """Cut heads out of the matrices of attention; one head stays in every layer."""

    share: float = knob(0.5, 0.0, 0.95, unit="share of the heads", why="How many heads are cut.")
    chosen: str = knob("", why='Heads by hand instead, as layer.head from 1: "1.2 2.4".')
    steps: int = knob(0, 0, 2000, unit="steps", why="Training on the task afterwards.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        stack = unshared_stack(start.classifier, "Head pruning")
        if start.classifier.model.shape.positions == "relative bias":
            raise UserError(
                "Head pruning cannot cut the relative bias (T5), which all layers share. Choose RoBERTa or GPT."
            )
        importance = head_importance(start.classifier, data.train)
        cut = _by_hand(self.chosen, importance) if self.chosen else least_important(importance, self.share)
        for k, (block, heads) in enumerate(zip(stack.layers, importance, strict=True)):
            keep = [h for h in range(len(heads)) if (k, h) not in cut]
            if len(keep) < len(heads):
                cut_heads(block.attn, keep)
        curves = {**start.curves, "head importance": [row.tolist() for row in importance]}
        curves["heads cut"] = sorted([k + 1, h + 1] for k, h in cut)
        return fine_tune(replace(start, curves=curves), data, rng, self.steps)


def least_important(importance: list[Tensor], share: float) -> set[tuple[int, int]]:
    """The heads to cut, layer and head from 0; importance is normed in each layer (Michel et al. 2019)."""
    normed = [row / row.norm().clamp(min=1e-12) for row in importance]
    ranked = sorted((float(v), k, h) for k, row in enumerate(normed) for h, v in enumerate(row))
    best = {(k, int(row.argmax())) for k, row in enumerate(normed)}
    count = int(share * len(ranked) + 0.5)
    return set([(k, h) for _, k, h in ranked if (k, h) not in best][:count])


def _by_hand(text: str, importance: list[Tensor]) -> set[tuple[int, int]]:
    try:
        cut = {(int(layer) - 1, int(head) - 1) for layer, head in (part.split(".") for part in text.split())}
    except ValueError as error:
        raise UserError(f"chosen is {text!r}; write heads as layer.head, like 1.2 2.4.") from error
    wrong = [(k, h) for k, h in cut if not (0 <= k < len(importance) and 0 <= h < len(importance[k]))]
    if wrong:
        raise UserError(f"There is no head {wrong[0][0] + 1}.{wrong[0][1] + 1}; the model has {len(importance)} layers "
                        f"of {len(importance[0])} heads.")  # fmt: skip
    whole = next((k for k, row in enumerate(importance) if all((k, h) in cut for h in range(len(row)))), None)
    if whole is not None:
        raise UserError(f"chosen cuts every head of layer {whole + 1}; keep at least one.")
    return cut


HEAD_PRUNING = Method(
    name="head pruning",
    aliases=("attention-head pruning",),
    family="pruning",
    rows=("C02",),
    idea="Cut the attention heads on which the answers depend least.",
    source="Michel et al., arXiv:1905.10650; Voita et al., arXiv:1905.09418",
    unlike_paper="one head stays in every layer; importance is that for the labelled texts",
    step=CutHeads(),
    identity="share=0, steps=0",
)
