"""A masked language model of several languages transfers tasks between them without any translation."""

from playground.claims import Arm, Claim, higher

K164 = Claim(
    title="Multilingual MLM transfers",
    source="Qiu et al., sec. 4.2.1; Liu et al., sec. 4; Pires et al., arXiv:1906.01502",
    prediction="A tagger trained in the first language tags the second better than one without pre-training.",
    otherwise="In the second language both are equally good.",
    common=Arm(
        entry="multilingual MLM", corpus="bilingual", steps=600, task="part of speech abroad", figure="accuracy"
    ),
    arms={"pre-trained": {"strategy": "full"}, "random": {"strategy": "random start"}},
    rules=(higher("pre-trained", "random"),),
    unit="accuracy in the second language",
    scale="A tenth of the words is shared, and the second language puts its verbs last. Tagging is the easiest task; "
    "sentiment needs many more steps.",
)
