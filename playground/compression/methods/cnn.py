"""Distillation to a CNN: the filters of a convolution learn the scores of the transformer."""

from playground.compression.method import Method
from playground.compression.methods.bilstm import DistilToOtherNetwork

CNN = Method(
    name="CNN",
    aliases=("distilled CNN", "Kim-CNN"),
    family="distillation",
    rows=("C18", "C26"),
    idea="A small convolutional network learns the scores of the transformer on unlabelled texts.",
    source="Chia et al., arXiv:1909.03508; the network after Kim, arXiv:1408.5882",
    unlike_paper="one layer as in Kim 2014, not several; one width of filters, tanh and no dropout; vectors are new; "
    "unlabelled texts are of the task's grammar",
    step=DistilToOtherNetwork(window_radius=1, width=32, embedding_size=32),
)
