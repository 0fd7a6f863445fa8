"""Odd files of one's own: texts, tables, treebanks, translations, as a corpus and as a task."""

import codecs
import json
import os
from pathlib import Path
from random import Random

from playground.corpora import open_corpus
from playground.finetuning import find_task
from tests.fuzz import material, odd
from tests.fuzz.law import Case, Kind

ENDINGS = (".txt", ".md", ".csv", ".tsv", ".jsonl", ".json", ".conllu", ".text", "", ".pdf", ".CSV")
ENCODINGS = ("utf-8", "utf-16", "utf-32", "latin-1", "utf-8-sig", "utf-16-be", "cp1252", "shift-jis")
ASKED = (
    None,
    *ENCODINGS,
    "base64",
    "rot13",
    "hex",
    "idna",
    "punycode",
    "unicode_escape",
    "undefined",
    "²",
    "a\0b",
    "zip",
)


def draw(random: Random, home: Path) -> Case:
    """A file with something odd in it, read as a corpus or as a task."""
    name = f"{random.choice(('a', 'b c', 'é', 'x' * 200))}{random.choice(ENDINGS)}"
    content, done = random.choice(WAYS)(random)
    if random.random() < 0.35:
        content, more = odd.spoiled(random, content)
        done = f"{done}, {more}"
    if random.random() < 0.1:
        content, done = b"", _something_else(random, home / name)
    else:
        (home / name).write_bytes(content)
    (home / "other.txt").write_bytes(content[: random.choice((len(content), len(content) // 2))])
    asked = random.choice(ASKED) if random.random() < 0.2 else None
    if random.random() < 0.55:
        path = name if random.random() < 0.85 else random.choice((f"{name}+other.txt", odd.word(random), f"{name}/x"))
        return Case(f"corpus {path!r} in {asked}: {done}", lambda: _read(path, asked))
    path = random.choice(
        (
            name,
            name,
            f"{odd.word(random)}.csv",
            f"{name}+other.txt",
            f"{name}?text={odd.value(random)[:20]}&label=label",
        )
    )
    return Case(f"task {path!r}: {done}", lambda: _task(path))


def _something_else(random: Random, path: Path) -> str:
    """A folder, a pipe, a link to itself or to nothing where a file should be."""
    match random.randrange(4):
        case 0:
            path.mkdir()
            return "a folder"
        case 1 if hasattr(os, "mkfifo"):
            os.mkfifo(path)
            return "a pipe"
        case 2:
            path.symlink_to(path)
            return "a link to itself"
    path.symlink_to(path.with_name("nothing"))
    return "a link to nothing"


def _read(path: str, encoding: str | None) -> None:
    corpus = open_corpus(path, encoding=encoding)
    _ = corpus.hash, corpus.unigram_entropy, corpus.description
    corpus.windows(4)
    corpus.tokenizer.join(corpus.ids[:50].tolist())


def _task(path: str) -> None:
    task = find_task(path)
    task.items(4, 0, "train")
    task.items(4, 0, "test")


def _text(random: Random) -> tuple[bytes, str]:
    pieces = [
        odd.value(random) if random.random() < 0.3 else material.text()[:900] for _ in range(random.randint(0, 4))
    ]
    return _encoded(random, random.choice((" ", "\n", "\n\n", "\r", "\r\n\r\n", "\u2028")).join(pieces)), "text"


def _table(random: Random) -> tuple[bytes, str]:
    mark = random.choice(",;\t|")
    lines = [line.split(",") for line in material.table().splitlines()]
    for _ in range(random.randint(0, 4)):
        row = random.choice(lines)
        match random.randrange(4):
            case 0:
                row[random.randrange(len(row))] = odd.value(random)
            case 1:
                row.append(odd.value(random))
            case 2:
                row[:] = [f'"{cell}' for cell in row]
            case _:
                lines[0] = [odd.among(random, ["text", "label", ""]) for _ in lines[0]]
    return _encoded(random, "\n".join(mark.join(row) for row in lines)), f"table with {mark!r}"


def _objects(random: Random) -> tuple[bytes, str]:
    texts = material.text().split("\n\n")
    rows = [json.dumps({"text": texts[k % len(texts)], "label": random.choice("ab")}) for k in range(40)]
    for _ in range(random.randint(0, 3)):
        row = {odd.among(random, ["text", "label"]): odd.plain(random), "label": odd.plain(random)}
        rows[random.randrange(40)] = random.choice((json.dumps(row), json.dumps(odd.plain(random)), odd.nested(random)))
    return _encoded(random, "\n".join(rows)), "objects"


def _treebank(random: Random) -> tuple[bytes, str]:
    def row(k: int) -> list[str]:
        return [
            str(k),
            f"word{k % 3}",
            "_",
            random.choice(("NOUN", "VERB")),
            "_",
            "_",
            str(max(0, k - 1)),
            "dep",
            "_",
            "_",
        ]

    sentences = [[row(k) for k in range(1, random.randint(3, 9))] for _ in range(40)]
    for _ in range(random.randint(0, 3)):
        cells = random.choice(random.choice(sentences))
        cells[random.randrange(10)] = odd.among(random, ["1-2", "1.1", "7"], 0.7)
    return _encoded(random, "\n\n".join("\n".join("\t".join(row) for row in rows) for rows in sentences)), "treebank"


def _garbage(random: Random) -> tuple[bytes, str]:
    start = random.choice(
        (b"", b"%PDF", b"PK\x03\x04", codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE, b"\x1f\x8b", b"\xff\xff")
    )
    some = random.choice((0, 1, 3, 100, 5_000))
    return start + random.choice(
        (random.randbytes(some), b"\xff" * some, b"a" * some, b"\n" * some, b" " * some)
    ), "garbage"


def _encoded(random: Random, said: str) -> bytes:
    kind = "utf-8" if random.random() < 0.8 else random.choice(ENCODINGS)
    return said.encode(kind, errors="replace")


WAYS = (_text, _table, _objects, _treebank, _garbage)
FILES = Kind("files", 300, draw)
