"""Translation language modelling learns a better cross-lingual model than multilingual MLM."""

from playground.claims import Arm, Claim, higher

K167 = Claim(
    title="TLM aligns two languages",
    source="Liu et al., sec. 4; Qiu et al., sec. 4.2.1; Lample and Conneau, arXiv:1901.07291",
    prediction="After TLM the nearest sentence of the other language is the translation more often.",
    otherwise="Both find the translation as often.",
    common=Arm(corpus="parallel", steps=400, instrument="sentence retrieval", figure="P@1 forward"),
    arms={"TLM": {"entry": "TLM"}, "multilingual MLM": {"entry": "multilingual MLM"}},
    rules=(higher("TLM", "multilingual MLM"),),
    unit="of the translations first",
    published="XNLI, mean of 15 languages: 75.1 with TLM, 71.5 with MLM.",
    scale="TLM also reads an embedding of the language and positions that begin again in the second sentence.",
)
