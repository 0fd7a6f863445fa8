"""GPT-2 is better than ELMo because it is a transformer and because it is larger."""

from playground.claims import Arm, Claim, lower

K027 = Claim(
    title="Transformer and size",
    source="From Static Embedding to Contextualized Embedding, GPT-2",
    prediction="As a left-to-right language model a transformer has a lower loss than an LSTM of its width, and one of "
    "twice the width a lower one still.",
    otherwise="One of the two does not lower the loss.",
    common=Arm("LM", corpus="world", steps=150, figure="held-out loss"),
    arms={
        "LSTM": {"settings": "kind=lstm"},
        "transformer": {"settings": "kind=transformer"},
        "larger": {"settings": "width=128"},
    },
    rules=(lower("transformer", "LSTM"), lower("larger", "transformer")),
    unit="nats",
    seeds=4,
    scale="Loss after 150 steps on short sentences, with the same rates, which may be too little training for an LSTM. "
    "ELMo also reads from right to left, which is left out.",
)
