"""Several findings together: differences, curves over steps, means over seeds, by hand; and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from playground.analysis.finding import Bars, Curve, Finding, Matrix, Number, Rows, Table
from playground.analysis.inspection import (
    BATTERY,
    MOST_CURVES,
    arranged,
    battery,
    differences,
    inspect_each,
    inspect_one,
    instruments_of,
    on_one_scale,
    over_seeds,
    over_steps,
)
from playground.analysis.instrument import GROUPS, instrument_named, instruments
from playground.errors import UserError
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import run_of, tiny


def subject_of(name="RoBERTa", seed=0, **shape):
    run = run_of(entry=tiny(name, shape), seed=seed)
    return of_learner(TrainState.new(run.entry, run.corpus.tokenizer.words, seed, run.device), run.corpus)


def finding(value, *bars):
    drawn = Table("bars", {"name": ["a", "b"], "share": list(bars)}, Bars("name", "share"), lines={"chance": 0.5})
    rest = Table("rows", {"word": ["x"]}, Rows())
    return Finding("So.", (Number("right", value, "share", {"chance": 0.5}), Number("n", 3.0, "texts")), (drawn, rest))


def test_a_difference_is_taken_from_the_first_and_both_values_stand_beside_it():
    made = differences({"one": finding(0.5, 1.0, 2.0), "two": finding(0.75, 4.0, 2.0)})
    assert made.numbers[0].value == 0.25 and made.numbers[0].baselines == {"one": 0.5, "two": 0.75}
    [table] = made.tables
    assert table.columns["share"].tolist() == [3.0, 0.0]
    three = differences({"one": finding(0.5, 1, 2), "two": finding(0.75, 4, 2), "three": finding(0.0, 1, 1)})
    assert [(n.name, n.value) for n in three.numbers if "right" in n.name] == [
        ("right, two", 0.25),
        ("right, three", -0.5),
    ]
    assert [table.title.rpartition(", ")[2] for table in three.tables] == ["two", "three"]


def test_numbers_over_steps_are_curves_of_their_units():
    made = over_steps({"step 250": finding(0.5, 1, 2), "step 1,000": finding(0.9, 1, 2)}, [250, 1000])
    assert made.number("right") == 0.9 and made.numbers[0].baselines == {"step 250": 0.5, "chance": 0.5}
    of_share = next(table for table in made.tables if table.unit == "share")
    assert (of_share.columns["step"], of_share.columns["value"]) == ([250, 1000], [0.5, 0.9])
    assert of_share.lines == {"chance": 0.5} and isinstance(of_share.drawing, Curve)
    assert made.headline == "From step 250 to step 1,000: right 0.5 → 0.9; n 3 → 3."


def test_many_numbers_of_one_unit_are_divided_among_pictures_and_none_is_lost():
    many = Finding("So.", tuple(Number(f"n{k}", float(k)) for k in range(2 * MOST_CURVES + 1)))
    tables = over_steps({"step 1": many, "step 2": many}, [1, 2]).tables
    assert [len(table) for table in tables] == [2 * MOST_CURVES, 2 * MOST_CURVES, 2]


def test_means_and_bands_over_seeds_are_those_of_numpy():
    made = over_seeds(
        {str(k): finding(v, *b) for k, (v, b) in enumerate([(0.1, (1, 2)), (0.3, (3, 2)), (0.8, (8, 2))])}
    )
    right = made.numbers[0]
    assert right.value == pytest.approx(0.4) and right.baselines["chance"] == 0.5
    assert right.baselines["standard deviation"] == pytest.approx(np.std([0.1, 0.3, 0.8], ddof=1))
    [table] = made.tables
    low, high = (table.columns[getattr(table.drawing, edge)] for edge in ("low", "high"))
    assert table.columns["share"].tolist() == [4.0, 2.0] and table.lines == {"chance": 0.5}
    np.testing.assert_allclose(high - table.columns["share"], [np.std([1, 3, 8], ddof=1), 0.0])
    np.testing.assert_allclose(table.columns["share"] - low, high - table.columns["share"])


def test_frames_of_a_film_are_drawn_on_one_scale():
    maps = [Table("m", {"r": ["a"], "c": ["x"], "v": [v]}, Matrix("r", "c", "v")) for v in (1.0, -4.0)]
    frames = on_one_scale({str(k): Finding("So.", (), (table,)) for k, table in enumerate(maps)})
    assert [each.tables[0].scale for each in frames.values()] == [(-4.0, 1.0)] * 2


def test_the_steps_are_those_of_the_kept_checkpoints_and_the_last_is_the_model_itself():
    last, early = subject_of(), subject_of(seed=5)
    last = replace(last, step=40, earlier={k: lambda: early.model for k in range(40)})
    named = arranged([last], "steps")
    assert len(named) == 8 and next(iter(named)) == "step 0" and named["step 40"] is last
    made = inspect_one(instrument_named("attention patterns"), named, over="steps")
    assert made.trained["step 40"] == 40 and made.finding is made.found["step 40"]
    heads = instrument_named("attention patterns").look(early).number("heads with a pattern")
    assert made.found["step 0"].number("heads with a pattern") == heads


@pytest.mark.parametrize(
    ("subjects", "over", "sentence"),
    [
        (["RoBERTa"] * 5, "models", "5 models are too many; at most 4"),
        (["RoBERTa"], "steps", "RoBERTa on reviews, seed 0 has only one checkpoint"),
        (["RoBERTa", "GPT"], "steps", "Over steps one model is measured, not 2"),
        (["RoBERTa", "RoBERTa"], "seeds", "at least two runs of different seeds"),
        (["RoBERTa", "GPT"], "seeds", "GPT on reviews, seed 1 differs from RoBERTa on reviews, seed 0 in more"),
    ],
)
def test_what_cannot_stand_together_is_refused(subjects, over, sentence):
    seeds = [k if len(set(subjects)) > 1 else 0 for k in range(len(subjects))]
    with pytest.raises(UserError, match=sentence):
        arranged([subject_of(name, seed) for name, seed in zip(subjects, seeds, strict=True)], over)


def test_instruments_are_named_alone_in_groups_or_all_together():
    assert [each.name for each in instruments_of("agreement, two masks")] == ["agreement", "two masks"]
    assert {each.group for each in instruments_of("probes")} == {"Probes"}
    assert len(instruments_of("all, agreement")) == len(instruments())
    assert {each.group for each in battery()} == set(BATTERY) < set(GROUPS)
    assert not {group.lower() for group in GROUPS} & {
        name for name, each in instruments().items() if name != each.group.lower()
    }
    for wrong in ("", " , ", "agrement"):
        with pytest.raises(UserError):
            instruments_of(wrong)


def test_of_several_instruments_one_says_what_it_lacks_and_of_several_models_which_lacks_it():
    named = arranged([subject_of(), subject_of("word2vec")], "models")
    chosen = [instrument_named("attention"), instrument_named("meters")]
    shares = []
    first, second = inspect_each(chosen, named, {}, report=lambda done, total: shares.append(done / total))
    assert first[1] == ("word2vec on reviews, seed 0: There are no attention heads in a model of the kind static.")
    assert list(second[1].found) == list(named) and shares == sorted(shares) and shares[-1] < 1
    with pytest.raises(UserError, match="no attention heads"):
        list(inspect_each(chosen[:1], named, {}))
