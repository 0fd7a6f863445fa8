"""A model trained with next sentence prediction hardly beats chance at sentence order, while a model trained with
sentence order prediction solves next sentence prediction to a reasonable degree."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, alike, higher
from playground.claims.figures.pairs import pairs, right_pairs


def transferred(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy at one question of a model that was trained with the same or the other one, without a new head."""
    trained, asked = arm.figure.split(" at ")
    own = replace(arm, entry=f"{trained} + MLM")
    return right_pairs(lab, own, seed, asked, pairs(lab, own, seed))


K087 = Claim(
    title="NSP and SOP at each other's question",
    source="From Static to Contextualized Embedding; Lan et al., arXiv:1909.11942, table 5",
    prediction="Each is above 0.7 at its own question. The NSP model is within 0.1 of chance at SOP; the SOP model is "
    "at 0.6 or higher at NSP.",
    otherwise="The NSP model knows the order, or the SOP model cannot tell a random second text.",
    common=Arm(entry="NSP + MLM", corpus="stories", steps=1000, one_model=True),
    arms={f"{one} at {other}": {"figure": f"{one} at {other}"} for one in ("NSP", "SOP") for other in ("NSP", "SOP")},
    compute=transferred,
    rules=(
        higher("NSP at NSP", 0.0, by=0.7),
        higher("SOP at SOP", 0.0, by=0.7),
        alike("NSP at SOP", 0.5, within=0.1),
        higher("SOP at NSP", 0.0, by=0.6),
    ),
    unit="accuracy",
    published="ALBERT, table 5: NSP at NSP 90.5, NSP at SOP 52.0, SOP at NSP 78.9, SOP at SOP 86.5",
    scale="One model of each kind for all seeds, which draw other pairs. The second half depends on cues that order "
    "and continuity share, which a generated text may lack.",
)
