"""Pfeiffer adapters: one small bottleneck per frozen layer, where Houlsby's adapters have two."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import Strategy
from playground.models.adapters import PfeifferAdapter

PFEIFFER = Strategy(
    name="Pfeiffer adapters",
    aliases=("Pfeiffer", "MAD-X adapters"),
    family="added parts",
    idea="Freeze the model and train one small bottleneck per layer, after its MLP; adapters have two.",
    source="arXiv:2005.00247 and arXiv:2005.00052; the bottleneck reads the normed state, and the layer's norm follows",
    plasticity=head_only,
    rate=1e-2,
    adapters=(PfeifferAdapter(),),
)
