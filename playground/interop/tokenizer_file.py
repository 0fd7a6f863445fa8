"""The tokenizer of a folder: tokenizer.json, or older files as one, with the roles of its special tokens."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, models
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel, WhitespaceSplit

from playground.batch import Specials
from playground.errors import UserError
from playground.interop.weights import read_json
from playground.tokenizing import SPECIAL_TOKENS, Tokenizer
from playground.tokenizing.tokenizer_json import of_settings
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
    if tokenizer.specials == specials(len(tokenizer)):
        settings = settings | {"added_tokens": [_special(k, token) for k, token in enumerate(SPECIAL_TOKENS)]}
    return {
        "tokenizer.json": settings,
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", **roles},
    }


def wrapped(tokenizer: Tokenizer) -> Any:
    """A tokenizer of ours as one of the transformers library, for its collators; it puts nothing around a text."""
    try:
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        raise UserError(
            "The collators of the transformers library need that library: pip install 'pretraining-playground[hub]'."
        ) from error
    files = write_tokenizer(tokenizer)
    backend = tokenizers.Tokenizer.from_str(json.dumps(files["tokenizer.json"]))
    return PreTrainedTokenizerFast(tokenizer_object=backend, **files["tokenizer_config.json"])


# reading


def read_tokenizer(
    folder: Path, config: Mapping[str, Any], size: int, numbered: bool = False, add: Sequence[str] = ()
) -> Tokenizer:
    """The tokenizer of a folder for a table of `size` rows, and for one row more for each of the roles to `add`.

    It is numbers for words where the folder has none, or with `numbered`.
    """
    try:
        read = None if numbered else _settings(folder)
        settings = _numbers(size) if read is None else read
        named = ("special_tokens_map.json", "tokenizer_config.json") if read else ()
        about = {key: value for file in named for key, value in _optional(folder / file).items()}
        number = _numbers_by_name(settings)
        roles, numbered_tokens = _roles(about, config, number, size), map("<extra_id_{}>".format, count())
        signs = tuple(number[token] for token in takewhile(number.__contains__, numbered_tokens))
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
    if os.path.isfile(folder / "tokenizer.json"):
        settings = read_json(folder / "tokenizer.json")
        return settings | {k: v for k, v in {"added_tokens": [], "pre_tokenizer": None}.items() if k not in settings}
    if os.path.isfile(folder / "vocab.txt"):
        library = _word_pieces(folder)
    elif os.path.isfile(folder / "vocab.json") and os.path.isfile(folder / "merges.txt"):
        library = _byte_pairs(folder)
    else:
        old = next((name for name in SENTENCEPIECE if os.path.exists(folder / name)), None)
        return None if old is None else _converted(folder, old)
    added, known = _optional(folder / "added_tokens.json"), [*chain.from_iterable(NAMES.values())]
    for token in sorted(added, key=added.__getitem__):
        (library.add_special_tokens if token in known else library.add_tokens)([token])
    return json.loads(library.to_str())


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}).") from error


def _word_pieces(folder: Path) -> tokenizers.Tokenizer:
    """A vocab.txt of BERT."""
    lower = _optional(folder / "tokenizer_config.json").get("do_lower_case", True)
    vocab = {word: number for number, word in enumerate(_lines(folder / "vocab.txt"))}
    library = tokenizers.Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    library.normalizer, library.pre_tokenizer = BertNormalizer(lowercase=bool(lower)), BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    return library


def _byte_pairs(folder: Path) -> tokenizers.Tokenizer:
    """A vocab.json and a merges.txt: byte-level BPE of GPT-2, or BPE with the end of a word marked (XLM)."""
    lines = [line for line in _lines(folder / "merges.txt") if line and not line.startswith("#version")]
    vocab, parts = read_json(folder / "vocab.json"), [line.split(" ") for line in lines]
    merges = [(part[0], part[1]) for part in parts]
    if any(right.endswith("</w>") for _, right in merges):
        library = tokenizers.Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", end_of_word_suffix="</w>"))
        library.normalizer = BertNormalizer(handle_chinese_chars=False, strip_accents=True)
        library.pre_tokenizer, library.decoder = BertPreTokenizer(), decoders.BPEDecoder()
        return library
    library = tokenizers.Tokenizer(models.BPE(vocab, merges))
    prefix = bool(_optional(folder / "tokenizer_config.json").get("add_prefix_space", False))
    library.pre_tokenizer, library.decoder = ByteLevel(add_prefix_space=prefix), decoders.ByteLevel()
    return library


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
    return Tokenizer(json.dumps(settings), specials(0)).library.get_vocab(with_added_tokens=True)


def _roles(about: Mapping[str, Any], config: Mapping[str, Any], number: Mapping[str, int], size: int) -> dict[str, int]:
    """The id of each role that a folder has: as it names it, else as released vocabularies do."""
    found: dict[str, int] = {}
    for role, (key, *names) in NAMES.items():
        named = about.get(key)
        named = named.get("content") if isinstance(named, dict) else named
        if named is not None and not (isinstance(named, str) and named in number):
            raise UserError(
                f"tokenizer_config.json says {key}: {named!r}, which is not in the vocabulary; name a token that is."
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


def _numbers(size: int) -> dict[str, Any]:
    """Words called by their numbers."""
    library = tokenizers.Tokenizer(models.WordLevel({f"#{k}": k for k in range(size)}, "<unk>"))
    library.pre_tokenizer = WhitespaceSplit()
    return json.loads(library.to_str())
