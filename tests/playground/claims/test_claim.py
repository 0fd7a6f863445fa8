"""Cards: their arms, their knobs, and what counts as another rule."""

import sys
from dataclasses import replace

import pytest

from playground.claims import Arm, Claim, claim_named, claims, higher
from playground.errors import UserError

CARD = Claim(
    name="T1", title="A test", group="Adapting", statement="A is more than B.", source="nowhere",
    prediction="A is higher.", otherwise="It is not.", scale="Nothing.",
    common=Arm(corpus="families", steps=4, figure="held-out loss"),
    arms={"A": {"entry": "MLM"}, "B": {"entry": "LM"}}, rules=(higher("A", "B"),),
)  # fmt: skip


def test_an_arm_has_what_all_share_and_its_own():
    assert CARD.sides["B"] == Arm(entry="LM", corpus="families", steps=4, figure="held-out loss")
    assert CARD.differs == ("entry",)


def test_what_decides_counts_and_words_do_not():
    same = replace(CARD, title="Another title", scale="Much.", history=("A typing error.",))
    assert same.fingerprint == CARD.fingerprint
    for other in (
        replace(CARD, rules=(higher("A", "B", by=0.1),)), replace(CARD, seeds=6),
        replace(CARD, common=replace(CARD.common, steps=5)), replace(CARD, compute=lambda lab, arm, seed: 0.0),
    ):  # fmt: skip
        assert other.fingerprint != CARD.fingerprint


def test_knobs_are_turned_for_all_arms_or_for_one():
    turned = CARD.turned({"steps": "9", "B.entry": "PLM", "seeds": "3"})
    assert [arm.steps for arm in turned.sides.values()] == [9, 9]
    assert [arm.entry for arm in turned.sides.values()] == ["MLM", "PLM"]
    assert turned.seeds == 3
    assert set(CARD.knobs) == {"settings", "corpus", "steps", "A.entry", "B.entry", "seeds"}
    assert {name: CARD.value(name) for name in CARD.knobs} == {
        "settings": "", "corpus": "families", "steps": 4, "A.entry": "MLM", "B.entry": "LM", "seeds": 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("entry", "LM", "differ in entry: A.entry=MLM, B.entry=LM"),
        ("C.entry", "LM", "the arms of T1 are A, B"),
        ("speed", "1", "no knob 'speed'"),
        ("steps", "-1", "-1"),
        ("seeds", "0", "0"),
    ],
)
def test_a_knob_that_is_not_there_is_refused(name, value, said):
    with pytest.raises(UserError, match=said):
        CARD.turned({name: value})


def test_a_claim_is_found_by_its_name_and_by_its_words():
    first = next(iter(claims().values()))
    assert claim_named(first.name.lower()) is first
    with pytest.raises(UserError, match="K040"):
        claim_named("new angeles probability")


TEXTS, LENGTH = 10, 20


def _with_constants(lab, arm, seed):
    return sum(number * LENGTH for number in range(TEXTS))


@pytest.mark.parametrize("constant", ["TEXTS", "LENGTH"])
def test_what_a_figure_depends_on_holds_the_constants_that_its_function_reads(constant, monkeypatch):
    before = replace(CARD, compute=_with_constants).figures_hash
    assert replace(CARD, compute=_with_constants).figures_hash == before
    monkeypatch.setattr(sys.modules[__name__], constant, 11)
    assert replace(CARD, compute=_with_constants).figures_hash != before
