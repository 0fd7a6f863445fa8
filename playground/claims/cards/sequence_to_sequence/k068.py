"""Pre-training an encoder and a decoder together helps generation tasks such as translation, most where there are few
pairs to learn from."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.benefit import benefit

K068 = Claim(
    title="MASS helps where pairs are few",
    source="Liu et al., sec. 2.3; Qiu et al., sec. 3.1.3 and 7.4; Song et al., arXiv:1905.02450, sec. 4",
    prediction="With 64 sentence pairs pre-training adds 0.05 or more to the share of right words; with 1,024 pairs it "
    "adds less.",
    otherwise="It adds less than that, or as much with many pairs.",
    common=Arm(entry="span mask objective", corpus="parallel", one_model=True, task="translation", tuning_steps=300),
    arms={"64 pairs": {"train_size": 64}, "1,024 pairs": {"train_size": 1024}},
    compute=benefit,
    rules=(higher("64 pairs", 0.0, by=0.05), higher("64 pairs", "1,024 pairs")),
    seeds=4,
    unit="of the words, more than from a random start",
    scale="One model for all seeds, which draw other pairs. Words are predicted with the right ones before them "
    "given. Pre-training reads both languages of the same generated world; the invented language differs by order and "
    "words only.",
)
