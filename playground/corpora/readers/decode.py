"""The bytes of a file as text, piece by piece, so that long files fit; a file that is no text is refused."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from playground.errors import UserError

CHUNK = 1 << 18
"""Bytes that are read at a time."""

LONGEST_LINE = 10_000_000
"""Letters of one line of a table or a treebank; a longer line means that the file is something else."""

Progress = Callable[[int, int], None]
"""Is called with the number of bytes that are read, and with their total number."""

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Encodings by the first bytes of a file; those of UTF-32 begin like those of UTF-16, so they come first."""

_NO_TEXT = {
    b"%PDF": "a PDF; save its text as a plain text file",
    b"PK\x03\x04": "a zip archive or an office document; unpack it, or save it as plain text",
    b"\x1f\x8b": "compressed with gzip; unpack it",
    b"BZh": "compressed with bzip2; unpack it",
    b"\xfd7zXZ": "compressed with xz; unpack it",
    b"PAR1": "a Parquet table; save it as .csv or .jsonl",
}


class WrongEncoding(UserError):
    """The file is not in the encoding that was tried, which `named` says was chosen; another one may fit."""

    def __init__(self, sentence: str, named: bool = False) -> None:
        super().__init__(sentence)
        self.named = named


def find_file(path: str | Path) -> Path:
    """The path of an existing file that is not empty."""
    path = Path(path)
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder; choose a text file in it.")
        if not path.is_file():
            raise UserError(f"There is no file {path}; check the path.")
        if path.stat().st_size == 0:
            raise UserError(f"{path.name} is empty; choose a file with text in it.")
    except UserError:
        raise
    except (OSError, ValueError) as error:
        raise UserError(f"{str(path)!r} cannot be read: {error}.") from error
    return path


def decoded(path: str | Path, encoding: str | None = None, progress: Progress | None = None) -> Iterator[str]:
    """The text of a file with line feeds as line ends, in the given encoding or the one that its first bytes name."""
    path = find_file(path)
    try:
        with path.open("rb") as file:
            pieces = partial(_pieces, path.name, file, path.stat().st_size, encoding)
            has_newline = any("\n" in piece for piece in pieces(None))
            file.seek(0)
            yield from plain_lines(pieces(progress), has_newline)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from error


def read_lines(path: str | Path, encoding: str | None = None, progress: Progress | None = None) -> Iterator[str]:
    """The lines of a file without their ends; a line that is too long is refused before it fills the memory."""
    rest, number = "", 1
    for text in decoded(path, encoding, progress):
        *lines, rest = (rest + text).split("\n")
        yield from lines
        number += len(lines)
        if len(rest) > LONGEST_LINE:
            raise UserError(
                f"Line {number} of {Path(path).name} is longer than {LONGEST_LINE:,} letters, so this is not a file of "
                "short lines; to read it as running text, rename it to .txt."
            )
    if rest:
        yield rest


def plain_lines(pieces: Iterable[str], has_newline: bool) -> Iterator[str]:
    """The same text with line feeds as line ends: those of Unix and Windows; a carriage return alone is a space.

    Only in a text without any line feed (`has_newline`) a carriage return ends a line, as on a Mac before 2001.
    """
    alone, rest = " " if has_newline else "\n", ""
    for piece in pieces:
        text = rest + piece
        rest = "\r" * text.endswith("\r")  # its line feed may come with the next piece
        yield text.removesuffix("\r").replace("\r\n", "\n").replace("\r", alone)
    yield rest and alone


def _pieces(name: str, file: BinaryIO, total: int, encoding: str | None, progress: Progress | None) -> Iterator[str]:
    decoder, wide = _decoder(encoding or _detect(file))
    done, chunk = 0, b"-"
    while chunk:
        chunk = file.read(CHUNK)
        if not wide:
            _refuse_zero(name, chunk.find(0), f"byte {done + chunk.find(0)} is zero")
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeError as error:
            raise WrongEncoding(_unreadable(name, encoding, done + len(chunk), error), bool(encoding)) from error
        _refuse_zero(name, text.find("\0"), "it holds zeros among its letters")
        yield text
        done += len(chunk)
        if progress and chunk:
            progress(done, max(total, done))


def _detect(file: BinaryIO) -> str:
    """The encoding that the first bytes name, else UTF-8; known kinds of files without text are refused."""
    start = file.read(8)
    file.seek(0)
    for begin, kind in _NO_TEXT.items():
        if start.startswith(begin):
            raise UserError(f"{Path(file.name).name} is {kind}.")
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), "utf-8")


def _decoder(encoding: str) -> tuple[codecs.IncrementalDecoder, bool]:
    """The decoder, and whether a letter has several bytes, so that zeros among them are usual."""
    try:
        "".encode(encoding)
        name = codecs.lookup(encoding).name
        return codecs.getincrementaldecoder(encoding)(), name.startswith(("utf-16", "utf-32"))
    except (LookupError, ValueError) as error:
        raise UserError(f"There is no encoding {encoding!r}; name one such as utf-8, latin-1 or cp1252.") from error


def _refuse_zero(name: str, position: int, why: str) -> None:
    if position >= 0:
        raise UserError(f"{name} is not a text file: {why}. Choose a plain text file in UTF-8.")


def _unreadable(name: str, encoding: str | None, end: int, error: UnicodeError) -> str:
    """The undecoded bytes always end where the piece ends, so the offset in the file is counted from there."""
    position = end - len(error.object) + error.start if isinstance(error, UnicodeDecodeError) else end
    if encoding:
        return f"{name} is not in {encoding}: byte {position} cannot be read; try another encoding."
    return f"{name} is not in UTF-8: byte {position} cannot be read; save it as UTF-8."
