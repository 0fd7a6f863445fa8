"""tokenizer.json: our tokenizers in the layout of the tokenizers library, and its files as our tokenizers.

Our special tokens have fixed ids before all others, so a file that is read gets another order: a `Vocabulary` keeps
which of our ids is which of theirs.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers.pre_tokenizers import ByteLevel

from playground.errors import UserError
from playground.interop.weights import read_json
from playground.tokenizing import SPECIAL_TOKENS, Tokenizer
from playground.tokenizing.bytelevel import raw, show
from playground.tokenizing.pieces import MARK, continues, plain
from playground.tokenizing.vocabulary import FIRST_WORD, SENTINELS, UNKNOWN
from playground.tokenizing.words import find_chunks

SPACE = "▁"
"""What SentencePiece writes for the space before a word (Kudo and Richardson, arXiv:1808.06226, sec. 3.2)."""

ROLES = {
    "[PAD]": ("pad_token",), "[START]": ("bos_token",), "[END]": ("eos_token",), "[CLS]": ("cls_token", "bos_token"),
    "[SEP]": ("sep_token", "eos_token"), "[MASK]": ("mask_token",), "[UNK]": ("unk_token",),
}  # fmt: skip
"""Our special tokens, and what tokenizer_config.json calls them."""

IDS = {"[PAD]": "pad_token_id", "[START]": "decoder_start_token_id", "[END]": "eos_token_id"}
"""Our special tokens among the numbers of config.json."""

OTHER_FILES = ("vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
"""Files of tokenizers of older forms."""

LONGEST_WORD = 100_000
"""WordPiece of the library takes longer words for unknown."""

ABSENT = -1
"""In place of a row: our id has none in the folder."""


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer, the row of the folder for each of its ids, and how many words the library splits otherwise.

    `unlike` counts those of `words` single words of the vocabulary to which the library gives other ids: it removes
    accents, for example, and our tokenizer does not.
    """

    tokenizer: Tokenizer
    rows: tuple[int, ...]
    words: int = 0
    unlike: int = 0


# writing


def write_tokenizer(tokenizer: Tokenizer) -> dict[str, dict[str, Any]]:
    """The files tokenizer.json and tokenizer_config.json; refused where the library would give a word other ids."""
    names = _names(tokenizer)
    whole = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_special(number, token) for number, token in enumerate(SPECIAL_TOKENS)],
        "normalizer": {"type": "Lowercase"} if tokenizer.lower else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [_word_split(tokenizer), *_inner(tokenizer)]},
        "post_processor": None,
        "decoder": _decoder(tokenizer),
        "model": _model(tokenizer, names),
    }
    library = tokenizers.Tokenizer.from_str(json.dumps(whole))
    words = [*_samples(tokenizer)]
    for word, found in zip(words, library.encode_batch_fast(words, add_special_tokens=False), strict=True):
        if found.ids != (ours := tokenizer.encode(word).ids):
            raise UserError(
                f"The tokenizer cannot be written as tokenizer.json: the library would split {word!r} into "
                f"{found.ids} and ours into {ours}; train with another kind, such as wordpiece."
            )
    config = {role: token for token, roles in ROLES.items() for role in roles[:1]}
    return {
        "tokenizer.json": whole,
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", **config},
    }


def _special(number: int, token: str) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": token, **flags, "special": True}


def _word_split(tokenizer: Tokenizer) -> dict[str, Any]:
    """The splitter into words: what the pattern of our words finds is kept."""
    pattern = next(tokenizer.find("a")).re.pattern
    escape = re.compile(r"\\x([89a-f][0-9a-f])|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")
    plain_text = escape.sub(lambda code: chr(int(code[1] or code[2] or code[3], 16)), pattern)
    return {"type": "Split", "pattern": {"Regex": plain_text}, "behavior": "Removed", "invert": True}


