"""Good word vectors need no deep network; two tables are enough."""

from dataclasses import replace

import torch

from playground.analysis.words.vectors import frequent_words, nearest, word_vectors
from playground.claims import Arm, Claim, Lab, higher

NEIGHBOURS = 5
"""Nearest words by cosine that are compared with a word."""


def same_class(lab: Lab, arm: Arm, seed: int) -> float:
    """How many of the nearest words are of the same part of speech, the most frequent one of each word."""
    subject, corpus = lab.subject(arm, seed), lab.corpus(arm)
    vectors, words = word_vectors(subject.model), frequent_words(corpus, 20)
    ids, pos = corpus.ids[: corpus.held_out_from].long(), corpus.labels["pos"][: corpus.held_out_from].long()
    counts = torch.zeros(len(corpus.tokenizer), len(corpus.label_names["pos"]))
    counts.index_put_((ids[pos >= 0], pos[pos >= 0]), torch.tensor(1.0), accumulate=True)
    found = nearest(vectors[words], vectors, words, NEIGHBOURS + 1)[0][:, 1:]  # the first is the word itself
    return float((counts.argmax(1)[found] == counts.argmax(1)[words][:, None]).float().mean())


def lead(lab: Lab, arm: Arm, seed: int) -> float:
    """How many more neighbours of skip-gram are of the same part of speech than those of another model."""
    return same_class(lab, arm, seed) - same_class(lab, replace(arm, entry=arm.figure), seed)


K005 = Claim(
    title="Good vectors without a deep network",
    source="Qiu et al., sec. 2.3; Mikolov et al., arXiv:1301.3781",
    prediction="The nearest neighbours of a word in skip-gram are of its part of speech as often as in NNLM and in the "
    "input table of a masked transformer, to 0.03 or more often.",
    otherwise="In one of the two networks with hidden layers they are so more often by over 0.03.",
    common=Arm("skip-gram NS", corpus="world"),
    arms={"more than NNLM": {"figure": "NNLM"}, "more than MLM": {"figure": "MLM"}},
    compute=lead,
    rules=(higher("more than NNLM", 0.0, by=-0.03), higher("more than MLM", 0.0, by=-0.03)),
    unit="of the neighbours",
    scale="Five neighbours of words that occur 20 times and more, after 300 steps each; a step of skip-gram is the "
    "cheapest. Parts of speech favour networks that read the order of words, which skip-gram does not.",
)
