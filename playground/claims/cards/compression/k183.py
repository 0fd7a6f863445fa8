"""A student that also matches states and attention of its teacher is better than with answers alone."""

from playground.claims import Arm, Claim, higher

K183 = Claim(
    title="Matching more of the teacher",
    source="Qiu et al., sec. 4.5.4, TinyBERT, MobileBERT and MiniLM; Jiao et al., arXiv:1909.10351",
    prediction="Answers and states beat answers alone, and attention on top of them is better still.",
    otherwise="The answers alone teach as much.",
    common=Arm(
        entry="RoBERTa",
        corpus="reviews",
        steps=600,
        one_model=True,
        task="sentiment",
        train_size=128,
        figure="accuracy",
    ),
    arms={
        "answers": {"pipeline": "TinyBERT(start=new, embeddings=0, hidden=0, attention=0)"},
        "and states": {"pipeline": "TinyBERT(start=new, attention=0)"},
        "and attention": {"pipeline": "TinyBERT(start=new)"},
    },
    rules=(higher("and states", "answers"), higher("and attention", "and states")),
    unit="accuracy",
    seeds=5,
    scale="The student has one new layer for the teacher's two. All arms have the same number of steps on the answers.",
)
