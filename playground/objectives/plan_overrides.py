"""A person's plan in words and 1-based positions, turned into tensors over tokens, or refused with the reason."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from playground.batch import Batch, Tokens
from playground.errors import UserError
from playground.parsing import parse_json
from playground.tokenizing.words import clean

SHAPES = {
    "chosen": "word positions such as 3,8",
    "t": "a time above 0 and at most 1, such as 0.4, or one for each block, such as 0.4,0.9",
    "actions": "one of mask, random, keep for each chosen word, such as mask,keep",
    "spans": "start:length pairs such as 2:1,5:2",
    "form": "plain, PSM (prefix, suffix, middle) or SPM (suffix, prefix, middle)",
    "order": "every word position once, such as 3,5,6,8,2,1,4,7",
    "cut": "the number of words that are given before the first prediction, such as 3",
    "replace": "words, such as thrilled,study",
    "split": "the number of words in the first part, such as 4",
    "pair": "how the pair is made: next, random, reversed ..., or the label of the two",
    "part": "the number of a part of the mixture, such as 2",
    "radius": "one number for each word, such as 2,1,5",
    "wrong": "words, the same number for each answer, such as thrilled,study",
    "labelled": "yes or no",
    "sentences": "sentence positions such as 2,1",
    "segments": "the sentences of each segment in their new order, such as 3,1-2",
    "fields": "the fields that are written, in their order, such as date,article",
    "intact": "positions of chosen sentences that stay visible, such as 2",
    "start": "the position of the word that becomes the first, such as 5",
    "deleted": "word positions that are deleted, such as 2,5",
    "blanks": "the order in which the blanks are filled, such as 2,1",
    "marks": "[MASK] or a word for each span, such as [MASK],walk",
    "language": "which of the two texts is read: first or second",
}


_LIST = r'\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]'
_SETTING = re.compile(rf"[^\s;=]+=(?:{_LIST}(?=[\s;]|$)|[^\s;]*)|[^\s;]+")


def short(value: Any) -> str:
    """A value as a refusal says it; a long one is not said whole."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]} …"


def settings_of(line: str) -> list[str]:
    """A typed plan, `chosen=3,8 cut=3`, cut at spaces and semicolons that do not stand in a quoted word."""
    return _SETTING.findall(line)


def parse(settings: Sequence[str] | str) -> dict[str, Any]:
    """`["chosen=3,8", "cut=3"]` as typed on a command line, to `{"chosen": [3, 8], "cut": 3}`."""
    pairs = [s.partition("=") for s in ([settings] if isinstance(settings, str) else settings)]
    return {key.strip(): read(key.strip(), value.strip()) for key, _, value in pairs}


def read(key: str, value: Any) -> Any:
    """One plan value in its own type; text, lists and numbers are all understood.

    Text is cut at commas, or is a list in JSON where words hold commas: `replace=[",","3,000"]`.
    """
    if key not in SHAPES:
        raise UserError(f"There is no plan key {short(key)}; the keys are {', '.join(SHAPES)}.")
    try:
        items = _items(value)
        match key:
            case "cut" | "split" | "part" | "start":
                (one,) = items
                return _whole(one)
            case "t" if items:
                return [_time(v) for v in items]
            case "pair" | "labelled" | "language" | "form":
                (one,) = items
                return _word(one)
            case "chosen" | "order" | "radius" | "sentences" | "deleted" | "intact" | "blanks":
                return [_whole(v) for v in items]
            case "spans":
                return [_span(v) for v in items]
            case _:
                return [_word(v) for v in items]
    except (TypeError, ValueError) as error:
        raise UserError(f"The plan {key} is {short(value)}; it must be {SHAPES[key]}.") from error


def _items(value: Any) -> list[Any]:
    if isinstance(value, str):
        listed = _listed(value)
        return [v.strip() for v in value.split(",") if v.strip()] if listed is None else listed
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, int | float):
        return [value]
    raise TypeError(value)


def _listed(value: str) -> list[Any] | None:
    """What a list in JSON holds; nothing where the text is none, as `[MASK],walk`."""
    try:
        found = parse_json(value) if value.startswith("[") else None
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def _whole(value: Any) -> int:
    """A whole number, also as text or as 2.0; neither 1.5 nor yes or no."""
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError(value)
    return int(value)


