"""Hiding 30 % of the words at the beginning of the training and 15 % at its end is better than 15 % or 30 %
throughout."""

from playground.claims import Arm, Claim, lower
from playground.claims.figures.hidden_words import loss_of_hidden_words

K221 = Claim(
    title="A masking rate that falls",
    source="Ankner et al., arXiv:2305.15096, sec. 3",
    prediction="After as many steps on as many tokens, the loss of words that MLM hides at 15 % is lowest with the "
    "rate that falls.",
    otherwise="One of the constant rates does as well or better.",
    common=Arm(corpus="world", steps=300),
    arms={
        "falling": {"entry": "MLM from 30 to 15 %"},
        "15 %": {"entry": "MLM"},
        "30 %": {"entry": "MLM at 30 %"},
    },
    compute=loss_of_hidden_words,
    rules=(lower("falling", "15 %"), lower("falling", "30 %")),
    unit="nats a word",
    published="BERT-base: 0.46 points of GLUE above 15 %",
    scale="The paper trains far longer and measures accuracy on tasks. After 300 steps a model is still learning, and "
    "more hidden words are also more to learn from. MLM hides an exact share of a row, the others draw each "
    "word alone.",
)
