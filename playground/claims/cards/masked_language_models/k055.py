"""Noise in the input makes the representation of an autoencoder general; without noise it learns to copy."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.tuning import over_tasks

K055 = Claim(
    title="Without noise a model copies",
    source="From Static to Contextualized Embedding, BERT, on autoencoders of images",
    prediction="The same loss with and without masks: with them the mean accuracy of three tasks is higher by 0.02.",
    otherwise="The model that only copies serves the tasks as well.",
    common=Arm("MLM", corpus="world", task="sentiment"),
    arms={
        "noise": {"settings": "mask_replace_prob=0.8, random_replace_prob=0.1"},
        "no noise": {"settings": "mask_replace_prob=0, random_replace_prob=0"},
    },
    rules=(higher("noise", "no noise", by=0.02),),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    scale="In both arms 15 % of the words are predicted; without noise they are in the input as they are. Words for "
    "words, where the source speaks of images.",
)
