"""The parameters of a model by layer group, from the embeddings to the heads."""

from typing import cast

from playground.models.model import LanguageModel
from playground.models.recurrent import RecurrentStack
from playground.models.transformer import Stack
from playground.models.window import WindowStack


def layer_groups(model: LanguageModel) -> dict[str, list[str]]:
    """Parameter names by layer group from the bottom up; a final norm belongs to its highest layer."""
    found: dict[str, list[str]] = {}
    for name, _ in model.named_parameters():
        found.setdefault(_group(model, name), []).append(name)
    return dict(sorted(found.items(), key=lambda item: _height(item[0])))


def _group(model: LanguageModel, name: str) -> str:
    owner, *parts = name.split(".")
    network = "generator " if owner == "generator" else ""
    if owner.endswith(("network", "generator")) and parts[0] in ("encoder", "decoder"):
        stack = cast("Stack | RecurrentStack | WindowStack", model.get_submodule(f"{owner}.{parts[0]}"))
        number = int(parts[2]) + 1 if parts[1] == "blocks" else len(stack.blocks)
        return f"{network}{parts[0]} layer {number}"
    if owner.startswith("generator"):
        return "generator"
    return "embeddings" if owner in ("token_embedding", "network", "backward_network") else "heads"


def _height(group: str) -> tuple[int, int]:
    order = ("embeddings", "encoder", "decoder", "heads", "generator")
    first, *rest = group.split()
    return (order.index(first), int(rest[-1]) if rest else 0)
