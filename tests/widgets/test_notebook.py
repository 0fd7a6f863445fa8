"""What the notebook functions return are widgets: they can be put into boxes, observed, set and kept."""

import json

import ipywidgets
import pytest

from playground.errors import UserError
from playground.objectives import find_objective, objectives
from tests.runs import reviews
from widgets import notebook
from widgets.animation.export_html import fragment

ORDER, OTHER = {"order": [3, 5, 6, 8, 2, 1, 4, 7], "cut": 3}, {"order": [8, 7, 6, 5, 4, 3, 2, 1], "cut": 2}


def pictures():
    """A stage with a person before it, one without, and one of an objective that has no name."""
    for headless in "01":
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PLAYGROUND_HEADLESS", headless)
            yield notebook.stage("PLM", plan=ORDER)
    yield notebook.stage(find_objective("PLM"), plan=ORDER)


def test_the_plan_can_be_observed_and_set_and_what_does_not_fit_changes_nothing():
    for picture in pictures():
        seen = []
        picture.observe(lambda change, seen=seen: seen.append(change["new"]), "value")
        before = picture.record["frames"][-1]["matrices"]
        assert picture.value == picture.facts["plan"] == ORDER
        picture.value = OTHER
        assert seen[-1] == picture.facts["plan"] == OTHER
        assert picture.record["frames"][-1]["matrices"] != before
        with pytest.raises(UserError, match="is not an order of 8 words"):
            picture.value = {"order": [1, 2]}
        assert picture.value == picture.facts["plan"] == OTHER


def test_an_edit_by_hand_is_seen_from_python(monkeypatch):
    monkeypatch.setenv("PLAYGROUND_HEADLESS", "0")
    picture = notebook.stage("PLM", plan=ORDER)
    assert picture.record["frames"]
    picture.edit = {"from": "a page", "edits": [{"do": "order", "to": OTHER["order"], "number": 1}]}
    assert picture.value["order"] == picture.facts["plan"]["order"] == OTHER["order"]


def test_a_frame_beyond_the_last_is_the_last_as_in_the_browser():
    picture = notebook.stage("MLM")
    picture.frame = 99
    assert picture.frame == len(picture.record["frames"]) - 1
    picture.frame = -1
    assert picture.frame == 0


def test_nothing_is_sent_to_the_browser_before_it_is_shown():
    picture, rows = notebook.stage("MLM"), notebook.table()
    assert picture.facts and rows.facts and picture.comm is None
    ipywidgets.HBox([picture, rows])
    assert picture.comm is not None and rows.comm is not None
    state = picture.get_state()
    assert {"record", "frame", "_esm", "kind"} <= state.keys()
    assert json.dumps(state["record"]), "a front end that saves widgets can save it"


def test_a_run_that_is_over_has_its_losses_and_a_failed_one_says_why(monkeypatch):
    trained = notebook.train("GPT", reviews(), steps=3, batch_size=4, seq_len=16)
    assert (trained.run.state, trained.run.step) == ("done", 3)
    assert [step for step, _ in trained.run.losses] == [1, 2, 3] and trained.run.held_out
    assert trained.status["said"].startswith("Done: step 3 of 3, training loss")
    assert trained.resume().run.state == trained.pause().run.state == "done"
    monkeypatch.setattr("playground.training.loop.RunState.step", lambda _: 1 / 0)
    with pytest.raises(UserError, match="division by zero"):
        notebook.train("GPT", reviews(), steps=3, batch_size=4, seq_len=16)


def test_what_a_trained_model_does_not_read_of_a_text_is_said_in_a_warning(recwarn):
    trained = notebook.train("GPT", reviews(), steps=1, batch_size=4, seq_len=16)
    assert len(trained.states("the film was great .")) == 5 and len(trained.fill("the film was [MASK] .", 2)) == 2
    assert not recwarn
    with pytest.warns(UserWarning, match="Not in the vocabulary, so read as .UNK.: zyzzyva") as said:
        trained.fill("the zyzzyva was [MASK] .")
    assert said[0].filename == __file__, "it points at the cell"
    with pytest.warns(UserWarning, match="The text has 75 tokens; only the first 64 are used") as said:
        assert len(trained.states("the film was great . " * 15)) == 64
    assert said[0].filename == __file__, "it points at the cell"


def test_a_trained_model_writes_in_a_cell():
    trained = notebook.train("GPT", reviews(), steps=3, batch_size=4, seq_len=16)
    greedy, drawn = (
        trained.write("the film"),
        trained.write("the film", do_sample=True, num_return_sequences=3, top_k=5),
    )
    assert (len(greedy.texts), len(drawn.texts), len(drawn.log_probs)) == (1, 3, 3)
    assert repr(greedy).startswith(f"the film | {greedy.texts[0]}  (log-probability") and "\n" not in repr(greedy)
    assert "<details>" in drawn._repr_html_() and "the film" in drawn._repr_html_()
    with pytest.warns(UserWarning, match="zyzzyva") as said:
        trained.write("the zyzzyva")
    assert said[0].filename == __file__, "it points at the cell"
    with pytest.raises(UserError, match="top_k is 5, but only sampling draws"):
        trained.write("the film", top_k=5)
    with pytest.raises(UserError, match="There is no knob 'warmth'"):
        trained.write("the film", warmth=1)


SMALL = {"train_size": 8, "seeds": 1, "steps": 1}


@pytest.mark.parametrize(
    "call",
    [
        lambda _, file: notebook.train("GPT", file, steps=1, batch_size=4, seq_len=8),
        lambda base, file: notebook.compare(base, file, ("full",), **SMALL),
        lambda base, file: notebook.compress(base, "int8", task=file, **SMALL),
    ],
    ids=["train", "compare", "compress"],
)
def test_what_is_guessed_of_a_table_is_printed_and_what_is_left_out_of_it_a_warning(call, tmp_path, capsys):
    rows = "".join(f"{k},it was a {w} film {k},{w}\n" for k in range(40) for w in ("good", "bad"))
    (tmp_path / "films.csv").write_text(f"id,text,label\n{rows}")
    base = notebook.train("BERT", reviews(), steps=1, batch_size=4, seq_len=16)
    with pytest.warns(UserWarning, match=r"^1 column is left out: 'id'\.$") as said:
        call(base, str(tmp_path / "films.csv"))
    assert [each.filename for each in said] == [__file__], "it points at the cell, and there is no other"
    guessed = "Guessed: the text is in the column 'text', the label is in the column 'label'."
    assert capsys.readouterr().out.startswith(guessed)


def test_a_drawing_in_reserve_names_the_widget_that_it_stands_in_for():
    assert '"abc"]' in fragment("stage", "", {}, reserve="abc") and '"abc"' not in fragment("stage", "", {})
    picture = notebook.stage("MLM")
    picture.reserve = "abc"
    assert '"abc"]' in picture.baked(module=False)


LABELLED = {"CVT", "conditional LM", "entity replacement", "label-aware MLM", "supersense prediction"}
"""What needs labels that no typed text has."""


@pytest.mark.parametrize("name", sorted(objectives().keys() - LABELLED))
def test_an_objective_opens_by_its_name_alone(name):
    assert notebook.stage(name).facts["objective"] == name


@pytest.mark.parametrize("name", sorted(LABELLED))
def test_an_objective_that_needs_labels_says_what_knows_them(name):
    with pytest.raises(UserError, match="Train it on a corpus that knows it"):
        notebook.stage(name)
