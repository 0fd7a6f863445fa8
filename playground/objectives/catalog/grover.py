"""Grover: a language model of articles whose fields come in any order."""

from playground.objectives.arrange import ArrangeFields, ShiftRight
from playground.objectives.ask import AskNext
from playground.objectives.catalog.lm import LM
from playground.objectives.objective import Objective
from playground.objectives.see import SeeLeft

FIELDS = ("domain", "date", "authors", "title", "article")
"""In their order; the last one is the text."""

ARTICLE_LM = Objective(
    name="article LM",
    aliases=("Grover", "metadata LM"),
    group="Language models",
    needs=("pair", "label:field"),
    stages=(ArrangeFields("field", FIELDS), ShiftRight(), SeeLeft(), AskNext()),
    idea=(
        "Write an article as fields, each between two special tokens: domain, date, authors, headline and text. Their "
        "order is random, so that any field can be written from any others; some are left out."
    ),
    loss="Mean cross-entropy of every word of every field, and of the special tokens, given all before it.",
    terms=LM.terms,
    source="arXiv:1905.12616, sec. 3 and released code",
)
