"""The last words of LAMBADA can be predicted only with at least 50 tokens of context."""

from playground.claims import Arm, Claim, higher, lower

K039 = Claim(
    title="LAMBADA asks for a long context",
    source="Weng, GPT-2, summary of tasks; Paperno et al., arXiv:1606.06031",
    prediction="A last word whose cue comes 18 words before it is right in most texts if the window covers the cue, "
    "and in less than a fifth if it does not.",
    otherwise="The window does not matter.",
    common=Arm("window LM", corpus="gaps", steps=300, instrument="last word", figure="distance 18"),
    arms={"window of 32": {"settings": "sliding_window=32"}, "window of 8": {"settings": "sliding_window=8"}},
    rules=(higher("window of 32", 0.5), lower("window of 8", 0.2)),
    unit="of the texts",
    scale="18 words where LAMBADA needs 50, and a cue that is repeated word by word. Two layers with a window of 8 "
    "reach back 15 words. 300 steps as in K023.",
    seeds=4,
    history=(
        "Seed 0 was seen with the instrument last word (0.8 at a distance of 28 with a window of 8); it reads without "
        "the window, so the figure is now computed with the window of the arm.",
        "The instrument reads with the window now and is asked again.",
    ),
)
