"""Projected attention layers: a narrow attention beside each frozen layer."""

from playground.finetuning.plans import head_only
from playground.finetuning.strategy import Published, Strategy
from playground.models.extras import ProjectedAttention

PROJECTED_ATTENTION = Strategy(
    name="projected attention layers",
    aliases=("PAL", "PALs"),
    rank=21,
    family="added parts",
    idea="Freeze the model and train a small attention in parallel to each layer, with shared ways in and out.",
    source="arXiv:1902.02671, sec. 3",
    plasticity=head_only,
    rate=1e-2,
    published=Published(2e-5, "github.com/AsaCooperStickland/Bert-n-Pals, README"),
    extras=(ProjectedAttention(),),
)
