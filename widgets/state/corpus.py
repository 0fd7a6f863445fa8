"""The state of the Corpus page: where a corpus comes from, the document on screen, and its tokens."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import param
import torch
from torch import Tensor

from playground.corpora import Corpus, Table, from_table, open_corpus, read_table, read_translations
from playground.corpora.readers.decode import Progress, WrongEncoding
from playground.corpora.sources import TABLES
from playground.corpora.tokenization import Tokenization
from playground.errors import UserError
from playground.knob import Knob, knobs
from playground.parsing import LARGEST
from playground.rng import derive
from playground.tokenizing import KINDS, Tokenizer, merge_steps, train
from playground.tokenizing.steps import merges_of
from widgets.state.corpus_choice import CorpusChoice
from widgets.state.job import Job
from widgets.state.quota import ALONE, Quota
from widgets.state.train.choice import OWN_FILE, OWN_TEXT, read_pasted
from widgets.state.uploads import ENCODINGS, NO_COLUMN, OR_CHOOSE, Uploads

LONGEST_SHEET = 200  # words of one sheet; a longer document has several

READ_TO_CUT = 100_000  # tokens of a corpus from which a vocabulary is learnt; more would only take longer
LONGEST_CUT, LONGEST_MERGE = 600, 240  # characters that are drawn as tokens, and whose merges can be stepped through

Vocabulary = tuple[str, int, bool]  # kind, size, whether letters, digits and marks may be merged with each other


@dataclass(frozen=True)
class OpenedCorpus:
    """A corpus, and the first token of each of its sheets and one after the last `[s, 2]`."""

    corpus: Corpus
    sheets: Tensor


@dataclass(frozen=True)
class Cut:
    """A vocabulary, a text to be tokenized, and the states of the beginning of that text while BPE merges it."""

    corpus: Corpus
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    text: str
    merges: tuple[dict, ...] = ()

    @property
    def beginning(self) -> str:
        """As much of the text as the merges are about."""
        return self.text[:LONGEST_MERGE]


class CorpusStore(CorpusChoice):
    """A corpus to look at: where it comes from, which of its documents is on screen, and a vocabulary for it."""

    chosen_by = "source"

    @property
    def known_knobs(self) -> tuple[Knob, ...]:
        """The knobs of the corpus but those of its tokenizer: this page trains vocabularies of its own."""
        return tuple(k for k in super().known_knobs if k not in knobs(Tokenization))

    source = param.String("world", label="corpus")
    pasted = param.String("", label="paste text here", doc="Blank lines separate documents.")
    files = param.List([])
    encoding = param.Selector(default="", objects=ENCODINGS, label="encoding")
    text_column = param.String("")
    second_column = param.String("")
    label_column = param.String("")
    sheet_number = param.Integer(0, doc="The number of the sheet on screen.")
    seed = param.Integer(0, bounds=(0, LARGEST), label="seed")
    layers = param.List(["pos", "phrase", "mention", "aligned", "head"], doc="The annotations that are shown.")
    kind = param.Selector(default="bpe", objects={way.title: name for name, way in KINDS.items()}, label="tokenizer")
    size = param.Integer(800, bounds=(50, 20_000), step=100, label="entries")
    across = param.Boolean(
        False, label="merge across categories",
        doc="Letters, digits and marks may be joined in one piece, which GPT-2 forbids. Byte-level BPE only.",
    )  # fmt: skip

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.reading, self.cutting = Job("reading"), Job("tokenizing")
        self.quota: Quota = ALONE
        self.opened: OpenedCorpus | None = None
        self.table: Table | None = None
        self.uploads = Uploads()

    @param.depends("source", "files", watch=True)
    def _other_file(self) -> None:
        self.table = None

    def choose_corpus(self, name: str) -> None:
        """Take the corpus that a link names; where that cannot be, there is nothing to read."""
        try:
            super().choose_corpus(name)
        except UserError as refusal:
            self.reading.forget(refusal)

    @param.depends(
        "source", "corpus_knobs", "files", "encoding", "text_column", "second_column", "label_column", watch=True
    )
    def look(self) -> None:
        """Begin to read; a table waits for its columns to be confirmed, a typed text for `use`."""
        if self.source == OWN_TEXT or (self.source == OWN_FILE and not self.files):
            self.reading.forget()
            return
        self.reading.begin(self._look)

    def use(self) -> None:
        """Read the text that was typed, or make a corpus of the table as its columns now stand."""
        table = self.table
        if self.source == OWN_TEXT:
            text = self.pasted
            self.reading.begin(lambda report: _open(read_pasted(text, progress=report)))
        elif self.source == OWN_FILE and table is not None:
            bare = replace(table, label_column=None) if self.label_column == NO_COLUMN else table
            self.reading.begin(lambda _: _open(from_table(bare)))

    @property
    def unreadable(self) -> bool:
        """Whether the file could not be read in the encoding that was tried."""
        return isinstance(self.reading.error, WrongEncoding)

    @property
    def trouble(self) -> str:
        """Why there is nothing new to look at."""
        return f"{self.reading.error or ''}{OR_CHOOSE * (self.unreadable and not self.encoding)}"

    def _look(self, report: Progress) -> OpenedCorpus | Table:
        if self.source != OWN_FILE:
            return _open(open_corpus(self.corpus_name))
        files, how = [Path(file) for file in self.files], {"encoding": self.encoding or None, "progress": report}
        if len(files) == 2:
            return _open(read_translations(*files, **how))
        if len(files) > 2:
            raise UserError(f"These are {len(files)} files; choose one, or two line-aligned translations.")
        if files[0].suffix.lower() in TABLES:
            label = self.label_column if self.label_column != NO_COLUMN else ""
            second = "" if self.second_column == NO_COLUMN else self.second_column or None
            return read_table(files[0], self.text_column or None, label or None, second, **how)
        return _open(open_corpus(files[0], **how))

    def take(self) -> None:
        """Take over what has been read, if anything: a table whose columns are confirmed first, or a corpus."""
        found = None if self.reading.busy or self.reading.error else self.reading.result
        if isinstance(found, Table):
            self.table = found
        elif isinstance(found, OpenedCorpus) and found is not self.opened:
            self.opened = found
            self.sheet_number = 0

    @property
    def corpus(self) -> Corpus | None:
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
        first, last = self.opened.sheets[self.sheet_number].tolist()
        return first, last

    def step(self, by: int) -> None:
        """Go to another sheet; after the last comes the first."""
        if self.opened is not None:
            self.sheet_number = (self.sheet_number + by) % len(self.opened.sheets)

    @param.depends("seed", watch=True)
    def _random_sheet(self) -> None:
        if self.opened is not None:
            self.sheet_number = Random(derive(self.seed, "sheet")).randrange(len(self.opened.sheets))

    def cut(self) -> None:
        """Learn the vocabulary that is chosen, and tokenize the sheet on screen with it."""
        corpus = self.corpus
        if corpus is None:
            return
        span, before = self.span, self.cutting.result
        vocabulary = (self.kind, self.size, self.across and self.kind == "bytes")
        self.cutting.begin(lambda _: _cut(corpus, span, vocabulary, before))

    def keep(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Keep uploaded files; columns are guessed again."""
        try:
            paths = self.uploads.keep(files, self.quota.upload)
        except UserError as refusal:
            self.reading.forget(refusal)
            return
        self.param.update(files=paths, encoding="", text_column="", second_column="", label_column="")

    def end(self) -> None:
        """Stop reading and remove what was uploaded."""
        self.reading.end()
        self.cutting.end()
        self.uploads.remove()


def _open(corpus: Corpus) -> OpenedCorpus:
    """A corpus with its sheets; its entropy is computed in this thread, so that the page need not wait for it."""
    _ = corpus.unigram_entropy
    return OpenedCorpus(corpus, sheets(corpus))


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


def _cut(corpus: Corpus, span: tuple[int, int], vocabulary: Vocabulary, before: Cut | None) -> Cut:
    """The vocabulary that is chosen, learnt only where it is another one than before, and the text of a sheet."""
    if before is not None and before.corpus is corpus and before.vocabulary == vocabulary:
        tokenizer = before.tokenizer
    else:
        kind, size, across = vocabulary
        tokenizer = train([_text(corpus, 0, READ_TO_CUT)], kind, size, across=across)
    text = _text(corpus, *span)[:LONGEST_CUT]
    merges = merge_steps(tokenizer, text[:LONGEST_MERGE]) if merges_of(tokenizer) else []
    return Cut(corpus, vocabulary, tokenizer, text, tuple(merges))


def _text(corpus: Corpus, first: int, last: int) -> str:
    ids = corpus.ids[first:last]
    return corpus.tokenizer.join(ids[ids != corpus.tokenizer.specials.sep].tolist())
