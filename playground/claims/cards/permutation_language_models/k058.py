"""A permutation language model permutes the order of prediction; words and positions of its input stay."""

from playground.claims import Arm, Claim, Lab, equal, higher
from playground.claims.figures.text import example


def changed(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of a part of the input that differs between two orders of one text."""
    inputs = [example(lab, arm, seed, {"order": order, "cut": 0}).inputs for order in ([1, 2, 3, 4], [3, 2, 4, 1])]
    first, second = (
        {"words": one.ids, "positions": one.position_ids, "mask": one.attn_mask.dense()}[arm.figure] for one in inputs
    )
    return float((first != second).float().mean())


K058 = Claim(
    title="The text itself is not shuffled",
    source="Qiu et al., sec. 3.1.3; From Static to Contextualized Embedding; Yang et al., arXiv:1906.08237, sec. 2.2",
    prediction="Between two orders the words and the position ids are identical; only the attention masks differ.",
    otherwise="The words or their positions differ between two orders.",
    common=Arm(entry="PLM", corpus="world", steps=0),
    arms={"words": {"figure": "words"}, "positions": {"figure": "positions"}, "attention mask": {"figure": "mask"}},
    compute=changed,
    rules=(equal("words", 0.0), equal("positions", 0.0), higher("attention mask", 0.0, exact=True)),
    seeds=2,
    unit="of the values differ",
    scale="This compares tensors, so no training and no size of model changes it. It settles a picture that shuffles "
    "the sentence itself.",
)
