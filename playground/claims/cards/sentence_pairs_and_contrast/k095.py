"""CBOW with negative sampling is a simple form of replaced token detection, with negatives from the word counts; a
trained generator makes negatives that are harder to tell."""

from torch import Tensor

from playground.batch import Batch
from playground.claims import Arm, Claim, Lab, lower
from playground.claims.figures.text import answered
from playground.objectives.bind import with_generator


def by_counts(batch: Batch) -> Tensor:
    """Scores `[k, v]` of words at the chosen positions by how often the corpus has them."""
    counts = batch.tokens.word_counts
    assert counts is not None
    return counts.double().clamp(min=1e-9).log().expand(len(batch.selected_positions), -1)


def caught(lab: Lab, arm: Arm, seed: int) -> float:
    """How well the discriminator ranks replaced words above original ones (area under the ROC curve)."""
    subject = lab.subject(arm, seed)
    objective = subject.objective
    if arm.figure == "word counts":
        objective = with_generator(objective, by_counts)
    answer = answered(subject, objective.batch(subject.held_out, subject.rng("replaced")))
    scores, replaced = answer.scores[:, 0], answer.labels.bool()
    ranks = scores.argsort().argsort().double() + 1
    hits = int(replaced.sum())
    return float((ranks[replaced].sum() - hits * (hits + 1) / 2) / (hits * (len(ranks) - hits)))


K095 = Claim(
    title="Harder negatives from a generator",
    source="Qiu et al., sec. 3.1.5; Clark et al., arXiv:2003.10555, sec. 3.2",
    prediction="One discriminator tells words from its generator less well than words that are drawn by their counts.",
    otherwise="It tells them as well.",
    common=Arm(entry="RTD", corpus="world"),
    arms={"generator": {"figure": "generator"}, "word counts": {"figure": "word counts"}},
    compute=caught,
    rules=(lower("generator", "word counts"),),
    unit="area under the ROC curve",
    scale="The discriminator has met only words of its generator in training. Whether harder negatives also teach "
    "more, as the sources say, is not measured here.",
)