def _time(value: Any) -> float:
    """A number above 0 and at most 1, also as text."""
    if isinstance(value, bool) or not 0 < (time := float(value)) <= 1:
        raise ValueError(value)
    return time


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or any(unicodedata.category(c) == "Cc" for c in value):
        raise TypeError(value)
    return clean(value)


def write(plan: Mapping[str, Any]) -> str:
    """A plan as a person types it, `chosen=3,8 cut=3`; `settings_of` and `parse` read it back."""
    return " ".join(f"{key}={_written(value)}" for key, value in plan.items())


def _written(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    if any(isinstance(v, str) and re.search(r'[\s,;"]', v) for v in value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return ",".join(map(str, value))


def _span(value: Any) -> tuple[int, int]:
    if not isinstance(value, str | list | tuple):
        raise TypeError(value)
    start, length = value.split(":") if isinstance(value, str) else value
    return _whole(start), _whole(length)


def word_count(tokens: Tokens) -> int:
    """The number of words of the first row: plans by hand speak of one text."""
    real = tokens.valid[0]
    return int(tokens.word_ids[0][real].max()) + 1 if bool(real.any()) else 0


def positions(batch: Batch, words: Sequence[int], what: str = "Position") -> Tensor:
    """Which tokens `[b, t]` belong to the named words (1-based); a word that is not there is refused."""
    count = word_count(batch.tokens)
    for word in words:
        if not 1 <= word <= count:
            raise UserError(f"{what} {word} is not in the text; it has {count} words, so 1 to {count} would be right.")
    requested = torch.tensor([w - 1 for w in words], dtype=torch.long, device=batch.tokens.word_ids.device)
    return torch.isin(batch.tokens.word_ids, requested) & batch.tokens.valid


def words_of(batch: Batch, chosen: Tensor, row: int) -> list[int]:
    """The words (1-based) that the chosen tokens of a row belong to."""
    return sorted({int(w) + 1 for w in batch.tokens.word_ids[row][chosen[row]]})


def spans(batch: Batch, requested: Sequence[tuple[int, int]]) -> tuple[Tensor, Tensor]:
    """First token and number of tokens `[b, m]` of spans given in words; they must lie in the text and not overlap."""
    count, starts, lengths, free = word_count(batch.tokens), [], [], 1
    for start, length in sorted(requested):
        if start < free or length < 0 or start + length - 1 > count or start > count + 1:
            raise UserError(
                f"The span {start}:{length} does not fit; spans must not overlap and must lie within 1 to {count}."
            )
        before = _tokens_before(batch, start)
        starts.append(before)
        lengths.append(_tokens_before(batch, start + length) - before)
        free = start + length
    shape = (batch.tokens.ids.shape[0], len(starts))
    make = lambda values: torch.tensor(values, dtype=torch.long, device=batch.tokens.ids.device).expand(shape)  # noqa: E731
    return make(starts), make(lengths)


def _tokens_before(batch: Batch, word: int) -> int:
    tokens = batch.tokens
    return int((tokens.valid[0] & (tokens.word_ids[0] < word - 1)).sum())


def order(batch: Batch, requested: Sequence[int]) -> Tensor:
    """The step `[b, t]` at which each token comes when words are taken in this order (pieces from left to right)."""
    count = word_count(batch.tokens)
    check_order(requested, count, "words")
    step_of_word = torch.empty(count, dtype=torch.long, device=batch.tokens.ids.device)
    step_of_word[torch.tensor(requested, device=step_of_word.device) - 1] = torch.arange(
        count, device=step_of_word.device
    )
    step = step_of_word[batch.tokens.word_ids.clamp(0, count - 1)].masked_fill(~batch.tokens.valid, count)
    return step.argsort(dim=1, stable=True).argsort(dim=1)


def check_order(requested: Sequence[int], count: int, what: str) -> None:
    """Refuse what does not name each of so many words, sentences or blanks once."""
    if sorted(requested) != list(range(1, count + 1)):
        given = short(",".join(map(str, requested))).strip("'") or f"of no {what}"
        raise UserError(f"The order {given} is not an order of {count} {what}; name each of 1 to {count} once.")


def words_in_order(batch: Batch, rank: Tensor, row: int) -> list[int]:
    """The words (1-based) of a row in the order of their rank, each named at its first piece."""
    real = batch.tokens.valid[row]
    ranked = batch.tokens.word_ids[row][real][rank[row][real].argsort()]
    return list(dict.fromkeys((ranked + 1).tolist()))
