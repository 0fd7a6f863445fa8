"""The state of the Corpus page: where a corpus comes from, which document is on screen, and a way to cut it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import param
import torch
from torch import Tensor

from playground.corpora import Corpus, Table, from_pasted, from_table, open_corpus, read_table, read_translations
from playground.corpora.readers.decode import Progress, WrongEncoding
from playground.corpora.sources import TABLES
from playground.errors import Refusal
from playground.parsing import LARGEST
from playground.rng import derive
from playground.tokenizing import Tokenizer, merge_steps, train
from playground.tokenizing.merging import Merger
from playground.tokenizing.vocabulary import SEPARATOR
from widgets.state.corpus_choice import CorpusChoice
from widgets.state.job import Work
from widgets.state.train import LONGEST_PASTE, OWN_FILE, OWN_TEXT
from widgets.state.uploads import Uploads

NO_LABEL = "(none)"
"""Stands for "no column is the label"."""

LONGEST_SHEET = 200
"""Words of one sheet; a longer document has several."""

READ_TO_CUT = 100_000
"""Tokens of a corpus from which the Corpus page learns a vocabulary; more would only take longer."""

LONGEST_CUT, LONGEST_MERGE = 600, 240
"""Characters that are drawn in pieces, and characters whose merges can be stepped through."""

Wish = tuple[str, int, bool]
"""A kind of vocabulary, its size, and whether letters, digits and marks may be merged with each other."""


@dataclass(frozen=True)
class Opened:
    """A corpus, and the first token of each of its sheets and one after the last `[s, 2]`."""

    corpus: Corpus
    sheets: Tensor


@dataclass(frozen=True)
class Cut:
    """A vocabulary, the text that it cuts, and the states of the beginning of that text while it merges (only BPE)."""

    corpus: Corpus
    wish: Wish
    tokenizer: Tokenizer
    text: str
    merges: tuple[dict, ...] = ()

    @property
    def beginning(self) -> str:
        """As much of the text as the merges are about."""
        return self.text[:LONGEST_MERGE]


class CorpusStore(CorpusChoice):
    """A corpus to look at: where it comes from, which of its documents is on screen, and a way to cut it."""

    chosen_by = "source"
    source = param.String("world")
    pasted = param.String("")
    files = param.List([])
    encoding = param.String("")
    text_column = param.String("")
    label_column = param.String("")
    place = param.Integer(0)
    seed = param.Integer(0, bounds=(0, LARGEST))
    layers = param.List(["pos", "phrase", "mention", "aligned", "head"])
    kind = param.String("bpe")
    size = param.Integer(800, bounds=(50, 20_000))
    across = param.Boolean(False)

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.reading, self.cutting = Work("reading"), Work("cutting")
        self.opened: Opened | None = None
        self.table: Table | None = None
        self.uploads = Uploads()

    @param.depends("source", "files", watch=True)
    def _other_file(self) -> None:
        self.table = None

    def refuse_corpus(self, refusal: Refusal) -> None:
        """Show why there is nothing to read."""
        self.reading.forget(refusal)

    @param.depends("source", "corpus_knobs", "files", "encoding", "text_column", "label_column", watch=True)
    def look(self) -> None:
        """Begin to read; a table stops for its columns to be confirmed, a text of one's own begins with `use`."""
        if self.source == OWN_TEXT or (self.source == OWN_FILE and not self.files):
            self.reading.forget()
            return
        self.reading.begin(self._look)

    def use(self) -> None:
        """Read the text that was typed, or make a corpus of the table as its columns now stand."""
        table = self.table
        if self.source == OWN_TEXT:
            text = self.pasted[:LONGEST_PASTE]
            self.reading.begin(lambda hear: _open(from_pasted(text, progress=hear)))
        elif self.source == OWN_FILE and table is not None:
            bare = replace(table, label_column=None) if self.label_column == NO_LABEL else table
            self.reading.begin(lambda _: _open(from_table(bare)))

    @property
    def unreadable(self) -> bool:
        """Whether the file could not be read in the encoding that was tried."""
        return isinstance(self.reading.error, WrongEncoding)

    @property
    def trouble(self) -> str:
        """Why there is nothing new to look at."""
        return "" if self.reading.busy else str(self.reading.error or "")

    def _look(self, hear: Progress) -> Opened | Table:
        if self.source != OWN_FILE:
            return _open(open_corpus(self.corpus_name))
        files, how = [Path(file) for file in self.files], {"encoding": self.encoding or None, "progress": hear}
        if len(files) == 2:
            return _open(read_translations(*files, **how))
        if len(files) > 2:
            raise Refusal(f"These are {len(files)} files; choose one, or two that say the same line by line.")
        if files[0].suffix.lower() in TABLES:
            label = self.label_column if self.label_column != NO_LABEL else ""
            return read_table(files[0], self.text_column or None, label or None, **how)
        return _open(open_corpus(files[0], **how))

    def take(self) -> None:
        """Take over what has been read, if anything: a table to be asked about, or a corpus to look at."""
        found = None if self.reading.busy or self.reading.error else self.reading.result
        if isinstance(found, Table):
            self.table = found
        elif isinstance(found, Opened) and found is not self.opened:
            self.opened = found
            self.place = 0

    @property
    def corpus(self) -> Corpus | None:
        """The corpus on screen."""
        return self.opened.corpus if self.opened is not None else None

    @property
    def ready(self) -> Corpus | None:
        """The corpus on screen where it is what was asked for last; none while another is read or could not be."""
        fits = self.opened is not None and self.reading.result is self.opened
        return self.corpus if fits and not self.reading.busy and self.reading.error is None else None

    @property
    def span(self) -> tuple[int, int]:
        """First token on screen and one after the last."""
        assert self.opened is not None
        first, last = self.opened.sheets[self.place].tolist()
        return first, last

    def step(self, by: int) -> None:
        """Go to another sheet; after the last comes the first."""
        if self.opened is not None:
            self.place = (self.place + by) % len(self.opened.sheets)

    @param.depends("seed", watch=True)
    def _roll(self) -> None:
        """Go to the sheet that the seed chooses."""
        if self.opened is not None:
            self.place = Random(derive(self.seed, "sheet")).randrange(len(self.opened.sheets))

    def cut(self) -> None:
        """Learn the vocabulary that is wished for, and cut the sheet on screen with it."""
        corpus = self.corpus
        if corpus is None:
            return
        span, before = self.span, self.cutting.result
        wish = (self.kind, self.size, self.across and self.kind == "bytes")
        self.cutting.begin(lambda _: _cut(corpus, span, wish, before))

    def keep(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Keep uploaded files; columns are guessed anew."""
        try:
            paths = self.uploads.keep(files)
        except Refusal as refusal:
            self.reading.forget(refusal)
            return
        self.param.update(files=paths, encoding="", text_column="", label_column="")

    def end(self) -> None:
        """Stop reading and remove what was uploaded."""
        self.reading.end()
        self.cutting.end()
        self.uploads.remove()


def _open(corpus: Corpus) -> Opened:
    """A corpus with its sheets; its entropy is counted in this thread, so that the page need not wait for it."""
    _ = corpus.unigram_entropy
    return Opened(corpus, sheets(corpus))


def sheets(corpus: Corpus) -> Tensor:
    """First token and one after the last of every sheet `[s, 2]`: a document, or a part of a long one."""
    ends = (corpus.document_ids[1:] != corpus.document_ids[:-1]).nonzero()[:, 0] + 1
    first = torch.cat([torch.tensor([0]), ends])
    word = corpus.word_ids.long()
    count = torch.cat([word[ends], word[-1:] + 1]) - word[first]
    parts = -(-count // LONGEST_SHEET)
    within = torch.arange(int(parts.sum())) - (parts.cumsum(0) - parts).repeat_interleave(parts)
    start = torch.searchsorted(word, word[first].repeat_interleave(parts) + LONGEST_SHEET * within)
    return torch.stack([start, torch.cat([start[1:], torch.tensor([len(corpus)])])], dim=1)


def _cut(corpus: Corpus, span: tuple[int, int], wish: Wish, before: Cut | None) -> Cut:
    """The vocabulary that is wished for, learnt only where it is another one than before, and the text of a sheet."""
    if before is not None and before.corpus is corpus and before.wish == wish:
        tokenizer = before.tokenizer
    else:
        kind, size, across = wish
        tokenizer = train([_text(corpus, 0, READ_TO_CUT)], kind, size, across=across)
    text = _text(corpus, *span)[:LONGEST_CUT]
    merges = merge_steps(tokenizer, text[:LONGEST_MERGE]) if isinstance(tokenizer.cut, Merger) else []
    return Cut(corpus, wish, tokenizer, text, tuple(merges))


def _text(corpus: Corpus, first: int, last: int) -> str:
    """Some tokens as a person writes them."""
    ids = corpus.ids[first:last]
    return corpus.tokenizer.join(ids[ids != SEPARATOR].tolist())
