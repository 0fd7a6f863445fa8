"""Rules: where the interval must lie, how often chance is taken for an effect, and how often an effect is found."""

import random
from math import inf

import pytest

from playground.claims.rule import Rule, alike, equal, higher, lower, overall

SEEDS, CARDS = 5, 500


def calls(rule: Rule, effect: float, cards: int = CARDS) -> list[str]:
    """The calls of simulated cards whose gap between two arms has this mean, in standard deviations of the gaps."""
    rng, found = random.Random(0), []
    for _ in range(cards):
        values = {"A": [rng.gauss(effect, 1) for _ in range(SEEDS)], "B": [0.0] * SEEDS}
        found.append(rule.judge(values)["call"])
    return found


def test_an_effect_of_two_standard_deviations_is_called_in_four_of_five_cards():
    assert calls(higher("A", "B"), 2).count("agrees") >= 0.8 * CARDS
    assert calls(higher("A", "B"), -2).count("disagrees") >= 0.8 * CARDS
    assert calls(lower("A", "B"), -2).count("agrees") >= 0.8 * CARDS


def test_two_equal_arms_are_called_different_in_at_most_five_of_a_hundred_cards():
    assert calls(higher("A", "B"), 0).count("undecided") >= 0.95 * CARDS


def test_several_rules_err_together_as_seldom_as_one():
    rng, wrong = random.Random(1), 0
    rules = [higher(name, "B") for name in "CDEF"]
    for _ in range(CARDS):
        values = {name: [rng.gauss(0, 1) for _ in range(SEEDS)] for name in "CDEF"} | {"B": [0.0] * SEEDS}
        wrong += any(rule.judge(values, len(rules))["call"] != "undecided" for rule in rules)
    assert wrong <= 0.05 * CARDS + 2 * (0.05 * 0.95 * CARDS) ** 0.5


def test_the_interval_decides_by_hand():
    """Gaps 1, 2, 3: mean 2, standard deviation 1, interval 2 +- 5.204 / sqrt(3)."""
    values = {"A": [2.0, 3.0, 4.0], "B": [1.0, 1.0, 1.0]}
    found = higher("A", "B").judge(values)
    assert found["low"] == pytest.approx(2 - 5.2038 / 3**0.5, abs=1e-4)
    assert found["high"] == pytest.approx(2 + 5.2038 / 3**0.5, abs=1e-4)
    assert found["call"] == "undecided"
    assert found["seeds_needed"] == 4, "3.70 / 2 < 2"
    assert lower("A", "B", by=5).judge(values)["call"] == "disagrees", "at most -5, and the interval begins at -1.0"
    assert alike("A", "B", within=6).judge(values)["call"] == "agrees"
    assert alike("A", "B", within=3).judge(values)["call"] == "undecided"


def test_a_number_can_stand_in_place_of_the_second_arm():
    assert higher("A", 0.5).judge({"A": [0.8, 0.81, 0.79, 0.8]})["call"] == "agrees"
    assert higher("A", 0.9).judge({"A": [0.8, 0.81, 0.79, 0.8]})["call"] == "disagrees"


def test_an_exact_rule_must_hold_with_every_seed():
    assert equal("A", "B").judge({"A": [1.0, 2.0], "B": [1.0, 2.0]})["call"] == "agrees"
    assert equal("A", "B").judge({"A": [1.0, 2.0], "B": [1.0, 2.5]})["call"] == "disagrees"
    assert equal("A", 3).judge({"A": [3.0]})["call"] == "agrees"


def test_one_seed_decides_nothing_that_chance_touches():
    found = higher("A", "B").judge({"A": [2.0], "B": [1.0]})
    assert (found["call"], found["low"], found["high"], found["seeds_needed"]) == ("undecided", None, None, None)


def test_exactly_no_difference_is_not_higher():
    assert higher("A", "B").judge({"A": [1.0] * 5, "B": [1.0] * 5})["call"] == "disagrees"


@pytest.mark.parametrize(
    ("mean", "rule", "needed"),
    [(0.0, higher("A", 0), None), (0.5, higher("A", 0), 21), (0.5, alike("A", 0, 1), 21), (2.0, alike("A", 0, 1), 8)],
)
def test_the_seeds_that_would_decide_put_the_interval_on_one_side(mean, rule, needed):
    """The first n with t(n) / sqrt(n) below the distance to the nearest bound, for a spread of 1."""
    values = {"A": [mean - 1, mean + 1, mean]}  # a spread of 1
    found = rule.judge(values)
    assert found["call"] == "undecided"
    assert found["seeds_needed"] == needed


def test_a_rule_in_words():
    assert higher("A", "B").words == "A minus B is above 0"
    assert lower("A", "B").words == "A minus B is below 0"
    assert higher("A", 0.5, by=0.1).words == "A minus 0.5 is at least 0.1"
    assert alike("A", "B", 0.1).words == "A minus B is between -0.1 and 0.1"
    assert equal("A", 0).words == "A is exactly 0 with every seed"
    assert Rule("A", 0, -inf, 2).words == "A is at most 2"


def test_one_rule_that_disagrees_is_enough():
    agrees, undecided, disagrees = ({"call": call} for call in ("agrees", "undecided", "disagrees"))
    assert overall([agrees, agrees]) == "agrees"
    assert overall([agrees, undecided]) == "undecided"
    assert overall([agrees, undecided, disagrees]) == "disagrees"
