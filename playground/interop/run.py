"""A model that was read from a folder as the checkpoint of a run, with the held-out text of a corpus."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import torch

from playground.corpora import Corpus, open_corpus, pick
from playground.corpora.build import Words, build
from playground.errors import UserError
from playground.interop.folder import Opened
from playground.rng import generator
from playground.tokenizing import Tokenizer
from playground.tokenizing.vocabulary import SEPARATOR
from playground.training import checkpoint
from playground.training.train_state import TrainState, optimisers
from playground.zoo.entry import Entry, entry_named

OBJECTIVES = {"ELECTRA": "RTD", "XLNet": "PLM", "GPT-2": "LM", "BART": "text infilling", "T5": "T5"}
"""What trains a family whose entry the zoo lacks; MLM for all others."""

HELD_OUT = 64
"""Most rows of text that are saved."""


def save_run(opened: Opened, folder: Path | str, corpus: str = "world") -> Path:
    """Write a checkpoint that has learnt for no step here; its text is that of a corpus, in the words of the folder."""
    entry = replace(_entry(opened), model=opened.model.shape)
    entry = replace(entry, recipe=replace(entry.recipe, optimiser="adamw", seq_len=_length(opened, entry)))
    objective = entry.objective.proposing(opened.model.propose) if entry.objective.proposes else entry.objective
    learner = TrainState(entry, objective, opened.model, tuple(optimisers(opened.model, entry.recipe)), 0)
    text = respelt(open_corpus(corpus), opened.tokenizer)
    rows = text.windows(entry.recipe.seq_len, "held_out")
    kept = torch.randperm(len(rows.ids), generator=generator(0, "held out"))[:HELD_OUT].sort().values
    info = checkpoint.CorpusInfo(text.name, text.hash, text.unigram_entropy, pick(rows, kept))
    return checkpoint.save(Path(folder) / "checkpoint.safetensors", learner, opened.tokenizer, info)


def respelt(corpus: Corpus, tokenizer: Tokenizer) -> Corpus:
    """The text of a corpus in the pieces of another tokenizer."""
    words, sentence, begin = Words(), corpus.sentence_ids.tolist(), 0
    ids, number = corpus.ids.tolist(), corpus.word_ids.tolist()
    ends = [k for k, token in enumerate(ids) if token == SEPARATOR] or [len(ids)]
    for end in ends:
        starts = [k for k in range(begin, end) if k == begin or number[k] != number[k - 1]]
        edges = [*starts, end]
        spelt = [corpus.tokenizer.join(ids[a:b]) for a, b in pairwise(edges)]
        first = sentence[begin] if begin < end else 0
        words.add(spelt, [sentence[k] - first for k in starts])
        words.close()
        begin = end + 1
    return build(f"{corpus.name} in the words of {tokenizer.kind}", words, tokenizer=tokenizer)


def _entry(opened: Opened) -> Entry:
    """The entry of the zoo that trains this family on plain text, else an objective on its own."""
    family = opened.family
    if family.companion and not opened.model.shape.generator_ratio:  # nothing proposes words
        return entry_named("MLM")
    plain = entry_named(OBJECTIVES.get(family.name, "MLM"))
    try:
        entry = entry_named(family.entry)
    except UserError:
        return plain
    return plain if entry.objective.needs else entry


def _length(opened: Opened, entry: Entry) -> int:
    """The length of a row, with room for special tokens."""
    shape, length = opened.model.shape, entry.recipe.seq_len
    return min(length, max(4, shape.max_position_embeddings - 4)) if shape.positions == "learned" else length
