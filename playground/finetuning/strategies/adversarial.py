"""Adversarial fine-tuning: the embeddings are moved where it hurts most, and the answer must stay."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.semi_supervised import AdversarialFGM
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

ADVERSARIAL = Strategy(
    name="adversarial",
    aliases=("FGM", "adversarial fine-tuning"),
    family="more texts",
    idea="Train everything on each text and on an adversarial copy whose embeddings are shifted to increase the loss.",
    source="arXiv:1605.07725, sec. 3, without normalising the word vectors (sec. 2), which the pre-trained layers know "
    "as they are; one step of FGM, not the several of FreeLB (arXiv:1909.11764)",
    plasticity=everything,
    published=PublishedRate(1e-5, "github.com/zhuchen03/FreeLB, fairseq-RoBERTa/launch/FreeLB, RoBERTa large on MNLI"),
    aux_losses=(AdversarialFGM(),),
)
