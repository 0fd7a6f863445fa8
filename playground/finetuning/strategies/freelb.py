"""FreeLB: the embeddings are moved uphill in several steps, and every pass on the way teaches."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import PublishedRate, Strategy
from playground.finetuning.strategy.task_losses import FreeLB

FREELB = Strategy(
    name="FreeLB",
    aliases=("free large-batch adversarial training",),
    family="more texts",
    idea="Read each text three times, its embeddings shifted further "
    "each time to increase the loss, and learn from all.",
    source="arXiv:1909.11764, algorithm 1; the move is added to the sum of all embeddings, there to the words' alone",
    plasticity=everything,
    published=PublishedRate(1e-5, "github.com/zhuchen03/FreeLB, fairseq-RoBERTa/launch/FreeLB, RoBERTa large on MNLI"),
    task_loss=FreeLB(),
)
