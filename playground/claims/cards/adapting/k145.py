"""Learning a related supervised task before the task itself helps models such as BERT and GPT."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, higher


def gain(lab: Lab, arm: Arm, seed: int) -> float:
    """How much more accurate the task is after the intermediate task than without it, in as many steps."""
    with_it, without = (lab.tuned(replace(arm, strategy=name), seed) for name in ("intermediate task", "full"))
    return with_it.accuracy - without.accuracy


K145 = Claim(
    title="A related task in between",
    source="Qiu et al., sec. 5.3; Phang et al., arXiv:1811.01088",
    prediction="With entailment as intermediate task MLM and LM are both more accurate at paraphrases.",
    otherwise="The intermediate task changes nothing, or it harms.",
    common=Arm(corpus="world", task="paraphrase", strategy="intermediate task"),
    arms={"MLM": {"entry": "MLM"}, "LM": {"entry": "LM"}},
    rules=(higher("MLM", 0.0), higher("LM", 0.0)),
    compute=gain,
    unit="accuracy gained",
    scale="64 paraphrases after 512 pairs of entailment, in 80 steps in all, so that the task itself has half of them. "
    "Neither task is easy for a model of 300 steps. ELMo is left out.",
    also=("attention",),
)
