"""GloVe is word2vec with least squares on counts in place of cross-entropy, and is better on most tasks."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.analogies import solved

K012 = Claim(
    title="GloVe against word2vec",
    source="From Static to Contextualized Embedding, GloVe; Pennington et al. 2014, sec. 3 and 4",
    prediction="GloVe solves more analogies than skip-gram with negative sampling, on the mean of three relations.",
    otherwise="Skip-gram solves as many.",
    common=Arm(corpus="families", steps=600, instrument="analogies", figure="mean over relations"),
    arms={"GloVe": {"entry": "GloVe"}, "skip-gram NS": {"entry": "skip-gram NS"}},
    rules=(higher("GloVe", "skip-gram NS"),),
    compute=solved,
    unit="of the questions",
    scale="Short generated sentences, one task of the paper's three kinds, and as many steps for both, though a step "
    "of GloVe reads counts of the whole text. The steps are those of K014.",
    also=("counts",),
)
