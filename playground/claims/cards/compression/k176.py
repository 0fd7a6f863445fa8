"""Word vectors of a sixth of the width, projected up, save a sixth of BERT and cost less than 1 %."""

from playground.claims import Arm, Claim, Rule
from playground.claims.figures.tuning import over_tasks

K176 = Claim(
    title="Factorised embeddings cost little",
    source="From Static to Contextualized Embedding, ALBERT; Weng, ALBERT; Lan et al., arXiv:1909.11942, table 3",
    prediction="The mean accuracy of three tasks is at most 0.01 lower.",
    otherwise="Narrow vectors lose more.",
    common=Arm(entry="MLM", corpus="world", task="sentiment"),
    arms={"narrow": {"settings": "embedding_size=12"}, "whole": {"settings": "embedding_size=0"}},
    rules=(Rule("narrow", "whole", -0.01, 1.0),),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    published="BERT to ALBERT with E=128: 19M parameters fewer, less than 1 % lower.",
    scale="From 64 to 12 numbers per word. ALBERT goes from 768 to 128, which is still enough for 30,000 words; 12 "
    "numbers may be too few for 800.",
)
