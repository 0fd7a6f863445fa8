"""The list of objectives: the survey's rows first, then group by group."""

from functools import partial
from itertools import groupby

import pytest

from playground.catalog import nearest
from playground.objectives import GROUPS, objectives
from widgets.lists.objective_picker import SURVEY, cards, picker
from widgets.lists.strategy_picker import chooser


def test_the_survey_stands_first_and_the_groups_follow_in_their_order():
    headings = [heading for heading, _ in groupby(card["group"] for card in cards())]
    left = {o.group for o in objectives().values() if not o.row}
    assert headings == [SURVEY, *(group for group in GROUPS if group in left)]
    assert [card["names"][1] for card in cards() if card["group"] == SURVEY] == [
        o.row for o in objectives().values() if o.row
    ]


def test_every_objective_has_one_card():
    assert sorted(card["name"] for card in cards()) == sorted(objectives())
    assert sum(bool(card["names"][1]) for card in cards()) == 11


@pytest.mark.parametrize("make", [picker, partial(chooser, 12)])
def test_a_list_says_what_is_nearest_to_what_it_does_not_have(make):
    searched = make()
    searched.sought = "mT5"
    assert searched.nearest[:2] == ["mT5", nearest("mT5")]
    searched.sought = "<b>nothing</b>"
    assert searched.nearest[:2] == ["<b>nothing</b>", ""]
    assert [name in searched.known() for name in searched.nearest[2]] == [True] * 3
