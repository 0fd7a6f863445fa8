"""Skip-gram gives slightly better word vectors than CBOW."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.analogies import solved

K006 = Claim(
    title="Skip-gram against CBOW",
    source="From Static Embedding to Contextualized Embedding, Word2Vec; Mikolov et al., arXiv:1301.3781",
    prediction="Skip-gram solves more analogies than CBOW, on the mean of three relations.",
    otherwise="CBOW solves as many.",
    common=Arm(corpus="families", steps=600, instrument="analogies", figure="mean over relations"),
    arms={"skip-gram NS": {"entry": "skip-gram NS"}, "CBOW NS": {"entry": "CBOW NS"}},
    rules=(higher("skip-gram NS", "CBOW NS"),),
    compute=solved,
    unit="of the questions",
    seeds=6,
    scale="Both with negative sampling, on short generated sentences of about 130 words. Similarity of words and rare "
    "words are not measured. The steps are those of K014.",
)
