"""A static model gives a word one vector for all its meanings; a contextual model gives it another one in each
sentence."""

from itertools import combinations

from playground.claims import Arm, Claim, Lab, equal, higher
from playground.claims.figures.senses import word_states
from playground.corpora.tinyworld.tasks.senses import sense_sentences


def distance(lab: Lab, arm: Arm, seed: int) -> float:
    """The smallest cosine distance between the states of one word in two sentences where its meanings differ."""
    sentences = sense_sentences("left near", 100, seed)
    states = word_states([lab.subject(arm, seed)], sentences)
    pairs = [
        float((states[a] - states[b]).square().sum()) / 2
        for a, b in combinations(range(len(sentences)), 2)
        if sentences[a].words[sentences[a].position] == sentences[b].words[sentences[b].position]
        and sentences[a].sense != sentences[b].sense
    ]
    return min(pairs)


K001 = Claim(
    title="One vector for both banks",
    source="Qiu et al., sec. 2.1; Liu et al., sec. 1; From Static Embedding to Contextualized Embedding, GloVe",
    prediction="The two vectors of an ambiguous word have a cosine of exactly 1 in skip-gram and of less than 1 in LM "
    "and MLM.",
    otherwise="A contextual model has a pair of sentences where the vector is the same, or skip-gram one where it is "
    "not.",
    common=Arm(corpus="senses", figure="smallest cosine distance"),
    arms={"skip-gram NS": {"entry": "skip-gram NS"}, "LM": {"entry": "LM"}, "MLM": {"entry": "MLM"}},
    rules=(equal("skip-gram NS", 0.0), higher("LM", 0.0, exact=True), higher("MLM", 0.0, exact=True)),
    compute=distance,
    scale="This follows from the networks, at any size. That the vectors differ does not say that they tell the "
    "meanings apart; K002 asks that.",
    seeds=2,
    also=("attention", "kind"),
)
