"""Parallel text: two files that say the same, line by line, in two languages."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Unpack

import torch

from playground.corpora.build import LIMIT, Vocabulary, Words, build
from playground.corpora.corpus import Corpus
from playground.corpora.readers.decode import Progress, find_file, read_lines
from playground.errors import Refusal
from playground.tokenizing.words import split_words


def read_translations(
    first: str | Path,
    second: str | Path,
    *,
    limit: int = LIMIT,
    encoding: str | None = None,
    progress: Progress | None = None,
    **wishes: Unpack[Vocabulary],
) -> Corpus:
    """A document for each line: it and its translation, one sentence each, with the label `language` 0 or 1.

    A pair with an empty side is left out; [SEP] belongs to the second language.
    """
    first, second = find_file(first), find_file(second)
    words, language, empty = Words(limit), [], 0
    for one, two in _pairs(first, second, encoding, progress):
        pair = split_words(one), split_words(two)
        count = sum(map(len, pair))
        if not all(pair):
            empty += 1
            continue
        if count > words.room:
            words.cut = True
            break
        words.add(pair[0] + pair[1], [0] * len(pair[0]) + [1] * len(pair[1]))
        words.close()
        language += [0] * len(pair[0]) + [1] * (len(pair[1]) + 1)
    return build(
        f"{first.name} + {second.name}",
        words,
        note=f"{empty:,} pairs with an empty side are left out." if empty else "",
        labels={"language": torch.tensor(language)},
        label_names={"language": _names(first, second)},
        **wishes,
    )


def read_sides(
    first: str | Path, second: str | Path, *, encoding: str | None = None
) -> list[tuple[list[str], list[str]]]:
    """The words of every line and of its translation, where neither is empty."""
    found = _pairs(find_file(first), find_file(second), encoding, None)
    return [pair for one, two in found if all(pair := (split_words(one), split_words(two)))]


def _pairs(first: Path, second: Path, encoding: str | None, progress: Progress | None) -> Iterator[tuple[str, str]]:
    """The lines of both files side by side; what one file has more may only be empty."""
    done, total = [0, 0], first.stat().st_size + second.stat().st_size

    def hear(side: int) -> Progress:
        def told(bytes_done: int, _: int) -> None:
            done[side] = bytes_done
            if progress:
                progress(sum(done), total)

        return told

    counts, surplus = [0, 0], False
    for one, two in zip_longest(read_lines(first, encoding, hear(0)), read_lines(second, encoding, hear(1))):
        counts = [counts[0] + (one is not None), counts[1] + (two is not None)]
        if one is not None and two is not None:
            yield one, two
        else:
            surplus = surplus or bool((one or two or "").strip())
    if surplus:
        raise Refusal(
            f"{first.name} has {counts[0]:,} lines and {second.name} {counts[1]:,}; "
            "each line of one must be the translation of the same line of the other."
        )


def _names(first: Path, second: Path) -> tuple[str, str]:
    """The languages as the ends of the file names say them."""
    names = first.suffix.removeprefix("."), second.suffix.removeprefix(".")
    return names if all(names) and names[0] != names[1] else ("first", "second")
