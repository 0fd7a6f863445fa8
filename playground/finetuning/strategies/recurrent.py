"""The task's own network on word vectors alone: what ELMo at the input is held against."""

from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

RECURRENT = Strategy(
    name="LSTM on word vectors",
    aliases=("recurrent baseline",),
    family="features",
    idea="Freeze the word vectors and train a new LSTM that reads them, without the layers of the model.",
    source="arXiv:1802.05365, sec. 3.3 and 4 (the baselines)",
    plasticity=head_only,
    rate=1e-2,
    published=PublishedRate(1e-3, "github.com/allenai/allennlp, training_config/ner_elmo.jsonnet, for names"),
    head=Head(reads=0, recurrent=True),
)
