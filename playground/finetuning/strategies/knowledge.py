"""Knowledge injection: what is known of the people in a text is written into it, seen by their names alone."""

from playground.finetuning.strategy.extra_features import Facts
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

KNOWLEDGE = Strategy(
    name="knowledge injection",
    aliases=("K-BERT", "facts in the text"),
    family="more texts",
    idea="Train everything on texts in which facts of the generated world are attached to every person's name.",
    source="K-BERT, arXiv:1909.07606, sec. 3",
    plasticity=everything,
    published=PublishedRate(2e-5, "github.com/autoliuweijie/K-BERT, run_kbert_cls.py"),
    extra_features=(Facts(),),
)
