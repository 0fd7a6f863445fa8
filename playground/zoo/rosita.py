"""Rosita: one language model for texts of several languages."""

from playground.models import Architecture
from playground.objectives.catalog.multilingual_lm import MULTILINGUAL_BILM
from playground.zoo.entry import Entry

ROSITA = Entry(
    name="Rosita",
    year=2019,
    paper="arXiv:1902.09697",
    idea="Train one language model on texts of two languages, so that what one teaches helps with the other.",
    parent="ELMo",
    changed="Texts of two languages are read by the same network, and not each by one of its own.",
    corpus="bilingual",
    aliases=("polyglot LM", "polyglot language model"),
    unlike_paper={
        "network": "no residual connection between the layers, no projection of the states",
    },
    data="English together with Arabic or Chinese",
    model=Architecture(kind="lstm", char_cnn=True, backward=True, attention="left to right"),
    objective=MULTILINGUAL_BILM,
)
