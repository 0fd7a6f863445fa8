"""Topic: where does a sentence of a story happen?"""

from playground.corpora.tinyworld.lexicon import TOPICS
from playground.corpora.tinyworld.tasks.draw import balanced, different, task_random
from playground.corpora.tinyworld.tasks.stories import story
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes

NAMES = tuple(topic.name for topic in TOPICS)


def events(count: int, seed: int, split: Split) -> list[Item]:
    """Single sentences from stories, about as many of each topic."""
    random = task_random(seed, "topic", split)
    labels = balanced(count, len(NAMES), random)
    drawn = [
        different(labels.count(k), split, lambda name=name: random.choice(story(name, random)[2:]), list, len(NAMES))
        for k, name in enumerate(NAMES)
    ]
    return [Item((drawn[label].pop(),), label) for label in labels]


TOPIC = Task(
    name="topic",
    aliases=("news", "topic classification", "text classification", "20 newsgroups"),
    idea="Say in which of six places a sentence of a story happens.",
    source="after 20 Newsgroups (Lang 1995); sentences from the generated stories",
    answer=Classes(NAMES),
    items=events,
    prompt=("a", "day", "in", "the"),
)
