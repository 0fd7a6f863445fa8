"""A model of a single language is significantly better at it than a multilingual model."""

from playground.claims import Arm, Claim, lower
from playground.claims.figures.languages import second_language_loss

K171 = Claim(
    title="Monolingual or multilingual",
    source="Qiu et al., sec. 4.2.2",
    prediction="With enough text the loss on held-out text of the second language is lower by at least 0.1 nats after "
    "training on this language alone.",
    otherwise="Half of the text in another language costs nothing.",
    common=Arm("MLM", corpus="bilingual", tokens=300_000),
    arms={name: {"figure": name} for name in ("second language alone", "both languages")},
    rules=(lower("second language alone", "both languages", by=0.1),),
    compute=second_language_loss,
    unit="nats",
    scale="The same network and as many steps, so that the model of both reads half as much of the second language. "
    "Real multilingual models share their size among a hundred languages. A loss, not a task.",
)
