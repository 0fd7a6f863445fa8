"""The tokenizer of a folder: tokenizer.json, or older files as one, with the roles of its special tokens."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import tokenizers

from playground.batch import Specials
from playground.errors import UserError
from playground.interop.weights import read_json
from playground.tokenizing import SPECIAL_TOKENS, Tokenizer
from playground.tokenizing.pieces import MARK
from playground.tokenizing.tokenizer import of_settings
from playground.tokenizing.vocabulary import SENTINELS, specials

NAMES = {
    "pad": ("pad_token", "[PAD]", "<pad>"),
    "start": ("bos_token", "[START]", "<s>", "<|endoftext|>"),
    "end": ("eos_token", "[END]", "</s>", "<|endoftext|>"),
    "cls": ("cls_token", "[CLS]", "<cls>", "<s>"),
    "sep": ("sep_token", "[SEP]", "<sep>", "</s>"),
    "mask": ("mask_token", "[MASK]", "<mask>", "<special1>"),
    "unknown": ("unk_token", "[UNK]", "<unk>"),
}
"""The roles: what tokenizer_config.json calls each, and which tokens have it in released vocabularies."""

INSTEAD = {"start": "cls", "cls": "start", "end": "sep", "sep": "end", "pad": "end"}
"""Whose id a role takes that has none of its own."""

ADDED = {
    **{role: (f"[{role.upper()}]",) for role in ("mask", "cls", "sep", "pad", "start", "end")},
    "sentinel": tuple(f"<extra_id_{number}>" for number in range(len(SENTINELS))),
}
"""The roles for which rows can be added, and the names of their tokens."""

SENTENCEPIECE = ("spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
"""Files that transformers converts."""


# writing


def write_tokenizer(tokenizer: Tokenizer) -> dict[str, dict[str, Any]]:
    """The files tokenizer.json and tokenizer_config.json."""
    names = {role: tokenizer.library.id_to_token(number) for role, number in tokenizer.specials.roles.items()}
    roles = {NAMES[role][0]: name for role, name in names.items() if name is not None}
    settings = tokenizer.settings
    if tokenizer.own:
        settings = settings | {"added_tokens": [_special(k, token) for k, token in enumerate(SPECIAL_TOKENS)]}
    return {
        "tokenizer.json": settings,
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", **roles},
    }


# reading


def read_tokenizer(
    folder: Path, config: Mapping[str, Any], size: int, numbered: bool = False, add: Sequence[str] = ()
) -> Tokenizer:
    """The tokenizer of a folder for a table of `size` rows, and for one row more for each of the roles to `add`.

    It is numbers for words where the folder has none, or where that is wanted.
    """
    try:
        read = None if numbered else _settings(folder)
        settings = _numbers(size) if read is None else read
        named = ("special_tokens_map.json", "tokenizer_config.json") if read else ()
        about = {key: value for file in named for key, value in _optional(folder / file).items()}
        number = _numbers_by_name(settings)
        roles, signs = _roles(about, config, number, size), _sentinels(number)
        if unlike := next((role for role in add if role not in ADDED), None):
            raise UserError(f"A token can be added for {', '.join(ADDED)}, not for {unlike!r}.")
        for role in dict.fromkeys(add):
            names = ADDED[role]
            settings["added_tokens"] = [*settings["added_tokens"], *map(_special, count(size), names)]
            if role == "sentinel":
                signs = tuple(range(size, size + len(names)))
            else:
                roles[role] = size
            size += len(names)
        for role, other in INSTEAD.items():
            if role not in roles and other in roles:
                roles[role] = roles[other]
        roles.setdefault("pad", 0)
        if "unknown" in roles and roles["unknown"] in [roles[role] for role in roles if role != "unknown"]:
            del roles["unknown"]  # GPT-2 has no unknown word, and its configuration names the end for it
        special = [token["id"] for token in settings["added_tokens"] if token.get("special")]
        ids = {*roles.values(), *signs, *special} - {roles.get("unknown", size)}
        ours = [number.get(token) for token in SPECIAL_TOKENS] == [*range(len(SPECIAL_TOKENS))]
        if ours:
            return of_settings(settings | {"added_tokens": []}, specials(size))
        return of_settings(settings, Specials(size, tuple(sorted(ids)), roles, signs))
    except UserError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"The tokenizer in {folder} is damaged ({type(error).__name__}: {error}).") from error


def _special(number: int, token: str) -> dict[str, Any]:
    return {"id": number, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True}  # fmt: skip


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if os.path.isfile(path) else {}


def _settings(folder: Path) -> dict[str, Any] | None:
    """The content of tokenizer.json, or the same made of older files; None where there are none."""
    plain = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
             "pre_tokenizer": None, "post_processor": None, "decoder": None}  # fmt: skip
    if os.path.isfile(folder / "tokenizer.json"):
        return plain | read_json(folder / "tokenizer.json")
    extra = _optional(folder / "added_tokens.json").items()
    known = {name for names in NAMES.values() for name in names}
    plain["added_tokens"] = [
        _special(number, token) | ({} if token in known else {"special": False, "normalized": True})
        for token, number in extra
    ]
    if os.path.isfile(folder / "vocab.txt"):
        return plain | _word_pieces(folder)
    if os.path.isfile(folder / "vocab.json") and os.path.isfile(folder / "merges.txt"):
        return plain | _byte_pairs(folder)
    old = next((name for name in SENTENCEPIECE if os.path.exists(folder / name)), None)
    return None if old is None else plain | _converted(folder, old)


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}).") from error
    return [line.rstrip("\r") for line in lines[: -1 if not lines[-1] else None]]


def _word_pieces(folder: Path) -> dict[str, Any]:
    """A vocab.txt of BERT."""
    lower = _optional(folder / "tokenizer_config.json").get("do_lower_case", True)
    vocab = {word: number for number, word in enumerate(_lines(folder / "vocab.txt"))}
    return {
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": bool(lower)},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": MARK, "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": MARK,
                  "max_input_chars_per_word": 100, "vocab": vocab},
    }  # fmt: skip


def _byte_pairs(folder: Path) -> dict[str, Any]:
    """A vocab.json and a merges.txt: byte-level BPE of GPT-2, or BPE with the end of a word marked (XLM)."""
    lines = [line for line in _lines(folder / "merges.txt") if line and not line.startswith("#version")]
    merges = [line.split(" ")[:2] for line in lines]
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
             "vocab": read_json(folder / "vocab.json"), "merges": merges}  # fmt: skip
    if any(right.endswith("</w>") for _, right in merges):
        return {
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": False,
                           "strip_accents": True, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
            "model": model | {"end_of_word_suffix": "</w>", "unk_token": "<unk>"},
        }  # fmt: skip
    prefix = bool(_optional(folder / "tokenizer_config.json").get("add_prefix_space", False))
    level = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": True}
    return {"pre_tokenizer": level, "decoder": level, "model": model}


def _converted(folder: Path, name: str) -> dict[str, Any]:
    """A vocabulary of SentencePiece as transformers converts it, where that is installed."""
    try:
        from transformers import AutoTokenizer

        library = AutoTokenizer.from_pretrained(folder, local_files_only=True).backend_tokenizer
        return json.loads(library.to_str())
    except Exception as error:  # the libraries raise what they like
        raise UserError(
            f"{folder} has its tokenizer only in {name}, which transformers could not convert here ({error}); save it "
            "with transformers as tokenizer.json, or take its words as numbers (--numbered)."
        ) from error


def _numbers_by_name(settings: Mapping[str, Any]) -> dict[str, int]:
    """The id of every string of a vocabulary, which the library must take."""
    vocab = settings["model"]["vocab"]
    times = Counter(vocab.values() if isinstance(vocab, dict) else (name for name, _ in vocab))
    if twice := [each for each, count in times.items() if count > 1]:
        raise UserError(f"The vocabulary has {twice[0]!r} {times[twice[0]]} times; download the folder again.")
    try:
        library = tokenizers.Tokenizer.from_str(json.dumps(settings))
    except Exception as error:  # the library raises bare exceptions
        raise UserError(f"tokenizer.json cannot be used: {error}.") from error
    return library.get_vocab(with_added_tokens=True)


def _roles(about: Mapping[str, Any], config: Mapping[str, Any], number: Mapping[str, int], size: int) -> dict[str, int]:
    """The id of each role that a folder has: as it names it, else as released vocabularies do."""
    found: dict[str, int] = {}
    for role, (key, *names) in NAMES.items():
        named = about.get(key)
        named = named.get("content") if isinstance(named, dict) else named
        if named is not None and not (isinstance(named, str) and named in number):
            raise UserError(
                f"tokenizer_config.json says {key}: {named!r}, which is no token of the vocabulary; name one that is."
            )
        token = next((name for name in (named, *names) if name in number), None)
        said = config.get(f"{key}_id")
        said = said[0] if isinstance(said, list) and said else said
        if said is not None and type(said) is not int:
            raise UserError(f"config.json says {key}_id: {said!r}; it must be a whole number.")
        if token is not None:
            found[role] = number[token]
        elif said is not None and 0 <= said < size:
            found[role] = said
    begins = config.get("decoder_start_token_id")
    if begins is not None:
        if type(begins) is not int or not 0 <= begins < size:
            raise UserError(f"config.json says decoder_start_token_id: {begins!r}; it must be from 0 to {size - 1}.")
        found["start"] = begins
    return found


def _sentinels(number: Mapping[str, int]) -> tuple[int, ...]:
    """The ids of T5's numbered tokens, the first one first."""
    found: list[int] = []
    while (name := f"<extra_id_{len(found)}>") in number:
        found.append(number[name])
    return tuple(found)


def _numbers(size: int) -> dict[str, Any]:
    """Words called by their numbers."""
    vocab = {f"#{number}": number for number in range(size)}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "<unk>"},
    }  # fmt: skip
