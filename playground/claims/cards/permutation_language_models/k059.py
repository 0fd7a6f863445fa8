"""In the order 3, 2, 4, 1 token 1 attends to all tokens, token 2 to 2 and 3, token 3 to itself and token 4 to 2, 3 and
4; the query stream attends to the same without the token itself."""

from playground.claims import Arm, Claim, Lab, equal
from playground.claims.figures.text import example


def as_printed(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of keys that are open exactly where the figure of the arm names them, as "query 1: 2 3 4" does."""
    inputs = example(lab, arm, seed, {"order": [3, 2, 4, 1], "cut": 0}).inputs
    about, keys = arm.figure.split(":")
    stream, position = about.split()
    mask = inputs.attn_mask if stream == "content" else inputs.query_attn_mask
    assert mask is not None
    row = mask.dense()[0, int(position) - 1].tolist()
    return sum(is_open == (str(k) in keys.split()) for k, is_open in enumerate(row, 1)) / len(row)


K059 = Claim(
    title="The masks of the order 3, 2, 4, 1",
    source="From Static to Contextualized Embedding, on XLNet; Yang et al., arXiv:1906.08237, fig. 2",
    prediction="All rows of both attention masks are as the text says.",
    otherwise="Some cell of a mask is open where the text closes it, or closed where it opens it.",
    common=Arm(entry="PLM", corpus="world", steps=0),
    arms={
        f"{stream}, token {k}": {"figure": f"{stream} {k}: {keys}"}
        for stream, rows in {"content": ("1 2 3 4", "2 3", "3", "2 3 4"), "query": ("2 3 4", "3", "", "2 3")}.items()
        for k, keys in enumerate(rows, 1)
    },
    compute=as_printed,
    rules=tuple(equal(f"{stream}, token {k}", 1.0) for stream in ("content", "query") for k in range(1, 5)),
    seeds=2,
    unit="of the cells as in the text",
    scale="This reads the masks that train, so no training and no size of model changes it.",
)
