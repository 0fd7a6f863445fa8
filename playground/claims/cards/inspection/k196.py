"""A limited set of attention patterns recurs in the heads of a model."""

from playground.claims import Arm, Claim, higher

K196 = Claim(
    title="Few attention patterns recur",
    source="Liu et al., sec. 7; Kovaleva et al., arXiv:1908.08593",
    prediction="At least 80 % of the heads follow a named pattern; before training far fewer do.",
    otherwise="Many heads follow no named pattern, or as many before training.",
    common=Arm("MLM", corpus="world", instrument="attention patterns", figure="heads with a pattern"),
    arms={"300 steps": {"steps": 300}, "random start": {"steps": 0}},
    rules=(higher("300 steps", 0.8), higher("300 steps", "random start", by=0.3)),
    unit="of the heads",
    scale="Eight heads. A head follows a pattern if half of its attention lies there; the paper sorts pictures of "
    "attention by eye, and many heads that spread theirs evenly have a class too.",
)
