"""Story ending: which of four sentences goes on with a story?"""

from random import Random

from playground.corpora.tinyworld.lexicon import TOPICS
from playground.corpora.tinyworld.tasks.draw import balanced, different, task_random
from playground.corpora.tinyworld.tasks.stories import story
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Choice

NAMES = tuple(topic.name for topic in TOPICS)
CHOICES = 4


def endings(count: int, seed: int, split: Split) -> list[Item]:
    """The beginning of a story, its last sentence, and last sentences of stories that happen elsewhere."""
    random = task_random(seed, "story ending", split)
    return [
        item
        for label in range(CHOICES)
        for item in different(
            balanced(count, CHOICES, Random(0)).count(label),
            split,
            lambda right=label: _item(right, random),
            lambda item: item.words,
            CHOICES,
        )
    ]


def _item(right: int, random: Random) -> Item:
    here, *elsewhere = random.sample(NAMES, CHOICES)
    sentences = story(here, random)
    choices = [story(name, random)[-1] for name in elsewhere]
    choices.insert(right, sentences[-1])
    return Item(([word for sentence in sentences[:3] for word in sentence],), right, choices=tuple(choices))


STORY_ENDING = Task(
    name="story ending",
    aliases=("multiple choice", "story cloze", "SWAG"),
    idea="Choose the sentence that continues a story; each of four is read after its beginning.",
    source="after the Story Cloze Test (arXiv:1604.01696); stories from the generated world",
    answer=Choice(CHOICES),
    items=endings,
)
