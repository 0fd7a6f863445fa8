"""Edits by hand as plans: every gesture bends the plan and nothing else, and the engine takes what comes out."""

import pytest

from playground.errors import UserError
from playground.objectives.plan_overrides import parse, write
from playground.trace.plan_edits import bend, carriers
from widgets.state.stage.store import StageStore

MLM = "chosen=3,8 actions=mask,random replace=dog"

CASES = [
    (MLM, {"do": "choose", "word": 5}, "chosen=3,5,8 actions=mask,mask,random"),
    (MLM, {"do": "choose", "word": 8}, "chosen=3 actions=mask"),
    ("chosen=3 actions=mask", {"do": "choose", "word": 3}, "chosen= actions="),
    (MLM, {"do": "act", "word": 3}, "chosen=3,8 actions=random,random"),
    (MLM, {"do": "act", "word": 8}, "chosen=3,8 actions=mask,keep"),
    ("chosen=3 actions=keep", {"do": "act", "word": 3}, "chosen=3 actions=mask"),
    (MLM, {"do": "act", "word": 1, "to": "keep"}, "chosen=1,3,8 actions=keep,mask,random"),
    ("spans=2:3", {"do": "span", "from": 6, "to": 5}, "spans=2:3,5:2"),
    ("spans=2:3", {"do": "span", "from": 4, "to": 6}, "spans=4:3"),
    ("spans=2:3,6:1", {"do": "span", "from": 2, "to": 5, "old": "2:3"}, "spans=2:4,6:1"),
    ("spans=2:3,6:0", {"do": "unspan", "old": "2:3"}, "spans=6:0"),
    ("spans=2:2 actions=keep,mask", {"do": "span", "from": 3, "to": 4, "old": "2:2"}, "spans=3:2 actions=mask,mask"),
    ("order=2,1,3 cut=1", {"do": "order", "to": [3, 2, 1]}, "order=3,2,1 cut=1"),
    ("order=2,1,3 cut=1", {"do": "cut", "to": 2}, "order=2,1,3 cut=2"),
    ("split=4", {"do": "split", "to": 2}, "split=2"),
    ("pair=next", {"do": "pair", "to": "random"}, "pair=random"),
]


@pytest.mark.parametrize(("plan", "edit", "after"), CASES)
def test_a_gesture_bends_the_plan(plan, edit, after):
    before = parse(plan.split())
    assert write(bend(before, edit, {}).plan) == after
    assert write(before) == write(parse(plan.split())), "the old plan is left alone"


def test_typed_words_stay_where_they_are_and_go_with_their_position():
    plan = parse(MLM.split())
    assert carriers(plan, everyone=False) == [8]
    assert bend(plan, {"do": "choose", "word": 5}, {8: "dog"}).typed == {8: "dog"}
    assert bend(plan, {"do": "choose", "word": 8}, {8: "dog"}).typed == {}
    assert bend(plan, {"do": "replace", "word": 3, "with": "cat"}, {8: "dog"}).typed == {3: "cat", 8: "dog"}


@pytest.mark.parametrize(
    ("plan", "edit", "named"),
    [
        (MLM, {"do": "fly"}, "'fly'"),
        (MLM, {}, "None"),
        (MLM, {"do": "choose", "word": "3"}, "'3'"),
        (MLM, {"do": "choose", "word": 2.5}, "2.5"),
        (MLM, {"do": "replace", "word": 3, "with": "two words"}, "two words"),
        (MLM, {"do": "act", "word": 3, "to": None, "with": ""}, None),
        ("split=3", {"do": "choose", "word": 3}, "'chosen'"),
        ("order=1,2", {"do": "order", "to": "x"}, "order"),
        ("cut=1", {"do": "cut", "to": []}, "cut"),
    ],
)
def test_a_message_that_makes_no_sense_is_refused_in_a_sentence(plan, edit, named):
    if named is None:
        assert bend(parse(plan.split()), edit, {}).plan["actions"][0] == "random"
        return
    with pytest.raises(UserError, match=named) as refusal:
        bend(parse(plan.split()), edit, {})
    assert str(refusal.value).endswith(".")


JOURNEYS = [
    ("MLM", [{"do": "choose", "word": 5}, {"do": "act", "word": 5}], {5: "random"}),
    ("span mask", [{"do": "span", "from": 2, "to": 3}], {2: "mask", 3: "mask"}),
    ("TLM", [{"do": "choose", "word": 1}], {1: "mask"}),
]


@pytest.mark.parametrize(("objective", "edits", "overrides"), JOURNEYS)
def test_the_engine_takes_the_bent_plan(objective, edits, overrides):
    store = StageStore(objective=objective)
    for edit in edits:
        store.edit(edit)
        assert store.trouble == ""
    plan = store.record()["plan"]
    words = plan.get("chosen") or [
        w for s, n in parse([f"spans={','.join(plan['spans'])}"])["spans"] for w in range(s, s + n)
    ]
    acts = dict(zip(words, plan["actions"], strict=True))
    assert {word: acts[word] for word in overrides} == overrides


def test_a_typed_word_stands_in_the_text_and_outlives_other_edits():
    store = StageStore()
    for edit in ({"do": "replace", "word": 3, "with": "purple"}, {"do": "act", "word": 8, "to": "random"}):
        store.edit(edit)
        assert store.trouble == ""
    assert store.rebuilt.facts()["inputs"][2] == "purple"
    assert store.rebuilt.facts()["actions"][7] == "randomised"


def test_a_generators_word_is_typed_and_a_lucky_one_is_known():
    store = StageStore(objective="RTD")
    store.edit({"do": "replace", "word": 5, "with": "join", "acts": False})
    assert store.trouble == ""
    assert store.rebuilt.facts()["actions"][4] == "same_by_luck"
    assert store.rebuilt.survey()["inputs"] == "I am thrilled to join with you today"
