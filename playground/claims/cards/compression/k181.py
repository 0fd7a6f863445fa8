"""With a teacher's soft targets a small student comes near the teacher; with labels alone it does not."""

from playground.claims import Arm, Claim, Rule, higher

K181 = Claim(
    title="Soft targets or hard labels",
    source="Liu et al., sec. 6; Qiu et al., sec. 4.5.4; Hinton et al., arXiv:1503.02531",
    prediction="On the same texts soft targets beat labels; with more texts the student is within 0.03 of the teacher.",
    otherwise="Labels teach as much, or the student is far worse than its teacher.",
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
        "soft": {"pipeline": "soft targets(alpha=1, unlabelled=0, start=new)"},
        "hard": {"pipeline": "soft targets(alpha=0, unlabelled=0, start=new)"},
        "soft, more texts": {"pipeline": "soft targets(alpha=1, start=new)"},
        "teacher": {"pipeline": "quantization(bits=32, embedding_bits=32)"},
    },
    rules=(higher("soft", "hard"), Rule("soft, more texts", "teacher", -0.03, 1.0)),
    unit="accuracy",
    seeds=8,
    scale="The student has one new layer and the teacher's word vectors. The task has two classes, so soft targets say "
    "little more than how sure the teacher is; the additional texts have no labels.",
)
