"""The user's own text as a corpus, read once and piece by piece, so that long files fit."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Unpack

from playground.corpora.build import FEWEST, LIMIT, DocumentWords, Options, build
from playground.corpora.corpus import Corpus
from playground.corpora.readers.decode import CHUNK, Progress, decoded, plain_lines
from playground.errors import UserError
from playground.tokenizing.words import clean, split_words


def read_text_file(
    path: str | Path,
    *,
    limit: int = LIMIT,
    encoding: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Corpus:
    """A text file; empty lines separate documents."""
    return build(Path(path).name, read_words(decoded(path, encoding, progress), limit), **options)


def read_whole(path: str | Path, encoding: str | None = None) -> str:
    """The whole text of a small file; a file that cannot be read is refused with the reason."""
    text = "".join(decoded(path, encoding))
    if not text.strip():
        raise UserError(f"{Path(path).name} is empty; choose a file with text in it.")
    return text


def from_pasted(
    text: str,
    *,
    name: str = "pasted text",
    limit: int = LIMIT,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Corpus:
    """A text that was pasted or typed; empty lines separate documents, `progress` counts letters."""
    if not text:
        raise UserError(f"The {name} is empty; paste a text of at least {FEWEST} words.")
    return build(name, read_words(plain_lines(_pasted(text, progress), "\n" in text), limit), **options)


def _pasted(text: str, progress: Progress | None) -> Iterator[str]:
    for start in range(0, len(text), CHUNK):
        yield clean(text[start : start + CHUNK])
        if progress:
            progress(min(start + CHUNK, len(text)), len(text))


def read_words(pieces: Iterable[str], limit: int = LIMIT) -> DocumentWords:
    """The words of a text with plain line ends that comes in pieces; empty lines separate documents."""
    words = DocumentWords(limit)
    for paragraph, ended in _paragraphs(pieces):
        words.add(split_words(paragraph))
        if words.cut:
            break
        if ended:
            words.close()
    words.close()
    return words


def _paragraphs(pieces: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Paragraphs, and whether each is complete; one that is longer than a chunk comes in pieces."""
    lines: list[str] = []
    letters = 0
    for line, complete in _lines(pieces):
        ended = complete and not line.strip()
        if not ended:
            lines.append(line)
            letters += len(line)
        if ended or not complete or letters > CHUNK:
            yield "\n".join(lines), ended
            lines, letters = [], 0
    yield "\n".join(lines), True


def _lines(pieces: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Lines, and whether each is complete; one that is longer than a chunk is cut at a space where there is one."""
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + piece).split("\n")
        yield from ((line, True) for line in lines)
        if len(rest) > CHUNK:
            position = rest.rfind(" ") + 1 or len(rest)
            yield rest[:position], False
            rest = rest[position:]
    yield rest, True
