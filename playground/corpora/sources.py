"""Open a corpus: a generated one by its name, one or two files by their paths, or a data set of the hub by its name."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

from playground import catalog
from playground.corpora.build import LIMIT, Options
from playground.corpora.cache import remembered
from playground.corpora.corpus import Corpus
from playground.corpora.readers.decode import Progress, decoded
from playground.corpora.readers.hub import read_hub
from playground.corpora.readers.labelled_table import read_table
from playground.corpora.readers.table import from_table
from playground.corpora.readers.text import from_pasted, read_text_file
from playground.corpora.readers.translations import read_translations
from playground.corpora.readers.treebank import CELLS, read_treebank
from playground.corpora.respelling import IN_WORDS, respelt
from playground.corpora.tokenization import Tokenization, retokenized
from playground.errors import UserError
from playground.knob import Knob, knob, knobs, spelt, turn, written
from playground.tokenizing import Tokenizer


@dataclass(frozen=True)
class Source:
    """A corpus that can be generated: `make(seed, tokens)`, or `make(seed, tokens, settings)` where it has knobs.

    Its text is whole words, so that it is kept on the disk, unless `splits` says that `make` takes the options of a
    vocabulary as well.
    `prefixes` begin its texts and name their tasks.
    `settings` are the knobs with their defaults; "parallel(shared=0.5)" names the corpus with a knob changed.
    """

    name: str
    idea: str
    make: Callable[..., Corpus]
    settings: Any = None
    aliases: tuple[str, ...] = ()
    tokens: int = 500_000
    splits: bool = False
    prefixes: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[bool]:
        """Its place in lists: the default corpus first."""
        return (self.name != "world",)


MIXED, MIXED_WITH = 50_000, "everyday"
"""Tokens of a generated corpus that is mixed with a short text, and the one that is proposed."""


@dataclass(frozen=True)
class Lengthening:
    """How a text of one's own is read, and made longer where there is too little of it."""

    repeat: int = knob(
        1,
        1,
        1000,
        unit="times",
        why="How often a short text is repeated in training; the held-out part is cut off first.",
    )
    mix: str = knob(
        "none", choices=("none", "everyday", "world", "reviews", "stories"),
        why=f"A generated corpus of {MIXED:,} words that is trained on as well.",
    )  # fmt: skip
    encoding: str = knob("", why="Encoding of a file that is not UTF-8, such as cp1252.")

    @property
    def options(self) -> Options:
        """The options of a reader; none where the text stays as it is. A reader gets the encoding by itself."""
        repeated: Options = {"repeat": self.repeat} if self.repeat > 1 else {}
        return repeated if self.mix == "none" else {**repeated, "mix": open_corpus(self.mix, tokens=MIXED)}


