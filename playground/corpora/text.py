"""The user's own text as a corpus, read once and piece by piece, so that long files fit."""

import codecs
import io
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from playground.corpora.corpus import Corpus, find_boundary
from playground.refusal import Refusal
from playground.tokenizing.sentences import number_sentences
from playground.tokenizing.tokenizer import Tokenizer, Wish, of_counts
from playground.tokenizing.vocabulary import SEPARATOR
from playground.tokenizing.words import clean, split_words

CHUNK = 1 << 18
"""Bytes that are read at a time."""

FEWEST = 64
"""A text with fewer tokens is too short to train on."""

LIMIT = 10_000_000
"""Words of one text that are used; more would fill the memory of a small computer."""

Progress = Callable[[float], None]


def read_text_file(
    path: str | Path,
    *,
    kind: Wish = "auto",
    size: int = 2000,
    lower: bool = False,
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> Corpus:
    """A text file in UTF-8; empty lines separate documents, `progress` hears the share that is read."""
    path = Path(path)
    if path.is_dir():
        raise Refusal(f"{path} is a folder; choose a text file in it.")
    if not path.is_file():
        raise Refusal(f"There is no file {path}; check the path.")
    try:
        if path.stat().st_size == 0:
            raise Refusal(f"{path.name} is empty; choose a file with text in it.")
        return _corpus(path.name, _decoded(path, progress), kind, size, lower, limit)
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}.") from error


def read_whole(path: str | Path) -> str:
    """The whole text of a small file in UTF-8, for the stage; what cannot be read is refused with the reason."""
    path = Path(path)
    if not path.is_file():
        raise Refusal(f"There is no file {path}; check the path.")
    try:
        text = "".join(_decoded(path, None))
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}.") from error
    if not text.strip():
        raise Refusal(f"{path.name} is empty; choose a file with text in it.")
    return text


