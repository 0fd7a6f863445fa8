"""Block diffusion: block after block from left to right, and the words of a block by diffusion."""

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskDiffused
from playground.objectives.catalog.masked_diffusion import diffusion_term
from playground.objectives.change import AppendCleanCopy, ReplaceWithMask
from playground.objectives.choose import ChooseDiffusedBlocks
from playground.objectives.objective import Objective
from playground.objectives.see import SeeBlocks

BLOCK_DIFFUSION = Objective(
    name="block diffusion",
    aliases=("BD3-LM", "BD3LM", "semi-autoregressive diffusion"),
    group="Masking",
    stages=(
        ArrangeText(), ChooseDiffusedBlocks(), ReplaceWithMask(), AppendCleanCopy(), SeeBlocks(), AskDiffused(),
    ),
    idea="Cut the text into blocks, draw a time t for each block, hide each of its words with probability t, and "
    "predict what is hidden from its own block and from all words of earlier blocks.",
    loss="Cross-entropy of the hidden words, each divided by the t of its block, summed and divided by the number of "
    "all words. In the mean it is an upper bound of the negative log-likelihood of each word; exact for blocks of one.",
    terms=(diffusion_term("t_i", "the time of the block of word i"),),
    source="BD3-LM, arXiv:2503.09573, sec. 3 and 4.1",
    versus={
        "masked diffusion": "Predicts the blocks from left to right. With one block for all it is masked diffusion.",
        "LM": "Predicts whole blocks at a time. With blocks of one word it predicts each from those to its left.",
    },
)  # fmt: skip
