"""Tasks by name: those of the catalogue, and one made of a labelled file."""

from playground.catalog import choose, find
from playground.errors import Refusal
from playground.finetuning.data.files import is_file, open_file
from playground.finetuning.data.task import Task


def tasks() -> dict[str, Task]:
    """Every task by name."""
    return find("playground.finetuning.tasks", Task)


def find_task(name: str) -> Task:
    """One task by its name or an alias, or one made of the user's labelled file by its path."""
    try:
        return choose("playground.finetuning.tasks", Task, name)
    except Refusal:
        if not is_file(name):
            raise
    return open_file(name)
