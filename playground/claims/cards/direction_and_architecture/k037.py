"""A language model sees a window of k words; what decides the next word farther back is lost to it."""

from playground.claims import Arm, Claim, alike, lower

K037 = Claim(
    title="The window of a language model",
    source="Weng, GPT, the loss with a window of size k",
    prediction="The loss falls from 1 to 4 words by at least 0.1 nats; once the window holds a sentence it stays, to "
    "0.05 nats from 8 to 16.",
    otherwise="A longer window does not help at first, or the loss never stops falling.",
    common=Arm("window LM", corpus="families", steps=200, figure="held-out loss"),
    arms={f"{k} words": {"settings": f"layers=1, sliding_window={k}"} for k in (1, 4, 8, 16)},
    rules=(lower("4 words", "1 words", by=0.1), alike("8 words", "16 words", within=0.05)),
    unit="nats",
    scale="Short sentences, and one layer, so that the window is all that a prediction can see. In real text the loss "
    "keeps falling for thousands of words.",
)
