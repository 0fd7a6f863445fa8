"""Layer-wise learning rate decay: each layer learns a little slower than the one above it."""

from playground.finetuning.strategy.plasticity import LayerDecay
from playground.finetuning.strategy.strategy import Strategy

LAYER_DECAY = Strategy(
    name="layer-wise learning rate decay",
    aliases=("LLRD", "layerwise learning rate decay", "layer decay"),
    family="rates",
    idea="Give every layer 0.8 times the learning rate of the one above it; discriminative rates divide by 2.6.",
    source="arXiv:2003.10555, fine-tuning; as in ELECTRA's code the head learns at 1 and the top layer at 0.8 squared",
    plasticity=LayerDecay(),
)
