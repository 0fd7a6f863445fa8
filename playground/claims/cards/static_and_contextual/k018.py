"""To transfer the embeddings only is not enough for high-level concepts such as word sense."""

from playground.claims import Arm, Claim, alike, higher

K018 = Claim(
    title="Embeddings only, and word sense",
    source="Qiu et al., sec. 5.2.2",
    prediction="With the word vectors alone a classifier guesses whether a word means the same in two sentences; with "
    "the top layer it is better.",
    otherwise="The word vectors do better than a guess, or the top layer does not.",
    common=Arm(corpus="senses", steps=1000, one_model=True, task="word in context", train_size=256, figure="accuracy"),
    arms={"top layer": {"strategy": "feature-based"}, "embeddings only": {"strategy": "embeddings only"}},
    rules=(alike("embeddings only", 0.5, within=0.05), higher("top layer", "embeddings only", by=0.1)),
    scale="The classifier reads the word itself, so its embedding is the same in both sentences by construction. What "
    "is measured is how much the layers of a tiny model add. One model of 1,000 steps serves all seeds, since 300 "
    "steps left the top layer at a guess with two seeds; the labelled texts and the heads vary.",
)
