"""Recurrent networks have a long-term dependency problem; a transformer relates any two words directly."""

from playground.claims import Arm, Claim, higher

K023 = Claim(
    title="A word from far back",
    source="Qiu et al., sec. 2.2; Liu et al., sec. 3.1; From Static Embedding to Contextualized Embedding, ELMo",
    prediction="A word that was said 28 words before is repeated by the transformer in most texts, and far less often "
    "by the LSTM.",
    otherwise="The LSTM repeats it as often, or the transformer does not repeat it either.",
    common=Arm("LM", corpus="gaps", steps=300, instrument="last word", figure="distance 28"),
    arms={"transformer": {"settings": "kind=transformer"}, "LSTM": {"settings": "kind=lstm"}},
    rules=(higher("transformer", 0.5), higher("transformer", "LSTM", by=0.2)),
    unit="of the texts",
    scale="Both have two layers of width 64; the LSTM has fewer weights. 28 words is far for a row of 32 tokens; real "
    "dependencies can span hundreds. 300 steps were chosen because 600 gave nearly the same (two seeds).",
    seeds=4,
)
