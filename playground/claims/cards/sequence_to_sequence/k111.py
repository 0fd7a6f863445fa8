"""A sequence-to-sequence model is better if encoder and decoder begin with weights of language models."""

from playground.claims import Arm, Claim, Lab, higher
from playground.claims.figures.tuning import result
from playground.finetuning.apply.add_decoder import with_decoder
from playground.finetuning.run.base import base_of


def translated(lab: Lab, arm: Arm, seed: int) -> float:
    """The accuracy of a translator whose encoder and decoder both have the layers of a language model."""
    learner, words = lab.learner(arm, seed), lab.corpus(arm).tokenizer
    whole = with_decoder(learner, words, learner, words)
    return result(base_of(whole, lab.corpus(arm)), words, arm, seed).accuracy


K111 = Claim(
    title="A translator from language models",
    source="Liu et al., sec. 3.1; Qiu et al., sec. 2.4.2 and 7.5; Ramachandran et al., arXiv:1611.02683",
    prediction="With 256 pairs of sentences, the translator from language models is more accurate than that with "
    "random weights.",
    otherwise="It is as accurate.",
    common=Arm(
        "LM", corpus="bilingual", steps=600, one_model=True, task="translation", train_size=256, tuning_steps=160
    ),
    arms={"language models": {"strategy": "full"}, "random": {"strategy": "random start"}},
    rules=(higher("language models", "random"),),
    compute=translated,
    unit="accuracy per written token",
    scale="One language model of both languages gives both parts, where the paper has one for each language. Attention "
    "from the decoder to the encoder is new. One pre-trained model for all seeds; pairs and new weights vary.",
)
