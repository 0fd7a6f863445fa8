"""Masking random spans generalises the masking of names and needs no external knowledge."""

from playground.claims import Arm, Claim, alike

K047 = Claim(
    title="Random spans need no knowledge",
    source="Liu et al., sec. 3.2, on SpanBERT and ERNIE",
    prediction="After either kind of masking names are found equally well, to 0.03 of F1.",
    otherwise="Masking names is better for finding them, or worse.",
    common=Arm(corpus="world", task="entities", train_size=128, figure="accuracy"),
    arms={"span masking": {"entry": "span masking"}, "entity masking": {"entry": "entity masking"}},
    rules=(alike("span masking", "entity masking", within=0.03),),
    unit="F1 of the names",
    scale="Names are one or two words of a closed list, so a few labels find most of them. 300 steps.",
)
