"""A choice of a corpus by its name and, where it is a generated one, by its knobs; a link carries both."""

from typing import ClassVar

import param

from playground.corpora.sources import Lengthening, name_with_knobs, read_name, source_knobs
from playground.corpora.tokenization import Tokenization
from playground.knob import Knob, knobs


class CorpusChoice(param.Parameterized):
    """The part of a state that chooses a corpus; `chosen_by` names the parameter that holds the name."""

    corpus_knobs = param.Dict({}, doc="The knobs of generated corpora that are not at their default, by corpus.")
    chosen_by: ClassVar[str]
    own: ClassVar[tuple[str, ...]] = ()  # the names of texts of one's own, for which a tokenizer can be chosen

    @property
    def corpus_name(self) -> str:
        """The corpus that is chosen, with the knobs that are turned behind its name."""
        return name_with_knobs(self._bare_name, self.corpus_knobs.get(self._bare_name, {}))

    @property
    def known_knobs(self) -> tuple[Knob, ...]:
        """The knobs of the corpus that is chosen; those without an effect as it stands are left out."""
        name, turned = self._bare_name, self.corpus_knobs.get(self._bare_name, {})
        found = (*knobs(Lengthening), *knobs(Tokenization)) if name in self.own else source_knobs(name)
        left_out = set() if turned.get("tokenizer", "auto") != "auto" else {"vocab_size"}
        left_out |= {k.name for k in knobs(Lengthening) if turned.get(k.name, k.default) == k.default}
        return tuple(k for k in found if k.name not in left_out)

    @property
    def _bare_name(self) -> str:
        return getattr(self, self.chosen_by)

    def query(self) -> dict[str, str]:
        """What a link says of the corpus: nothing where none of its knobs is turned."""
        return {self.chosen_by: self.corpus_name} if self.corpus_name != self._bare_name else {}

    def choose_corpus(self, name: str) -> None:
        """Take the corpus that a link names, with its knobs; without one the knobs of the chosen corpus go back."""
        if name or self.query():
            bare, turned = read_name(name) if name else (self._bare_name, {})
            self.param.update(**{self.chosen_by: bare, "corpus_knobs": self.corpus_knobs | {bare: turned}})
