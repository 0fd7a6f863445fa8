"""Numbers and JSON out of text, and the sentences about what is wrong with it: one place each."""

import json
import math
import pickle
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import pytest

from playground.errors import LONGEST, LONGEST_WORD, UserError
from playground.parsing import DEEPEST, LARGEST, dump_json, form_of, has_form, parse_int, parse_json
from playground.rng import next_seed

# numbers


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), (" -7 ", -7), ("+3", 3), ("1_000", 1000), ("٣", 3), (str(LARGEST), LARGEST)]
)
def test_a_whole_number_is_read(text, value):
    assert parse_int(text) == value


@pytest.mark.parametrize(
    "text", ["", "²", "1²", "Ⅷ", "½", "1.5", "1e3", "x", "9" * 5_000, str(LARGEST + 1), "-" + "9" * 30]
)
def test_what_is_no_whole_number_that_all_can_keep_is_a_value_error(text):
    with pytest.raises(ValueError):  # noqa: PT011 (whatever Python says of it)
        parse_int(text)


def test_limits_belong_to_the_number():
    assert parse_int("5", 5, 5) == 5
    for text in ("4", "6"):
        with pytest.raises(ValueError, match=f"{text} is not between 5 and 5"):
            parse_int(text, 5, 5)


def test_seeds_go_round():
    assert (next_seed(0), next_seed(LARGEST - 1), next_seed(LARGEST)) == (1, LARGEST, 0)


# JSON


@pytest.mark.parametrize("opens", ["[", '{"a":'])
@pytest.mark.parametrize("deep", [DEEPEST + 1, 990, 100_000])
def test_what_is_nested_too_deep_is_a_value_error(opens, deep):
    closes = {"[": "]", '{"a":': "}"}[opens]
    for text in (opens * deep, f"{opens * deep}1{closes * deep}"):
        with pytest.raises(ValueError):  # noqa: PT011 (whatever Python says of it)
            parse_json(text)


def test_what_is_not_is_read():
    for deep in (0, 1, DEEPEST - 1):
        found = parse_json("[" * deep + "1" + "]" * deep)
        for _ in range(deep):
            (found,) = found
        assert found == 1
    assert parse_json('{"a": [1, {"b": null}]}') == {"a": [1, {"b": None}]}


FORM = {"name": str, "points": [(int, float)], "more": {str: [bool]}, "note?": str}
RIGHT = {"name": "a", "points": [[1, 0.5], [2, 3]], "more": {"x": [True]}, "unknown": None}


def test_a_form_says_what_a_value_must_have():
    assert has_form(RIGHT, FORM)
    assert has_form(RIGHT | {"note": None}, FORM) and has_form(RIGHT | {"note": "b"}, FORM)


@pytest.mark.parametrize(
    "changed",
    [
        {"name": None}, {"name": 1}, {"points": {}}, {"points": [[1]]}, {"points": [[1, 2, 3]]}, {"points": [[1.0, 2]]},
        {"points": [[True, 2]]}, {"points": [[1, "2"]]}, {"points": [[2**62, 1.0]]}, {"more": []}, {"more": {"x": [1]}},
        {"note": 1},
    ],
)  # fmt: skip
def test_what_lacks_its_form_is_told(changed):
    assert not has_form(RIGHT | changed, FORM)
    assert not has_form([RIGHT], FORM) and not has_form({k: v for k, v in RIGHT.items() if k != "name"}, FORM)


class Note(TypedDict):
    word: str


class Declared(TypedDict):
    name: str
    points: list[tuple[int, float]]
    more: dict[str, list[bool]]
    inside: list[Note]
    note: str | None
    left_out: NotRequired[int]


def test_a_declaration_is_a_form():
    form = FORM | {"inside": [{"word": str}], "left_out?": int}
    assert form_of(Declared) == form
    assert form_of(str) is str


# sentences


def test_a_refusal_is_a_sentence_that_fits_any_screen():
    plain = "The seed is 'x'; it must be a whole number."
    assert str(UserError(plain)) == plain
    said = str(UserError(f"The name {'x' * 60_000} is \x1b[2J\n\u202e unknown."))
    assert said.isprintable() and len(said) < LONGEST_WORD + 60
    assert said.startswith("The name xxx") and said.endswith("\\x1b[2J\\n\\u202e unknown.")
    long = str(UserError(f"The text {'word ' * 10_000}is too long."))
    assert len(long) <= LONGEST and long.startswith("The text word") and long.endswith("is too long.")


def test_a_refusal_travels_between_processes_as_it_is():
    refusal = UserError("The name 'a\0b' is not known.")
    assert str(pickle.loads(pickle.dumps(refusal))) == str(refusal) == "The name 'a\\x00b' is not known."


def test_numbers_that_json_does_not_know_are_null():
    """Every reader takes what is written: the standard has no NaN and no infinity (RFC 8259, sec. 6)."""
    written = dump_json({"a": [math.nan, -math.inf, 1.5], "b": Pair(math.inf, ("x", math.nan))})
    pair = {"left": None, "right": ["x", None]}
    assert json.loads(written, parse_constant=pytest.fail) == {"a": [None, None, 1.5], "b": pair}


@dataclass
class Pair:
    left: float
    right: tuple[str, float]
