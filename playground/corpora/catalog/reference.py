"""The reference of the Python language as an English text that is always there: it ships inside Python."""

import importlib
import platform
import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Unpack

from playground.corpora.build import DocumentWords, Vocabulary, build
from playground.corpora.corpus import Corpus
from playground.corpora.sources import Source
from playground.errors import UserError
from playground.rng import derive
from playground.tokenizing.words import split_words

FEWEST_WORDS = 6
"""A paragraph with fewer words is a name or a caption."""

PLAIN = 0.8
"""Share of the words of a paragraph that are of letters alone; where it is lower, the paragraph is code or a table."""

_RULE = re.compile(r"[=*\-~^.\"]{4,}")
_SOME_CODE = re.compile(r"::=|>>>|^\s*[+|]|^\s*\.\. ", re.MULTILINE)
_MARKUP = (
    (re.compile(r"\s+"), " "),
    (re.compile(r"^[*•-] |^\[\d+\] |^(Changed|New|Added|Deprecated since|Deprecated)( in)? version [\d.]+: "), ""),
    (re.compile(r"\*\*([^*]+)\*\*|(?<!\w)\*([^*\s][^*]*)\*|(?<!\w)\"([^\"\s]+)\"(?!\w)"), r"\1\2\3"),
    (re.compile(r" ?\[\d+\]| ?\(see [^)]*\)"), ""),
)
_PLAIN_WORD = re.compile(r"[(\u201c\"']*[A-Za-z]+(?:['\u2019-][A-Za-z]+)*[.,;:!?)\u201d\"']*")


def read_reference(seed: int, tokens: int, **options: Unpack[Vocabulary]) -> Corpus:
    """At most so many words of the prose of the reference; each section is a document, the seed gives their order."""
    sections = list(prose(_topics()))
    Random(derive(seed, "python reference")).shuffle(sections)
    words = DocumentWords(tokens)
    for section in sections:
        for paragraph in section:
            words.add(split_words(paragraph))
        words.close()
        if words.cut:
            break
    more = f"It is the prose of the reference of Python {platform.python_version()}."
    return build("python reference", words, more=more, **options)


def _topics() -> Mapping[str, str]:
    try:
        return importlib.import_module("pydoc_data.topics").topics
    except ImportError as error:
        raise UserError("This Python comes without its reference (pydoc_data); choose another corpus.") from error


def prose(topics: Mapping[str, str]) -> Iterator[list[str]]:
    """The paragraphs of each section as plain sentences; one that stands under several topics comes once."""
    seen: set[str] = set()
    for _, text in sorted(topics.items()):
        for section in _sections(text):
            paragraphs = [p for block in section if (p := _plain(block)) and p not in seen]
            seen.update(paragraphs)
            if paragraphs:
                yield paragraphs


def _sections(text: str) -> Iterator[list[str]]:
    """The blocks between empty lines, from one underlined heading to the next."""
    section: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        if _RULE.fullmatch(block.strip().rpartition("\n")[2].strip()):
            yield section
            section = []
        else:
            section.append(block)
    yield section


def _plain(block: str) -> str:
    """A paragraph of prose without its markup, or nothing where the block is code, a table or a list of names."""
    if _SOME_CODE.search(block):
        return ""
    text = block.strip()
    for pattern, plain in _MARKUP:
        text = pattern.sub(plain, text)
    words = text.split()
    share = sum(map(bool, map(_PLAIN_WORD.fullmatch, words))) / max(1, len(words))
    whole = text[:1].isupper() and text[-1:] in ".:!?)"
    return text if whole and len(words) >= FEWEST_WORDS and share >= PLAIN else ""


PYTHON_REFERENCE = Source(
    name="python reference",
    aliases=("python",),
    idea="English that people wrote: the prose of the reference of the Python language, which comes with Python.",
    make=read_reference,
    splits=True,
)
