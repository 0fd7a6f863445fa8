"""What an entry changed over its parent: every difference of the two declarations, and nothing else."""

from dataclasses import fields

import pytest

from playground.zoo import entries
from playground.zoo.changes import DATA, HERE, OBJECTIVE, PHASES, PUBLISHED, RECIPE, changes, turned
from playground.zoo.surveys import shortened
from tests.runs import every_entry


def parts(name, group):
    return {change.part: (change.before, change.after) for change in changes(entries()[name]) if change.group == group}


def different(one, other):
    return {f.name.replace("_", " ") for f in fields(one) if getattr(one, f.name) != getattr(other, f.name)}


@every_entry
def test_every_part_that_differs_from_the_parent_is_a_line_and_no_other(name):
    entry = entries()[name]
    if not entry.parent:
        assert changes(entry) == ()
        return
    parent = entries()[entry.parent]
    assert set(parts(name, HERE)) == different(parent.model, entry.model)
    assert set(parts(name, RECIPE)) == different(parent.recipe, entry.recipe)
    assert bool(parts(name, PHASES)) == (parent.phases != entry.phases)
    assert bool(parts(name, OBJECTIVE)) == (parent.objective != entry.objective)
    assert ("texts of the authors" in parts(name, DATA)) == (parent.data != entry.data)
    assert bool(parts(name, PUBLISHED)) == bool(parent.published and entry.published)
    assert all(change.before != change.after and change.after for change in changes(entry))


def test_gpt_2_moved_the_norms_and_bert_the_attention():
    assert parts("GPT-2", PUBLISHED)["norm first"] == ("no", "yes")
    assert parts("GPT-2", PUBLISHED)["parameters"] == ("117M", "124M")
    assert parts("BERT", HERE)["attention"] == ("left to right", "bidirectional")
    assert parts("BERT", OBJECTIVE)["name"][0] == "LM"
    assert parts("ALBERT", PUBLISHED)["layer sharing"] == ("none", "all")


def test_sizes_are_compared_where_they_are_most_alike():
    assert parts("ELECTRA", PUBLISHED)["size"] == ("BERT base", "ELECTRA base")
    assert parts("UniLM", PUBLISHED)["size"] == ("BERT large", "UniLM large")


@pytest.mark.parametrize(("name", "knobs"), [("ELECTRA", {"weight": 20.0, "mask_ratio": 0.3}), ("GPT", {})])
def test_what_an_entry_has_turned_is_known(name, knobs):
    assert turned(entries()[name].turned(knobs)) == knobs


@pytest.mark.parametrize(("count", "said"), [(151_584, "152k"), (13.5e6, "13.5M"), (1.558e9, "1.56B"), (175e9, "175B")])
def test_a_number_of_parameters_is_said_shortly(count, said):
    assert shortened(count) == said
