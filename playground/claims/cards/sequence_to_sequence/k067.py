"""A bidirectional encoder such as BERT is hard to use for generation; a left-to-right language model writes better
sentences."""

from playground.claims import Arm, Claim, lower
from playground.claims.figures.writing import grammatical

K067 = Claim(
    title="BERT is hard to write with",
    source="Liu et al., sec. 2.3; Qiu et al., sec. 7.4",
    prediction="Of sentences that MLM writes by filling one gap after another, far fewer are grammatical than of "
    "sentences that LM writes: the share is lower by 0.2 or more.",
    otherwise="The sentences of MLM are as grammatical.",
    common=Arm(corpus="reviews"),
    arms={"MLM": {"entry": "MLM"}, "LM": {"entry": "LM"}},
    compute=grammatical,
    rules=(lower("MLM", "LM", by=0.2),),
    unit="of the sentences",
    scale="Sentences have seven tokens, the first of which is given. MLM gets their length, which it could not choose "
    "itself. The grammar decides, so meaning and variety are not measured.",
    also=("attention",),
)
