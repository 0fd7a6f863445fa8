"""For named entities the state of the first piece of a word is enough, without a CRF."""

import torch

from playground.analysis.probing.classifier import accuracy, split_by
from playground.analysis.probing.reading import probing_items
from playground.analysis.probing.task import find_probing_task
from playground.claims import Arm, Claim, Lab, alike, higher

SENTENCES = 500


def names_right(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy of a probe for the type of a name that is split, on its first or last piece or on their mean."""
    subject = lab.subject(arm, seed)
    texts, items = probing_items(subject, find_probing_task("entity type"), SENTENCES)
    states = items.features(subject.states(texts.tokens)[-1].cpu(), texts.tokens)
    words = torch.stack([items.rows, texts.tokens.word_ids[items.rows, items.positions[:, 0]]])
    _, pieces = words.unique_consecutive(dim=1, return_counts=True)
    split = [k for k, part in enumerate(states.split(pieces.tolist())) if len(part) > 1]
    read = {"first": lambda part: part[0], "last": lambda part: part[-1], "mean": lambda part: part.mean(0)}
    x = torch.stack([read[arm.figure](part) for part in states.split(pieces.tolist())])
    first = pieces.cumsum(0) - pieces
    return accuracy(x[split], items.labels[first][split], split_by(items.rows[first][split], seed), seed)


K155 = Claim(
    title="The first piece of a name",
    source="Qiu et al., sec. 7.4; Devlin et al., arXiv:1810.04805, sec. 5.3",
    prediction="A linear probe for the type of split names is as accurate on the first piece as on the mean of all "
    "pieces, to 0.02, and not worse than on the last piece.",
    otherwise="The mean is better, or the last piece is.",
    common=Arm("MLM", corpus="world(tokenizer=bpe, vocab_size=600)"),
    arms={piece: {"figure": piece} for piece in ("first", "mean", "last")},
    rules=(alike("first", "mean", within=0.02), higher("first", "last", by=-0.02)),
    compute=names_right,
    unit="of the names",
    scale="A probe of the top states instead of a fine-tuned tagger, and no CRF to compare with. Only names that are "
    "split count; with 600 pieces for 1,300 words many are.",
)
