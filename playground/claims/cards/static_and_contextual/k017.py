"""Static word vectors as features help, but only so far, since the network above them is trained from scratch;
contextual features help more."""

from playground.claims import Arm, Claim, higher

K017 = Claim(
    title="What static features are worth",
    source="Weng, introduction; Qiu et al., sec. 2.4.1",
    prediction="The same LSTM classifies better on pre-trained word vectors than on random ones, and better still when "
    "it also reads the pre-trained layers.",
    otherwise="Pre-trained word vectors do not help, or the layers add nothing to them.",
    common=Arm("RoBERTa", steps=600, one_model=True, task="sentiment", train_size=256, figure="accuracy"),
    arms={
        "random vectors": {"strategy": "LSTM on word vectors + random start"},
        "static vectors": {"strategy": "LSTM on word vectors"},
        "contextual vectors": {"strategy": "ELMo at the input"},
    },
    rules=(higher("static vectors", "random vectors"), higher("contextual vectors", "static vectors")),
    scale="One pre-trained model of 600 steps for all seeds; the labelled texts and the LSTM vary. The static vectors "
    "are the embeddings of that model, not word2vec.",
)