def _inner(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    if tokenizer.kind == "bytes":
        return [{"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}]
    if tokenizer.kind == "unigram":
        return [{"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": False}]
    return []


def _decoder(tokenizer: Tokenizer) -> dict[str, Any] | None:
    if tokenizer.kind == "unigram":
        return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": False}
    return {"type": "WordPiece", "prefix": MARK, "cleanup": True} if tokenizer.kind not in ("word", "bytes") else None


def _names(tokenizer: Tokenizer) -> list[str]:
    """The string of each id as the library's model has it."""
    pieces = tokenizer.learnt.pieces
    if tokenizer.kind == "bytes":
        pieces = tuple(map(_library_bytes, raw(tokenizer.learnt).pieces))
    elif tokenizer.kind == "unigram":
        pieces = tuple(plain(piece) if continues(piece) else SPACE + piece for piece in pieces)
    return [*SPECIAL_TOKENS, *pieces]


def _model(tokenizer: Tokenizer, names: Sequence[str]) -> dict[str, Any]:
    unknown, vocab = SPECIAL_TOKENS[UNKNOWN], {name: number for number, name in enumerate(names)}
    if tokenizer.kind == "word":
        return {"type": "WordLevel", "vocab": vocab, "unk_token": unknown}
    if tokenizer.kind == "wordpiece":
        longest = {"max_input_chars_per_word": LONGEST_WORD}
        return {"type": "WordPiece", "unk_token": unknown, "continuing_subword_prefix": MARK, **longest, "vocab": vocab}
    if tokenizer.kind == "unigram":
        scores = [0.0] * FIRST_WORD + list(tokenizer.scores)
        scored = [list(pair) for pair in zip(names, scores, strict=True)]
        return {"type": "Unigram", "unk_id": UNKNOWN, "vocab": scored, "byte_fallback": False}
    merges: Sequence[tuple[str, str]] = tokenizer.merges
    if tokenizer.kind == "bytes":
        merges = [(_library_bytes(a), _library_bytes(b)) for a, b in raw(tokenizer.learnt).merges]
    return {
        "type": "BPE", "dropout": None, "unk_token": unknown, "continuing_subword_prefix": MARK,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
        "vocab": vocab, "merges": [list(pair) for pair in merges],
    }  # fmt: skip


def _samples(tokenizer: Tokenizer) -> Iterator[str]:
    """Words to compare: those of the vocabulary, and some that end in each of the later pieces."""
    first, later = [], []
    for number in range(FIRST_WORD, len(tokenizer)):
        text = tokenizer.join([number])
        (later if tokenizer.continues(number) else first).append(text)
    yield from (word for word in first if word)
    yield from (first[k % len(first)] + piece for k, piece in enumerate(later) if first)


def _tables() -> tuple[dict[str, str], dict[str, str]]:
    """A letter for each byte to the library's letter for it (GPT-2's released code), and back."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    to = {chr(byte): chr(byte) for byte in visible} | {chr(byte): chr(256 + k) for k, byte in enumerate(others)}
    assert set(to.values()) == set(ByteLevel.alphabet())
    return to, {theirs: ours for ours, theirs in to.items()}


TO_LIBRARY, FROM_LIBRARY = _tables()


def _library_bytes(piece: str) -> str:
    return (MARK if continues(piece) else "") + "".join(TO_LIBRARY[letter] for letter in plain(piece))


# reading


def read_vocabulary(folder: Path, config: Mapping[str, Any], size: int, numbered: bool) -> Vocabulary:
    """The vocabulary of a folder for a table of `size` rows; numbers for words where none is there or wanted."""
    if numbered:
        return _numbered(config, size)
    if os.path.isfile(folder / "tokenizer.json"):
        text = read_json(folder / "tokenizer.json")
    elif os.path.isfile(folder / "vocab.txt"):
        text = _from_word_list(folder)
    else:
        other = next((name for name in OTHER_FILES if os.path.exists(folder / name)), None)
        if other is not None:
            raise UserError(
                f"{folder} has its tokenizer only in {other}; save it with transformers as tokenizer.json, or take its "
                "words as numbers (--numbered)."
            )
        return _numbered(config, size)
    settings = folder / "tokenizer_config.json"
    about = read_json(settings) if os.path.isfile(settings) else {}
    try:
        return _read(text, about, config, size)
    except UserError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"The tokenizer in {folder} is damaged ({type(error).__name__}: {error}).") from error


def _from_word_list(folder: Path) -> dict[str, Any]:
    """A vocab.txt of BERT as a tokenizer.json."""
    settings = folder / "tokenizer_config.json"
    lower = read_json(settings).get("do_lower_case", True) if os.path.isfile(settings) else True
    try:
        words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise UserError(f"{folder / 'vocab.txt'} cannot be read ({error}).") from error
    vocab = {word.rstrip("\r"): number for number, word in enumerate(words[: -1 if not words[-1] else None])}
    return {
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": bool(lower)},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": MARK,
                  "max_input_chars_per_word": 100, "vocab": vocab},
    }  # fmt: skip


def _read(text: dict[str, Any], about: Mapping[str, Any], config: Mapping[str, Any], size: int) -> Vocabulary:
    model, parts = text["model"], _types(text.get("pre_tokenizer"))
    kind = _kind(model, parts)
    scores: dict[str, float] = {}
    if kind == "unigram":
        scores = {str(name): float(score) for name, score in model["vocab"]}
        vocab = {name: number for number, name in enumerate(scores)}
        if len(scores) != len(model["vocab"]):
            raise UserError("The Unigram vocabulary has a piece more than once.")
    else:
        vocab = dict(model["vocab"])
    added = {str(token["content"]): token["id"] for token in text.get("added_tokens") or ()}
    strings = _strings(vocab | added, size)
    special = _special_ids(strings, about, config)
    order = [number for number in range(size) if number not in special.values()]
    pieces = [_piece(kind, strings[number], strings[number] in added, number) for number in order]
    saved = {
        "kind": kind,
        "lower": "Lowercase" in _types(text.get("normalizer")) or _lowercase(text.get("normalizer")),
        "words": _unique(pieces, order),
        "merges": _merges(kind, model),
    }
    if kind == "unigram":
        lowest = min(scores.values(), default=0.0)
        saved["scores"] = [scores.get(strings[number], lowest) for number in order]
    if kind == "bytes" and _splits_at_spaces(text["pre_tokenizer"]):
        saved["across"] = True
    tokenizer = Tokenizer.from_json(json.dumps(saved))
    rows = tuple([special.get(token, ABSENT) for token in SPECIAL_TOKENS] + order)
    return _compared(Vocabulary(tokenizer, rows), text)


def _kind(model: Mapping[str, Any], parts: Sequence[str]) -> str:
    """The kind of our tokenizer that gives the same ids for words, or a refusal."""
    form, mark = model.get("type"), model.get("continuing_subword_prefix")
    if form == "WordLevel":
        return "word"
    if form == "WordPiece" and mark == MARK:
        return "wordpiece"
    if form == "BPE" and mark == MARK and not model.get("end_of_word_suffix"):
        return "bytes" if "ByteLevel" in parts else "bpe" if model["merges"] else "character"
    if form == "BPE" and "ByteLevel" in parts:
        raise UserError(
            "The tokenizer is a byte-level BPE whose merges begin at the space before a word (GPT-2); ours mark what "
            "continues a word and cannot give the same ids. Take its words as numbers (--numbered)."
        )
    if form == "Unigram":
        _check_unigram({str(name) for name, _ in model["vocab"]})
        return "unigram"
    raise UserError(
        f"The tokenizer is of the type {form!r} with continuing_subword_prefix {mark!r}; what can be read is "
        f"WordLevel, WordPiece and BPE that mark with {MARK!r}, and Unigram, or take its words as numbers (--numbered)."
    )


def _check_unigram(pieces: set[str]) -> None:
    """Every letter must have a piece as the first of a word, and the space must have none of its own."""
    letters = {letter for piece in pieces - {*SPECIAL_TOKENS} if piece[:1] == SPACE for letter in piece[1:]}
    missing = sorted(letter for letter in letters if SPACE + letter not in pieces)
    if SPACE in pieces or missing:
        why = "a piece for the space alone" if SPACE in pieces else f"no piece for {missing[0]!r} at the head of a word"
        raise UserError(
            f"The Unigram vocabulary has {why}; ours cannot split words as it does. Take its words as numbers "
            "(--numbered)."
        )


def _types(part: Any) -> list[str]:
    """The types of a step of the tokenizer and of the steps in it."""
    if not isinstance(part, dict):
        return []
    inside = part.get("pretokenizers") or part.get("normalizers") or ()
    return [str(part.get("type")), *(name for each in inside for name in _types(each))]


def _lowercase(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    return part.get("lowercase") is True or any(map(_lowercase, part.get("normalizers") or ()))


def _splits_at_spaces(part: dict[str, Any]) -> bool:
    chunk = next(find_chunks("a")).re.pattern[:4]
    patterns = [each.get("pattern", {}).get("Regex", "") for each in part.get("pretokenizers", ())]
    return any(pattern.startswith(chunk) for pattern in patterns)


def _strings(vocab: Mapping[str, Any], size: int) -> list[str]:
    """The string of every row; rows without one are named by their number."""
    strings = [""] * size
    named: set[int] = set()
    for name, number in vocab.items():
        if type(number) is not int or not 0 <= number < size or number in named:
            raise UserError(
                f"The tokenizer gives {name!r} the id {number!r}; ids must differ and lie below the {size} rows."
            )
        named.add(number)
        strings[number] = name
    return [name if number in named else f"<row {number}>" for number, name in enumerate(strings)]


def _special_ids(strings: Sequence[str], about: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, int]:
    """The row of each of our special tokens that the folder has, under its own name or under another."""
    number = {name: k for k, name in enumerate(strings)}
    found: dict[str, int] = {}
    for token in SPECIAL_TOKENS:
        roles = [about.get(role) for role in ROLES.get(token, ())]
        other = [role.get("content") if isinstance(role, dict) else role for role in roles]
        extra = f"<extra_id_{SENTINELS.index(token)}>" if token in SENTINELS else None
        names = [token, *other, extra]
        row = next((number[name] for name in names if isinstance(name, str) and name in number), None)
        found |= {} if row is None else {token: row}
    start = config.get("decoder_start_token_id")
    if "[START]" not in number and type(start) is int and 0 <= start < len(strings):
        found["[START]"] = start
    if "[PAD]" not in found and type(pad := config.get("pad_token_id")) is int and 0 <= pad < len(strings):
        found["[PAD]"] = pad
    return found


def _piece(kind: str, name: str, added: bool, number: int) -> str:
    """A string of the library as a piece of ours."""
    if name.startswith("<row ") or added:
        return name
    if kind == "bytes":
        letters = [FROM_LIBRARY.get(letter) for letter in plain(name)]
        if None in letters:
            raise UserError(f"The byte-level vocabulary has the piece {name!r} in row {number}, which is no bytes.")
        return (MARK if continues(name) else "") + show("".join(filter(None, letters)))
    if kind == "unigram":
        return name[1:] if name.startswith(SPACE) else MARK + name
    return name


def _merges(kind: str, model: Mapping[str, Any]) -> list[list[str]]:
    pairs = [pair.split(" ") if isinstance(pair, str) else list(pair) for pair in model.get("merges") or ()]
    return [[_piece(kind, name, False, 0) for name in pair] for pair in pairs]


def _unique(pieces: Sequence[str], order: Sequence[int]) -> list[str]:
    """The pieces, with the row's number behind those that occur twice or are called as our special tokens."""
    known, found = set(SPECIAL_TOKENS), []
    for piece, number in zip(pieces, order, strict=True):
        found.append(piece if piece and piece not in known else f"<row {number}>")
        known.add(found[-1])
    return found


def _compared(vocabulary: Vocabulary, text: dict[str, Any]) -> Vocabulary:
    """The same with the number of words to which the library gives other ids."""
    complete = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
                "pre_tokenizer": None, "post_processor": None, "decoder": None, **text}  # fmt: skip
    try:
        library = tokenizers.Tokenizer.from_str(json.dumps(complete))
    except Exception as error:  # the library raises bare exceptions
        raise UserError(f"tokenizer.json cannot be used: {error}.") from error
    tokenizer = vocabulary.tokenizer
    added = {str(token["content"]) for token in complete["added_tokens"] or ()}
    own = [n for n in range(FIRST_WORD, len(tokenizer)) if not tokenizer.continues(n)]
    words = [tokenizer.join([n]) for n in own if tokenizer.words[n].isprintable() and tokenizer.words[n] not in added]
    found = library.encode_batch_fast(words, add_special_tokens=False)
    unlike = [[vocabulary.rows[n] for n in tokenizer.encode(w).ids] != f.ids for w, f in zip(words, found, strict=True)]
    return Vocabulary(tokenizer, vocabulary.rows, len(words), sum(unlike))


def _numbered(config: Mapping[str, Any], size: int) -> Vocabulary:
    """Words called by their numbers."""
    special = {token: config.get(key) for token, key in IDS.items()}
    known = {token: row for token, row in special.items() if type(row) is int and 0 <= row < size}
    order = [number for number in range(size) if number not in known.values()]
    saved = {"kind": "word", "lower": False, "words": [f"<row {number}>" for number in order], "merges": []}
    tokenizer = Tokenizer.from_json(json.dumps(saved))
    return Vocabulary(tokenizer, (*(known.get(token, ABSENT) for token in SPECIAL_TOKENS), *order))
