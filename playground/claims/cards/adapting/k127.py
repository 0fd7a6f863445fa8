"""As features, a learned mix of all layers is better than the top layer alone."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.tuning import over_tasks

K127 = Claim(
    title="A mix of all layers or the top one",
    source="Weng, ELMo; Qiu et al., sec. 5.2.2; Peters et al., arXiv:1802.05365, sec. 5.1",
    prediction="On a frozen model, the layer mix is more accurate than the top layer.",
    otherwise="The top layer alone is as accurate.",
    common=Arm(entry="RoBERTa", steps=600, one_model=True, task="sentiment"),
    arms={"layer mix": {"strategy": "layer mix"}, "top layer": {"strategy": "feature-based"}},
    rules=(higher("layer mix", "top layer"),),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    seeds=10,
    published="ELMo on SQuAD: F1 85.2 with all layers, 84.7 with the top layer.",
    scale="Sentiment, topic and part of speech with 64 labelled texts. The model has two layers; all seeds share it.",
)
