"""A choice of a corpus by its name and, where it is a generated one, by its knobs; a link carries both."""

from collections.abc import Mapping
from typing import Any, ClassVar

import param

from playground.corpora.sources import name_with_knobs, read_name
from playground.errors import Refusal


class CorpusChoice(param.Parameterized):
    """The part of a store that chooses a corpus; `chosen_by` names the parameter that holds the name.

    `corpus_knobs` are the knobs of generated corpora that were turned, by corpus.
    """

    corpus_knobs = param.Dict({})
    chosen_by: ClassVar[str]

    @property
    def corpus_name(self) -> str:
        """The corpus that is chosen, with the knobs that are turned behind its name."""
        return name_with_knobs(self._bare_name, self.corpus_knobs.get(self._bare_name, {}))

    @property
    def _bare_name(self) -> str:
        return getattr(self, self.chosen_by)

    def query(self) -> dict[str, str]:
        """What a link says of the corpus: nothing where none of its knobs is turned."""
        return {self.chosen_by: self.corpus_name} if self.corpus_name != self._bare_name else {}

    def choose_corpus(self, name: str) -> None:
        """Take the corpus that a link names, with its knobs; without one the knobs of the chosen corpus go back."""
        if not name and not self.query():
            return
        try:
            bare, turned = read_name(name) if name else (self._bare_name, {})
        except Refusal as refusal:
            self.refuse_corpus(refusal)
            return
        self.take_corpus({self.chosen_by: bare, "corpus_knobs": self.corpus_knobs | {bare: turned}})

    def take_corpus(self, values: Mapping[str, Any]) -> None:
        """Choose the corpus that a link names."""
        self.param.update(**values)

    def refuse_corpus(self, refusal: Refusal) -> None:
        """Show why the corpus that a link names cannot be taken."""
        raise NotImplementedError
