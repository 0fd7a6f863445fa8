"""The task of a comparison: one of the catalogue, or a labelled file of the visitor's."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from playground.corpora.readers.decode import WrongEncoding
from playground.corpora.readers.labelled_table import read_table
from playground.corpora.readers.table import Table
from playground.corpora.sources import TABLES
from playground.errors import UserError
from playground.finetuning import Task, find_task
from playground.finetuning.data.files import file_task_name
from widgets.state.uploads import OR_CHOOSE

OWN_FILE = "my own labelled file"  # the task that is a file of the visitor's


@dataclass(frozen=True)
class TaskChoice:
    """A task by its name, or a `file` with the columns that are chosen; what is empty is guessed.

    The second column is None where it is guessed, and empty where a text stands alone.
    """

    name: str = ""
    file: Path | None = None
    text_column: str = ""
    label_column: str = ""
    second_column: str | None = None
    encoding: str = ""

    @property
    def known(self) -> Task:
        """The task, or a refusal in a sentence."""
        if self.name != OWN_FILE:
            return find_task(self.name)
        if isinstance(self._read, UserError):
            raise self._read
        return self._read

    @cached_property
    def _read(self) -> Task | UserError:
        """The task of the file, named as it lies in the archive of the result; or why it sets none."""
        if self.file is None:
            return UserError(
                "No labelled file is chosen yet; choose a table (.csv, .tsv, .jsonl) or a treebank (.conllu)."
            )
        columns = (self.text_column, self.label_column, self.second_column, self.encoding)
        try:
            task = find_task(file_task_name(str(self.file), *columns))
        except WrongEncoding as wrong:
            return WrongEncoding(f"{wrong}{OR_CHOOSE * (not wrong.named)}", wrong.named)
        except UserError as refusal:
            return refusal
        return replace(task, name=file_task_name(self.file.name, *columns))

    @property
    def table(self) -> Table | None:
        """The chosen table with its columns as they are guessed; None where a file is no table."""
        if self.file is None or self.file.suffix.lower() not in TABLES:
            return None
        return read_table(self.file, encoding=self.encoding or None)

    @property
    def unreadable(self) -> bool:
        """Whether the file could not be read in the encoding that was tried."""
        return self.name == OWN_FILE and isinstance(self._read, WrongEncoding)

    @property
    def text_for_base(self) -> str | Path:
        """A text whose words are those of the task: the file itself, or a corpus in which its words come; else ""."""
        try:
            task = self.known
        except UserError:
            return ""
        return self.file or next(iter(task.corpora), "")
