"""An LSTM whose weights come from a language model generalises better than one with random weights."""

from playground.claims import Arm, Claim, higher

K110 = Claim(
    title="An LSTM that begins as a language model",
    source="Liu et al., sec. 3.1; Qiu et al., sec. 2.4.2; Dai and Le, arXiv:1511.01432",
    prediction="With 64 labelled texts the LSTM that was a language model is more accurate at sentiment.",
    otherwise="The LSTM with random weights is as accurate.",
    common=Arm("Dai and Le", corpus="reviews", steps=400, task="sentiment", tuning_steps=160, figure="accuracy"),
    arms={"language model": {"strategy": "full"}, "random": {"strategy": "random start"}},
    rules=(higher("language model", "random"),),
    unit="accuracy",
    scale="The paper also starts from a sequence autoencoder, which is not here. The corpus has short reviews only.",
)
