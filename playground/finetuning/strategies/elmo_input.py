"""Concatenation at the input: the task's own network reads word vectors with a mix of frozen layers beside them."""

from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

ELMO_INPUT = Strategy(
    name="ELMo at the input",
    aliases=("concatenation at the input", "[x; ELMo(x)]"),
    family="features",
    idea="Freeze the model; a new LSTM reads the word vectors concatenated with a learned mix of all layers.",
    source="arXiv:1802.05365, sec. 3.3",
    plasticity=head_only,
    rate=1e-2,
    published=PublishedRate(1e-3, "github.com/allenai/allennlp, training_config/ner_elmo.jsonnet, for names"),
    head=Head(reads="joined", recurrent=True),
)