def ways_to_lengthen(tokens: int, window: int, needs: Sequence[str]) -> dict[str, Lengthening]:
    """What makes a text of so many tokens long enough for an objective: it is repeated, or mixed.

    Repeated alone, a tenth of it still fills a row. Mixed, it makes up a quarter of what is trained on. A text in pairs
    is not repeated: a repetition of it would stand as its "other" text.
    """
    if set(needs) - {"pair", "distance"}:  # labels or translations, which neither adds
        return {}
    if needs:
        return {"mix": Lengthening(mix=MIXED_WITH)}
    often = Lengthening(2 + 10 * window // tokens)
    return {"repeat": often, "mix": Lengthening(min(max(1, MIXED // (3 * tokens)), 1000), MIXED_WITH)}


OWN = Source("text", "Your own text, pasted or in a file.", from_pasted, Lengthening())
"""What every text of one's own has in common: the knobs that make it longer."""


class ReadOptions(TypedDict, total=False):
    """Options of reading a file: its encoding, where it is not UTF-8, and a function to which progress is reported."""

    encoding: str | None
    progress: Progress | None


FEWEST, MOST = 1_000, 20_000_000
"""Limits of the number of tokens of a corpus."""

HUB = "hub:"
"""Prefix of the name of a data set in the Hugging Face layout, or of its folder."""

TABLES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json")
TREEBANKS = (".conllu", ".conll")
TEXTS = (".txt", ".md", ".rst", ".text")


def open_corpus(
    name_or_path: str | Path,
    *,
    seed: int = 0,
    tokens: int | None = None,
    tokenizer: Tokenizer | None = None,
    **reading: Unpack[ReadOptions],
) -> Corpus:
    """A corpus by its name or by the path of a file; `tokens` limits either.

    Knobs of a corpus are given in brackets after its name: "bilingual(shared=0.5, second=0.3)"; `tokenizer` and
    `vocab_size` are those of all, files too: "world(tokenizer=bpe)". A file is a table, a treebank or plain text by
    its suffix, and a short one is repeated or mixed: "mine.txt(repeat=50, mix=everyday)"; "mine.txt(encoding=cp1252)"
    names its encoding as the argument does. "first.en+second.fr" are two
    files that are parallel line by line; "hub:NAME" is a data set of the Hugging Face hub.
    """
    if tokens is not None and not FEWEST <= tokens <= MOST:
        raise UserError(f"tokens is {tokens}; it must lie between {FEWEST} and {MOST}.")
    name, limit = str(name_or_path), tokens or LIMIT
    bare, changed = (name, {}) if os.path.exists(name) else spelt(name)
    source = _named(bare)
    if source:
        settings, how = _settings(source, changed)
        made = _made(source, settings, how, seed, tokens or source.tokens)
        made = respelt(made, tokenizer) if tokenizer is not None else made
        return replace(made, name=_full_name(source, settings, how))
    if changed.get("encoding"):
        reading["encoding"] = changed["encoding"]
    corpus = _open_own(bare, limit, reading, changed, tokenizer)
    if corpus:
        return corpus
    near = ", ".join(catalog.three_nearest(bare, sources().values()))
    raise UserError(
        catalog.nearest(name) or f"There is no corpus and no file named {name!r}; the nearest corpora: {near}."
    )


def _made(source: Source, settings: Any, how: Tokenization, seed: int, tokens: int) -> Corpus:
    """The corpus of a source, read from the disk where its words were generated before."""
    own = [] if settings is None else [settings]
    if source.splits:
        return source.make(seed, tokens, *own, **how.options)
    key = "-".join(map(str, (source.name, *(written(each, " ") for each in own), seed, tokens)))
    return retokenized(remembered(key, partial(source.make, seed, tokens, *own)), how)


def _open_own(
    name: str, limit: int, reading: ReadOptions, changed: Mapping[str, Any], tokenizer: Tokenizer | None
) -> Corpus | None:
    """A data set of the hub, a file or two files; None where there is none of this name."""
    if name.startswith(HUB):
        return own_text(partial(from_table, read_hub(name.removeprefix(HUB)), limit=limit), changed, tokenizer)
    if os.path.exists(name):
        return own_text(partial(_open_file, Path(name), limit, reading), changed, tokenizer)
    pair = two_files(name)
    return own_text(partial(read_translations, *pair, limit=limit, **reading), changed, tokenizer) if pair else None


def own_text(read: Callable[..., Corpus], changed: Mapping[str, Any], tokenizer: Tokenizer | None = None) -> Corpus:
    """A text of one's own, read with the knobs that are changed, which its name tells, or another's tokenizer."""
    parts = _settings(OWN, changed)
    options = dict(option for part in parts for option in part.options.items())
    corpus = read(**options if tokenizer is None else {**options, "tokenizer": tokenizer})
    return replace(corpus, name=_with_knobs(corpus.name, parts, (Lengthening(), Tokenization())))


def _settings(source: Source, changed: Mapping[str, Any]) -> tuple[Any, Tokenization]:
    """The settings of a source, None where it has none of its own, and its tokenization, with some knobs changed."""
    shared = [k.name for k in knobs(Tokenization)]
    own = {name: value for name, value in changed.items() if name not in shared}
    how = turn(Tokenization(), {name: value for name, value in changed.items() if name in shared})
    if source.settings is not None:
        return turn(source.settings, own), how
    if own:
        raise UserError(
            f"The corpus {source.name} has no knobs but {', '.join(shared)}, so {', '.join(own)} cannot be set."
        )
    return None, how


def _full_name(source: Source, settings: Any, how: Tokenization) -> str:
    own = ([], []) if settings is None else ([settings], [source.settings])
    return _with_knobs(source.name, [*own[0], how], [*own[1], Tokenization()])


def _with_knobs(name: str, parts: Sequence[Any], unlike: Sequence[Any]) -> str:
    """A name with the knobs of some parts that are not as in others behind it."""
    changed = ", ".join(filter(None, (written(a, ", ", b) for a, b in zip(parts, unlike, strict=True))))
    return f"{name}({changed})" if changed else name


def source_knobs(name: str) -> tuple[Knob, ...]:
    """The knobs of a generated corpus, those of its tokenizer last; none for any other name."""
    source = _named(name)
    if source is None:
        return ()
    return (*(() if source.settings is None else knobs(source.settings)), *knobs(Tokenization))


def name_with_knobs(name: str, changed: Mapping[str, Any]) -> str:
    """The name under which `open_corpus` opens a corpus with some knobs changed: "bilingual(shared=0.5)"."""
    source = _named(name)
    return name if source is None else _full_name(source, *_settings(source, changed))


def name_with_tokenizer(name: str, changed: Mapping[str, Any]) -> str:
    """The name of any corpus, which may have knobs behind it, with knobs of its tokenizer or length changed."""
    _settings(OWN, changed)
    bare, known = (name, {}) if os.path.exists(name) else spelt(name)
    both = ", ".join(f"{knob}={value}" for knob, value in {**known, **changed}.items())
    return f"{bare}({both})" if both else bare


def is_generated(name: str) -> bool:
    """Whether a name is that of a corpus that can be generated, with or without knobs, and not of a file."""
    return _named(spelt(name)[0]) is not None


def prefixes_of(name: str) -> tuple[str, ...]:
    """The task prefixes of a corpus by its name, with or without knobs; none of a file."""
    source = _named(spelt(name)[0])
    return () if source is None else source.prefixes


def read_name(name: str) -> tuple[str, dict[str, Any]]:
    """The name of a generated corpus and the checked values of the knobs in "name(knob=value)"."""
    bare, changed = spelt(name)
    source = find_source(bare)
    settings, how = _settings(source, changed)
    return source.name, {knob: getattr(how if hasattr(how, knob) else settings, knob) for knob in changed}


def sources() -> dict[str, Source]:
    """Every corpus that can be generated, by name."""
    return catalog.find("playground.corpora.catalog", Source)


def find_source(name: str) -> Source:
    """A corpus that can be generated, by its name."""
    return catalog.choose("playground.corpora.catalog", Source, name, "corpus")


def open_saved(name: str, tokenizer: Tokenizer, tokens: int | None = None) -> Corpus:
    """The corpus that a checkpoint names; where its name says so, `tokens` of it in the words of the checkpoint."""
    bare, other, _ = name.rpartition(IN_WORDS)
    if not other:
        return open_corpus(name)
    return replace(open_corpus(bare, tokens=tokens, tokenizer=tokenizer), name=name)


def _open_file(path: Path, limit: int, reading: ReadOptions, **options: Unpack[Options]) -> Corpus:
    kind = path.suffix.lower()
    if kind not in (*TABLES, *TREEBANKS, *TEXTS):
        kind = _look(path, reading.get("encoding"))
    if kind in TABLES:
        return from_table(read_table(path, **reading), limit=limit, **options)
    return (read_treebank if kind in TREEBANKS else read_text_file)(path, limit=limit, **reading, **options)


def _look(path: Path, encoding: str | None) -> str:
    """The suffix that fits a file without a known one, by the first line that is no comment; plain text by default."""
    lines = next(decoded(path, encoding), "").split("\n")
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return ".conllu" if first.count("\t") == CELLS - 1 and first[0].isdigit() else ".txt"


def two_files(name: str) -> tuple[Path, Path] | None:
    """The paths of two plain texts on both sides of a plus; a second one without a folder may lie beside the first."""
    parts = name.split("+")
    for k in range(1, len(parts)):
        first, second = Path("+".join(parts[:k])), Path("+".join(parts[k:]))
        for other in (second, first.parent / second):
            if os.path.isfile(first) and os.path.isfile(other):
                for path in (first, other):
                    if path.suffix.lower() in (*TABLES, *TREEBANKS):
                        raise UserError(
                            f"{path.name} is not a plain text; two parallel texts have the same lines in each."
                        )
                return first, other
    return None


def _named(name: str) -> Source | None:
    """The source of this name; a name with a slash or a dot is a path."""
    if set(name) & set("/\\."):
        return None
    try:
        return find_source(name)
    except UserError:
        return None
