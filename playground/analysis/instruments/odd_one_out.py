"""Three words of one topic and one of another: is the odd one out the least similar?"""

from dataclasses import dataclass
from random import Random

import scipy
import torch
from torch.nn.functional import normalize

from playground.analysis.finding import Finding, Number, Rows, Table
from playground.analysis.instrument import Instrument
from playground.analysis.subject import Subject
from playground.analysis.words.vectors import known_words, word_vectors
from playground.corpora.tinyworld.lexicon import TOPICS
from playground.knob import knob
from playground.rng import derive

SHOWN, FEWEST = 12, 4
"""Groups that are shown; known words that a topic needs."""


@dataclass(frozen=True)
class Settings:
    """How many groups of four are asked."""

    count: int = knob(300, 20, 2_000, unit="groups of four", why="With 300 two standard errors are 5 points.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """The word with the lowest mean cosine to the other three, among the word vectors."""
    topics, random = _topics(subject), Random(derive(subject.seed, "odd one out"))
    names = list(topics)
    groups = []
    for _ in range(settings.count):
        one, other = random.sample(names, 2)
        groups.append([*random.sample(topics[one], 3), random.choice(topics[other])])
    subject.count(len(groups), "groups of four words")
    ids = torch.tensor([subject.tokenizer.encode_words(group) for group in groups])
    vectors = normalize(word_vectors(subject.model).double(), dim=1)[ids]  # [groups, 4, d]
    cosines = vectors @ vectors.transpose(1, 2)
    odd = cosines.sum(2).argmin(1)
    right = (odd == 3).double()
    same = torch.zeros(4, 4, dtype=torch.bool)
    same[:3, :3] = True
    pairs = torch.triu_indices(4, 4, 1)
    gold = same[pairs[0], pairs[1]].expand(len(groups), -1)
    pair_cosines = cosines[:, pairs[0], pairs[1]]
    fit = float(scipy.stats.spearmanr(pair_cosines.flatten().numpy(), gold.flatten().numpy()).statistic)  # type: ignore[attr-defined]
    examples = {
        "group": [" ".join(group) for group in groups[:SHOWN]],
        "stranger": [group[3] for group in groups[:SHOWN]],
        "chosen": [group[k] for group, k in zip(groups[:SHOWN], odd.tolist(), strict=False)],
    }
    return Finding(
        f"The odd one out of four words is found in {float(right.mean()):.0%} of the groups; chance is 25 %.",
        (
            Number("stranger found", float(right.mean()), "share of the groups", {"chance": 0.25, "grammar": 1.0}),
            Number("cosine and topic", fit, "Spearman's correlation", {"chance": 0.0}),
        ),
        (Table("Groups of four", examples, Rows()),),
    )


def _topics(subject: Subject) -> dict[str, list[str]]:
    """People and things of each topic that stand in the training text and in no other topic."""
    known = known_words(subject.corpus)
    words = {topic.name: {*topic.people.split(), *" ".join(topic.phases.values()).split()} for topic in TOPICS}
    own = {
        name: sorted(w for w in mine & known if sum(w in other for other in words.values()) == 1)
        for name, mine in words.items()
    }
    return {name: mine for name, mine in own.items() if len(mine) >= FEWEST}


def knows_topics(subject: Subject) -> str:
    """Its training text holds the words of at least two topics."""
    if len(_topics(subject)) >= 2:
        return ""
    return f"The corpus {subject.corpus.name} has no words of several topics; train on world or agreement."


ODD_ONE_OUT = Instrument(
    name="odd one out",
    group="Knowledge",
    question="Which of four words does not belong?",
    source="word intrusion (Chang et al. 2009), with vectors; topics of our grammar",
    measure=measure,
    rows=("V56",),
    needs=(knows_topics,),
    settings=Settings(),
)
