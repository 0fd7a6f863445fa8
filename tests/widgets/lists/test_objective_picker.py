"""The list of objectives: the survey's rows first, then group by group."""

from itertools import groupby

from playground.objectives import GROUPS, objectives
from widgets.lists.objective_picker import SURVEY, cards


def test_the_survey_stands_first_and_the_groups_follow_in_their_order():
    headings = [heading for heading, _ in groupby(card["group"] for card in cards())]
    left = {o.group for o in objectives().values() if not o.row}
    assert headings == [SURVEY, *(group for group in GROUPS if group in left)]
    assert [card["row"] for card in cards() if card["group"] == SURVEY] == [
        o.row for o in objectives().values() if o.row
    ]


def test_every_objective_has_one_card():
    assert sorted(card["name"] for card in cards()) == sorted(objectives())
    assert sum(bool(card["row"]) for card in cards()) == 11
