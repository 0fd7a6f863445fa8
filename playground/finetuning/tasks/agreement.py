"""Agreement: does the verb have the number of its subject?"""

from functools import partial

from playground.finetuning.data.task import Task
from playground.finetuning.data.task_types import Classes
from playground.finetuning.tasks.acceptability import judged

AGREEMENT = Task(
    name="agreement",
    aliases=("subject-verb agreement", "attractors"),
    idea="Say whether the verb agrees with its subject, up to four misleading nouns away.",
    source="after arXiv:1611.01368, sec. 4; minimal pairs from the generated grammar",
    answer=Classes(("wrong", "right")),
    items=partial(judged, tuple(f"agreement-{attractors}" for attractors in range(5))),
    corpora=("agreement", "world"),
)
