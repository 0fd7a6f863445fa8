"""Knobs and their limits: what is typed becomes their own kind, or is refused with what would be right."""

from dataclasses import dataclass, fields

import pytest

from playground.errors import UserError
from playground.knob import knob, knobs, turn
from playground.models import Architecture
from playground.objectives import Objective, find_objective
from playground.zoo import entries


@dataclass(frozen=True)
class Part:
    """A part with one knob of every kind and one field that is none."""

    share: float = knob(0.5, 0.0, 1.0, unit="share", why="A share.")
    count: int = knob(3, 1, 10, unit="things", why="A number.")
    wrap: bool = knob(False, why="A switch.")
    kind: str = knob("mask", choices=("mask", "sentinel"), why="A choice.")
    hidden: int = 7


def test_knobs_are_read_in_their_order_with_all_they_say():
    found = knobs(Part())
    assert [k.name for k in found] == ["share", "count", "wrap", "kind"]
    assert (found[0].low, found[0].high, found[0].unit, found[0].why) == (0.0, 1.0, "share", "A share.")
    assert found[3].choices == ("mask", "sentinel")
    assert [k.default for k in found] == [0.5, 3, False, "mask"]


GOOD = [
    ("share", "0.25", 0.25),
    ("share", 1, 1.0),
    ("share", 0, 0.0),
    ("count", "4", 4),
    ("count", 4.0, 4),
    ("count", "1e1", 10),
    ("wrap", "yes", True),
    ("wrap", "OFF", False),
    ("wrap", 1, True),
    ("wrap", False, False),
    ("kind", "sentinel", "sentinel"),
]


@pytest.mark.parametrize(("name", "value", "wanted"), GOOD)
def test_text_and_numbers_become_the_knobs_own_kind(name, value, wanted):
    turned = getattr(turn(Part(), {name: value}), name)
    assert turned == wanted
    assert type(turned) is type(wanted)


BAD = [
    ("share", "1.5", r"^share is 1\.5; it must lie between 0\.0 and 1\.0 share\.$"),
    ("share", -0.1, r"^share is -0\.1; it must lie between 0\.0 and 1\.0 share\.$"),
    ("share", "nan", r"^share is nan; it must lie between"),
    ("share", "inf", r"^share is inf; it must lie between"),
    ("share", "much", r"^share is 'much'; it must be a number\.$"),
    ("share", None, r"^share is None; it must be a number\.$"),
    ("count", "2.5", r"^count is '2\.5'; it must be a whole number\.$"),
    ("count", "inf", r"^count is 'inf'; it must be a whole number\.$"),
    ("count", "nan", r"^count is 'nan'; it must be a whole number\.$"),
    ("count", 11, r"^count is 11; it must lie between 1 and 10 things\.$"),
    ("count", 0, r"^count is 0; it must lie between 1 and 10 things\.$"),
    ("share", True, r"^share is True; it must be a number\.$"),
    ("count", True, r"^count is True; it must be a whole number\.$"),
    ("count", [3], r"^count is \[3\]; it must be a whole number\.$"),
    ("kind", ["mask"], r"^kind is \['mask'\]; it must be a word\.$"),
    ("wrap", "perhaps", r"^wrap is 'perhaps'; it must be yes or no\.$"),
    ("wrap", 2, r"^wrap is 2; it must be yes or no\.$"),
    ("kind", "star", r"^kind is 'star'; choose one of mask, sentinel\.$"),
]


@pytest.mark.parametrize(("name", "value", "sentence"), BAD)
def test_a_wrong_value_is_refused_with_what_would_be_right(name, value, sentence):
    with pytest.raises(UserError, match=sentence):
        turn(Part(), {name: value})


def test_turning_leaves_the_part_and_its_other_knobs_alone():
    part = Part()
    turned = turn(part, {"share": 0.1, "kind": "sentinel"})
    assert part == Part()
    assert (turned.count, turned.wrap, turned.hidden) == (3, False, 7)


def test_an_objective_shows_its_knobs_as_they_stand():
    turned = find_objective("MLM").turn({"mask_ratio": "0.3", "add_special_tokens": "on"})
    assert (turned.knobs["mask_ratio"].default, turned.knobs["add_special_tokens"].default) == (0.3, True)
    assert find_objective("MLM").knobs["mask_ratio"].default == 0.15


def test_a_name_that_two_stages_share_is_written_with_its_stage():
    """RTD asks in place and of every word; both stages of a chain with two masks keep their own."""
    mlm = find_objective("MLM")
    twice = Objective("twice", (*mlm.stages, mlm.stages[2]), mlm.idea, mlm.loss, mlm.terms, mlm.source)
    assert {"ChangeTokens.mask_replace_prob", "ChangeTokens.random_replace_prob", "mask_ratio"} <= twice.knobs.keys()
    assert "mask_replace_prob" not in twice.knobs
    turned = twice.turn({"ChangeTokens.mask_replace_prob": 0.5})
    assert [s.mask_replace_prob for s in turned.stages if hasattr(s, "mask_replace_prob")] == [0.5, 0.5]
    with pytest.raises(UserError, match="twice has no knob 'mask_replace_prob'"):
        twice.turn({"mask_replace_prob": 0.5})


@pytest.mark.parametrize(("width", "heads"), [(20, 3), (64, 5), (8, 8)])
def test_a_width_that_does_not_fit_its_heads_is_refused(width, heads):
    with pytest.raises(UserError, match=f"width {width} does not fit {heads} heads; it must be a multiple"):
        Architecture(width=width, heads=heads)


def test_every_part_of_the_zoo_lies_within_its_own_limits():
    for entry in entries().values():
        for part in (entry.model, entry.recipe):
            values = {f.name: getattr(part, f.name) for f in fields(part)}
            assert turn(part, {k.name: values[k.name] for k in knobs(part)}) == part
