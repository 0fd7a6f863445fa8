"""Sentiment: does a sentence of a review praise or blame?"""

from playground.corpora.tinyworld.tasks import polarity_sentences
from playground.finetuning.task import Task

SENTIMENT = Task(
    name="sentiment",
    aliases=("polarity", "sst"),
    idea="Say whether a sentence of a review praises or blames; some negate.",
    source="after SST-2 (Socher et al. 2013); texts from the generated corpus",
    classes=("bad", "good"),
    sentences=polarity_sentences,
)
