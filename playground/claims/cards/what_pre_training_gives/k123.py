"""Without any training a language model does a task better the more examples its text has, and the larger it is."""

from dataclasses import replace

import torch

from playground.analysis.cloze import log_chances, texts, with_gap
from playground.claims import Arm, Claim, Lab, higher

NO_EXAMPLE, ONE_EXAMPLE, TWO_EXAMPLES, SHALLOW = "no example", "one example", "two examples", "one example, one layer"
SHOTS = {NO_EXAMPLE: (2, 0), ONE_EXAMPLE: (2, 1), TWO_EXAMPLES: (2, 2), SHALLOW: (1, 1)}
"""Layers of the model, and how often the document has said what the key means."""

DOCUMENTS, SENTENCES = 200, 7


def right(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of values that are right behind a key that the document has explained so many times."""
    layers, shots = SHOTS[arm.figure]
    subject = lab.subject(replace(arm, settings=f"layers={layers}, seq_len=64, batch_size=16"), seed)
    words, corpus = subject.tokenizer, subject.corpus
    written = " ".join(words.words[number] for number in corpus.ids[corpus.held_out_from :].tolist())
    first = 1 + seed * DOCUMENTS
    documents = [[str(word) for word in one.split()] for one in written.split("[SEP]")[first : first + DOCUMENTS]]
    tokens, hits = texts(documents, words), []
    for sentence in range(SENTENCES):  # "key is value ."
        start = torch.full((len(documents),), 4 * sentence)
        asked = [one[4 * sentence] for one in documents]
        earlier = torch.tensor([one[: 4 * sentence].count(key) for one, key in zip(documents, asked, strict=True)])
        best = log_chances(subject.model, with_gap(subject.model.shape, tokens, start + 2)).argmax(1)
        hits.append((best == tokens.ids[:, 4 * sentence + 2])[earlier == shots])
    return float(torch.cat(hits).double().mean())


K123 = Claim(
    title="Examples in the text",
    source="Weng, GPT-3; Brown et al., arXiv:2005.14165",
    prediction="After one example of what a new key means the model of two layers names its value more often than "
    "after none, after two more often than after one, and a model of one layer is worse.",
    otherwise="More examples change nothing, or the smaller model is as good.",
    common=Arm("LM", corpus="symbols", steps=1000, one_model=True),
    arms={name: {"figure": name} for name in SHOTS},
    rules=(
        higher(ONE_EXAMPLE, NO_EXAMPLE, by=0.1), higher(TWO_EXAMPLES, ONE_EXAMPLE),
        higher(ONE_EXAMPLE, SHALLOW, by=0.1),
    ),
    compute=right,
    unit="of the values",
    seeds=4,
    scale="One example settles the value, so a good model gains nothing from a second. Every text of this corpus is "
    "of this kind; GPT-3 finds such patterns in texts of the web. One model of each size for all seeds. "
    "1,000 steps, because 600 gave only 0.43 after one example.",
)  # fmt: skip
