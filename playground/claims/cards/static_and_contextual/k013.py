"""The offset from the vector of a country to that of its capital is nearly the same for all countries."""

from torch.nn.functional import normalize

from playground.analysis.words.contexts import mean_cosine
from playground.analysis.words.vectors import id_of, word_vectors
from playground.claims import Arm, Claim, Lab, higher
from playground.corpora.tinyworld.lexicon import COUNTRIES


def likeness(lab: Lab, arm: Arm, seed: int) -> float:
    """The mean cosine of the offsets country - capital of two different countries, of vectors of length 1."""
    subject = lab.subject(arm, seed)
    vectors = normalize(word_vectors(subject.model), dim=-1)
    pairs = [[id_of(subject, word) for word in line.split()[:2]] for line in COUNTRIES]
    offsets = [vectors[country] - vectors[capital] for country, capital in pairs]
    return mean_cosine(normalize(vectors.new_tensor([offset.tolist() for offset in offsets]), dim=-1))


K013 = Claim(
    title="China is to Beijing as Japan is to Tokyo",
    source="Qiu et al., sec. 3.3.1; Mikolov et al. 2013, NAACL",
    prediction="The offsets of two countries have a mean cosine above 0.5: they share more than half of their "
    "direction.",
    otherwise="Offsets of different countries point in different directions.",
    common=Arm(corpus="families", steps=600, figure="mean cosine of two offsets"),
    arms={"skip-gram NS": {"entry": "skip-gram NS"}, "GloVe": {"entry": "GloVe"}},
    rules=(higher("skip-gram NS", 0.5), higher("GloVe", 0.5)),
    compute=likeness,
    unit="(cosine)",
    scale="The offsets and not the answers to analogies are compared, because in so small a text the word nearest to a "
    "country is often its capital, which answers every question without an offset. "
    "600 steps are those of K014.",
    also=("counts",),
    history=(
        "Seeds 0 and 1 were seen with a rule about solved analogies; it became one about offsets, because"
        " the word nearest to a country answers every question without an offset.",
    ),
)