def from_pasted(
    text: str,
    *,
    name: str = "pasted text",
    kind: Wish = "auto",
    size: int = 2000,
    lower: bool = False,
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> Corpus:
    """A text that was pasted or typed; empty lines separate documents."""
    if not text:
        raise Refusal(f"The {name} is empty; paste a text of at least {FEWEST} words.")
    return _corpus(name, _pasted(text, progress), kind, size, lower, limit)


def _pasted(text: str, progress: Progress | None) -> Iterator[str]:
    for start in range(0, len(text), CHUNK):
        yield clean(text[start : start + CHUNK])
        _tell(progress, (start + CHUNK) / len(text))


def _tell(progress: Progress | None, share: float) -> None:
    if progress:
        progress(min(1.0, share))


def _decoded(path: Path, progress: Progress | None) -> Iterator[str]:
    """The text of a file, piece by piece, with plain line ends and without a byte order mark."""
    decode = codecs.getincrementaldecoder("utf-8")()
    total, done = path.stat().st_size, 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            _refuse_binary(path.name, chunk, done)
            try:
                text = decode.decode(chunk)
            except UnicodeDecodeError as error:
                _refuse_encoding(path.name, done - (len(error.object) - len(chunk)) + error.start)
            yield text.removeprefix("\ufeff") if done == 0 else text
            done += len(chunk)
            _tell(progress, done / max(total, done))
    try:
        decode.decode(b"", final=True)
    except UnicodeDecodeError as error:
        _refuse_encoding(path.name, done - len(error.object))


def _refuse_binary(name: str, chunk: bytes, done: int) -> None:
    if done == 0 and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Refusal(f"{name} is in UTF-16; save it as UTF-8.")
    if (place := chunk.find(0)) >= 0:
        raise Refusal(f"{name} is not a text file: byte {done + place} is zero. Choose a plain text file in UTF-8.")


def _refuse_encoding(name: str, place: int) -> None:
    raise Refusal(f"{name} is not in UTF-8: byte {place} cannot be read; save it as UTF-8.")


@dataclass
class _Seen:
    """What one pass over a text leaves: the number of each word's type, its sentence, and how often types occur."""

    types: dict[str, int] = field(default_factory=lambda: {"": 0})
    rows: array = field(default_factory=lambda: array("i"))
    sentence: array = field(default_factory=lambda: array("i"))
    sentences: int = 0
    cut: bool = False

    def add(self, text: str) -> None:
        """The words of a paragraph, or of a long piece of one."""
        words = split_words(text)
        types = self.types
        self.rows.extend([types.setdefault(word, len(types)) for word in words])
        numbers = number_sentences(words)
        self.sentence.extend([self.sentences + number for number in numbers])
        self.sentences += numbers[-1] + 1 if numbers else 0

    def close(self) -> None:
        """The end of a document; its mark belongs to the last sentence."""
        if self.rows and self.rows[-1] != 0:
            self.rows.append(0)
            self.sentence.append(self.sentences - 1)


def _corpus(name: str, chunks: Iterable[str], kind: Wish, size: int, lower: bool, limit: int) -> Corpus:
    seen = _read(chunks, limit)
    if not seen.rows:
        raise Refusal(f"{name} holds no words, only white space; choose a text of at least {FEWEST} words.")
    rows = torch.frombuffer(seen.rows, dtype=torch.int32).long()
    if len(rows) < FEWEST:
        raise Refusal(f"{name} has only {len(rows)} tokens; at least {FEWEST} are needed to train on it.")
    tokenizer = of_counts(_counts(seen.types, rows), kind, size, lower)
    ids, word = _number(tokenizer, list(seen.types), rows)
    sentence = torch.frombuffer(seen.sentence, dtype=torch.int32)[word]
    return Corpus(
        name=name,
        description=_describe(name, len(rows), limit if seen.cut else 0),
        tokenizer=tokenizer,
        ids=ids,
        word=word.int(),
        sentence=sentence,
        document=_documents(ids),
        held_out_from=find_boundary(ids, sentence),
    )


def _describe(name: str, words: int, limit: int) -> str:
    cut = f" The text is longer; only its first {limit:,} words are used." if limit else ""
    return f"{words:,} words and punctuation marks of {name}.{cut}"


def _counts(types: dict[str, int], rows: Tensor) -> dict[str, int]:
    """How often each word type occurs; type 0 is the end of a document."""
    counts = torch.bincount(rows, minlength=len(types)).tolist()
    return {word: counts[number] for word, number in types.items() if number}


def _number(tokenizer: Tokenizer, types: list[str], rows: Tensor) -> tuple[Tensor, Tensor]:
    """The ids of all tokens, and for each the running number of its word."""
    pieces = [[SEPARATOR], *(tokenizer.encode_word(word) for word in types[1:])]
    lengths = torch.tensor([len(ids) for ids in pieces])
    flat = torch.tensor([number for ids in pieces for number in ids])
    starts = lengths.cumsum(0) - lengths
    word = torch.arange(len(rows)).repeat_interleave(lengths[rows])
    first = lengths[rows].cumsum(0) - lengths[rows]
    within = torch.arange(len(word)) - first[word]
    return flat[starts[rows][word] + within], word


def _documents(ids: Tensor) -> Tensor:
    """The running number of the document of each token; [SEP] belongs to the document that it ends."""
    ends = (ids == SEPARATOR).int()
    return (ends.cumsum(0) - ends).int()


def _read(chunks: Iterable[str], limit: int) -> _Seen:
    seen = _Seen()
    for paragraph, ended in _paragraphs(_plain_lines(chunks)):
        seen.add(paragraph)
        if len(seen.rows) >= limit:
            del seen.rows[limit - 1 :], seen.sentence[limit - 1 :]
            seen.cut = True
            break
        if ended:
            seen.close()
    seen.close()
    return seen


def _plain_lines(chunks: Iterable[str]) -> Iterator[str]:
    """The same text with every kind of line end as a line feed, also one that falls between two chunks."""
    newline = io.IncrementalNewlineDecoder(None, translate=True)
    for chunk in chunks:
        yield newline.decode(chunk)
    yield newline.decode("", final=True)


def _paragraphs(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Paragraphs, and whether each is whole; one that is longer than a chunk comes in pieces."""
    lines: list[str] = []
    held = 0
    for line, whole in _lines(chunks):
        if whole and not line.strip():
            yield "\n".join(lines), True
            lines, held = [], 0
            continue
        lines.append(line)
        held += len(line)
        if held > CHUNK or not whole:
            yield "\n".join(lines), False
            lines, held = [], 0
    yield "\n".join(lines), True


def _lines(chunks: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Lines, and whether each is whole; a line that is longer than a chunk is cut at a space where there is one."""
    rest = ""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split("\n")
        yield from ((line, True) for line in lines)
        if len(rest) > CHUNK:
            place = rest.rfind(" ") + 1 or len(rest)
            yield rest[:place], False
            rest = rest[place:]
    yield rest, True
