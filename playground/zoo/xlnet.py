"""XLNet: one network, every order of prediction, two streams."""

from playground.models import Architecture
from playground.objectives.catalog.plm import PLM
from playground.zoo.entry import Entry

XLNET = Entry(
    name="XLNet",
    year=2019,
    paper="arXiv:1906.08237",
    idea="Predict words in random orders, so that both sides are used without any mask sign.",
    parent="BERT",
    changed="A random order instead of gaps; a query stream that knows the place but not the word.",
    unlike_paper={
        "partial_prediction_k": "a quarter of the words predicted, not a sixth",
        "memory": "no memory of earlier segments, no relative positions (Transformer-XL) and no segments",
    },
    model=Architecture(two_streams=True),
    objective=PLM.turn({"partial_prediction_k": 4.0}),
)
