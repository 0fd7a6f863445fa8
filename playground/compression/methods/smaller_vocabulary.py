"""A smaller vocabulary: rare words lose their vector and are read as the unknown word."""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Generator, Tensor, nn

from playground.batch import Tokens
from playground.compression.classifier import Classifier, LowRankEmbedding
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.errors import UserError
from playground.knob import knob
from playground.models.heads import VocabularyHead


@dataclass(frozen=True)
class KeepFrequentWords:
    """Keep the special tokens and the most frequent words of the labelled and of further texts of the task."""

    words: int = knob(200, 8, 100_000, unit="words", why="How many words keep a vector.")
    unlabelled: int = knob(500, 16, 5000, unit="texts", why="Additional texts in which words are counted.")
    steps: int = knob(40, 0, 2000, unit="steps", why="Training on the task afterwards.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        old = start.classifier
        if old.kept_ids is not None:
            raise UserError("The vocabulary is made smaller twice; name smaller vocabulary once in a pipeline.")
        if old.model.shape.char_cnn or old.model.shape.ngrams:
            raise UserError("This model computes word vectors from characters, so there is no table of words to cut.")
        if self.words < old.model.token_embedding.num_embeddings:
            keep_words(old, frequent(self.words, data.train.tokens, data.unlabelled(self.unlabelled).tokens))
        return fine_tune(start, data, rng, self.steps)


def frequent(words: int, *texts: Tokens) -> Tensor:
    """The special tokens and the most frequent words of some texts, as ids in their order."""
    ids, specials = torch.cat([tokens.ids[tokens.valid] for tokens in texts]), texts[0].specials
    counts = torch.bincount(ids, minlength=specials.size)
    special = ~specials.is_word(torch.arange(specials.size))
    counts[special] = len(ids) + 1
    return counts.argsort(descending=True, stable=True)[: max(words, int(special.sum()))].sort().values


@torch.no_grad()
def keep_words(classifier: Classifier, ids: Tensor) -> None:
    """Cut the rows of all other words out of the table and of the scores' bias."""
    model = classifier.model
    words = cast("nn.Module", model.token_embedding)
    if isinstance(words, LowRankEmbedding):
        words.table = nn.Parameter(words.table[ids])
    else:
        model.token_embedding = nn.Embedding.from_pretrained(model.token_embedding.weight[ids], freeze=False)
    classifier.kept_ids, head = ids, model.lm_head
    if isinstance(head, VocabularyHead) and head.table is not None:
        head.table = nn.Embedding.from_pretrained(head.table.weight[ids], freeze=False)
    if head is not None and head.bias is not None:
        head.bias = nn.Parameter(head.bias[ids])


SMALLER_VOCABULARY = Method(
    name="smaller vocabulary",
    aliases=("vocabulary pruning",),
    family="low rank and sharing",
    rows=("C21",),
    idea="Only frequent words keep a vector; the others are read as the unknown word.",
    source="after survey arXiv:2003.08271, table 3 (systems with a smaller vocabulary)",
    unlike_paper="words are left out of a trained table; the systems train a new model with fewer word pieces",
    step=KeepFrequentWords(),
    identity="words=100000, steps=0",
)
