"""Parallel text: two files with the same lines in two languages."""

from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Unpack

import torch

from playground.corpora.build import LIMIT, DocumentWords, Options, WordLabels, build
from playground.corpora.corpus import Corpus
from playground.corpora.readers.decode import Progress, find_file, read_lines
from playground.errors import UserError
from playground.tokenizing.words import split_words


def read_translations(
    first: str | Path,
    second: str | Path,
    *,
    limit: int = LIMIT,
    encoding: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Corpus:
    """A document for each line: it and its translation, one sentence each, with the label `language` 0 or 1.

    A pair with an empty side is left out; [SEP] belongs to the second language. The suffixes of the files name the
    languages.
    """
    first, second = find_file(first), find_file(second)
    words, language, lines, pairs = DocumentWords(limit), [], 0, 0
    for texts in _pairs(first, second, encoding, progress):
        one, two = map(split_words, texts)
        lines += 1
        if not one or not two:
            continue
        if len(one) + len(two) > words.room:
            words.cut, lines = True, lines - 1
            break
        words.add(one + two, [0] * len(one) + [1] * len(two))
        words.close()
        language += [0] * len(one) + [1] * (len(two) + 1)
        pairs += 1
    names = first.suffix.removeprefix("."), second.suffix.removeprefix(".")
    names = names if all(names) and names[0] != names[1] else ("first", "second")
    return build(
        f"{first.name} + {second.name}",
        words,
        warning=_describe_empty(lines, pairs),
        labels=WordLabels({"language": torch.tensor(language)}, names={"language": names}),
        **options,
    )


def read_sides(
    first: str | Path, second: str | Path, *, encoding: str | None = None
) -> tuple[list[tuple[list[str], list[str]]], str]:
    """The words of every line and of its translation, where neither is empty, and a warning of the others."""
    lines = list(_pairs(find_file(first), find_file(second), encoding, None))
    pairs = [sides for one, two in lines if all(sides := (split_words(one), split_words(two)))]
    return pairs, _describe_empty(len(lines), len(pairs))


def _describe_empty(lines: int, pairs: int) -> str:
    if lines == pairs:
        return ""
    return f"{lines:,} lines make {pairs:,} pairs, as a line that is empty in one of the files is left out."


def _pairs(first: Path, second: Path, encoding: str | None, progress: Progress | None) -> Iterator[tuple[str, str]]:
    """The lines of both files in pairs; further lines of the longer file may only be empty."""
    done, total = [0, 0], first.stat().st_size + second.stat().st_size

    def report(side: int, bytes_done: int, _: int) -> None:
        done[side] = bytes_done
        if progress:
            progress(sum(done), total)

    counts, surplus = [0, 0], False
    files = (read_lines(path, encoding, partial(report, side)) for side, path in enumerate((first, second)))
    for one, two in zip_longest(*files):
        counts = [counts[0] + (one is not None), counts[1] + (two is not None)]
        if one is not None and two is not None:
            yield one, two
        else:
            surplus = surplus or bool((one or two or "").strip())
    if surplus:
        raise UserError(
            f"{first.name} has {counts[0]:,} lines and {second.name} {counts[1]:,}; "
            "each line of one must be the translation of the same line of the other."
        )
