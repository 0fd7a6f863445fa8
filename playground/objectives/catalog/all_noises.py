"""All corruptions of BART together, with the word noise of unsupervised translation."""

from playground.objectives.catalog.bart import BART_MIXTURE, WRITE
from playground.objectives.change import (
    ChangeSentenceOrder,
    ChangeTokens,
    ChangeWordOrder,
    DeleteTokens,
    RotateDocument,
    SpansToSentinels,
)
from playground.objectives.choose import ChooseForDeletion, ChoosePoissonSpans, ChooseRatio

ALL_NOISES = BART_MIXTURE.variant(
    name="all noises",
    aliases=("denoising autoencoder", "DAE", "noise chain"),
    stages=(
        ChooseRatio(mask_ratio=0.1),
        ChangeTokens(mask_replace_prob=1.0, random_replace_prob=0.0),
        ChoosePoissonSpans(mask_ratio=0.15),
        SpansToSentinels("mask"),
        ChooseForDeletion(delete_ratio=0.1),
        DeleteTokens(),
        ChangeSentenceOrder(),
        ChangeWordOrder(shuffle_distance=2),
        RotateDocument(),
        *WRITE,
    ),
    idea="Mask, infill, delete, shuffle sentences and neighbours, and rotate the text; a decoder restores it. "
    "Each noise has a knob that switches it off.",
    source="arXiv:1910.13461, sec. 2.2; word noise of arXiv:1711.00043, sec. 2.3",
)
