"""A strategy made by hand, the way a comparison is followed, and the pictures of both, without a browser."""

from types import SimpleNamespace

import pytest
import torch

from playground.finetuning import Cell, Lane, find_strategy
from playground.finetuning.tune import Look, Outcome, Tuned
from playground.refusal import Refusal
from widgets.comparing import OWN_FILE, Course, TransferStore
from widgets.drafting import DraftStore
from widgets.pages.transfer import _file
from widgets.views import comparison, courses, diagram
from widgets.views.plasticity import region

# a strategy by hand


def test_parts_that_do_not_go_together_are_a_sentence_and_the_last_strategy_stays():
    draft = DraftStore(parts=["gradual unfreezing", "discriminative rates", "L2-SP"])
    assert draft.made.name == "gradual unfreezing + discriminative rates + L2-SP"
    draft.parts = ["feature-based", "L2-SP"]
    assert "pull to the start acts on the pre-trained weights, which are all frozen" in draft.trouble
    assert draft.made.name.startswith("gradual")
    draft.parts = []
    assert "No part is chosen" in draft.trouble
    draft.parts = ["full"]
    assert (draft.trouble, draft.made.name) == ("", "full")


def test_what_is_painted_is_the_plan_and_can_be_undone_and_redone():
    draft = DraftStore(steps=10)
    draft.paint(0, 1, 1, 4)
    draft.brush = "× 2"
    draft.paint(4, 4, 3, 99)
    assert draft.made.painted == (
        Cell("embeddings", 1, 4, 0.0), Cell("encoder layer 1", 1, 4, 0.0), Cell("task head", 3, 10, 2.0)
    )  # fmt: skip
    assert draft.plan.tolist() == [[0.0] * 4 + [1.0] * 6] * 2 + [[1.0] * 10] * 2 + [[1.0] * 2 + [2.0] * 8]
    assert draft.can == (True, False)
    draft.go_back(-1)
    assert len(draft.made.painted) == 2
    draft.go_back(-1)
    draft.go_back(-1)
    assert (draft.made.painted, draft.can) == ((), (False, True))
    draft.go_back(1)
    draft.clear()
    assert (draft.made.painted, draft.can) == ((), (True, False))


def test_paint_that_is_painted_over_is_gone():
    draft = DraftStore(steps=10)
    draft.paint(0, 0, 3, 4)
    draft.paint(0, 0, 2, 8)
    assert draft.made.painted == (Cell("embeddings", 2, 8, 0.0),)
    draft.paint(7, 9, 1, 2)
    assert len(draft.cells) == 1, "there are five rows"


def test_a_strategy_by_hand_has_a_name_and_stands_among_the_others():
    draft, store = DraftStore(steps=80), TransferStore()
    draft.name_given = "a,b"
    assert "The name 'a,b' cannot be used" in draft.trouble
    draft.name_given = " my  plan "
    draft.paint(0, 0, 1, 9)
    store.keep(draft.made)
    assert store.chosen[-1] == "my plan"
    assert store.strategy("my plan").painted == (Cell("embeddings", 1, 9, 0.0),)
    assert store.strategy("full") is find_strategy("full")


@pytest.mark.parametrize(
    ("geometry", "wanted"),
    [
        ({"x0": 0.2, "x1": 3.4, "y0": 1.1, "y1": 2.9}, (1, 2, 1, 4)),
        ({"x0": 3.4, "x1": 0.2, "y0": 2.9, "y1": 1.1}, (1, 2, 1, 4)),
        ({"x0": 5.0, "x1": 5.0, "y0": 0.0, "y1": 0.0}, (0, 0, 6, 6)),
        ({"x0": 5.5, "x1": 5.5, "y0": 3.5, "y1": 3.5}, (3, 3, 6, 6)),
        ({"x0": 2.0, "x1": 4.0, "y0": 1.0, "y1": 2.0}, (1, 1, 3, 4)),
    ],
)
def test_a_rectangle_is_the_cells_that_it_lies_on(geometry, wanted):
    assert region(geometry) == wanted


# while it runs


def lane(event, seed=0):
    return Lane(find_strategy("full"), seed, event, 64)


def tuned(step, loss, look=None):
    return Tuned(step, loss, torch.zeros(2), look)


def test_a_course_has_a_point_for_each_look_with_the_mean_loss_since_the_last():
    course = Course()
    for seed in (0, 1):
        for step, loss in enumerate((3.0, 1.0, 0.5, 0.5), 1):
            look = Look(0.5 + seed / 10, 0.1 * step, (0.0, float(step))) if step % 2 == 0 else None
            course.hear(lane(tuned(step, loss, look), seed))
    assert course.running
    assert course.values("loss") == {2: [2.0, 2.0], 4: [0.5, 0.5]}
    assert course.values("accuracy") == {2: [0.5, 0.6], 4: [0.5, 0.6]}
    assert course.moved == (0.0, 4.0)
    none = torch.zeros(2, 4)
    for far in (1.0, 2.0):
        course.hear(lane(Outcome(0.9, 0.2, 1, 1, 0.1, ("top", "task head"), none, none, (far, 0.0))))
    assert (course.running, course.step, course.moved) == (False, 4, (1.5, 0.0))


def test_a_line_is_the_mean_of_the_seeds_and_its_band_one_deviation():
    drawn = courses.lines({"empty": {}, "full": {2: [1.0, 3.0], 4: [2.0]}})
    assert (drawn["name"], drawn["xs"], drawn["ys"]) == (["full"], [[2, 4]], [[2.0, 2.0]])
    assert drawn["band"][0] == pytest.approx([2 - 2**0.5, 2.0, 2.0, 2 + 2**0.5])
    assert drawn["around"] == [[2, 4, 4, 2]]
    assert drawn["colour"] == [courses.style(1)[0]]


def test_twelve_strategies_look_different_and_their_names_are_text():
    assert len({courses.style(k) for k in range(12)}) == 12
    said = courses.legend(["<b>", "full"], running=["full"])
    assert "&lt;b&gt;" in said and "<b>" not in said and "full · running" in said


def test_marks_lie_across_what_their_column_says():
    values = {"empty": {}, "full": {2: [1.0, 3.0], 4: [2.0]}}
    drawn, single = courses.marks(values, "labels"), courses.means(values, "step")
    assert (drawn["labels"], drawn["value"]) == ([2, 2, 4], [1.0, 3.0, 2.0])
    assert (single["step"], single["value"], single["name"]) == ([2, 4], [2.0, 2.0], ["full", "full"])
    assert set(single["shape"]) == {courses.shape(1)}


def test_the_share_of_the_weights_that_may_change_is_painted_and_said():
    plan = torch.tensor([[0.0, 1.0], [0.5, 0.5], [1.0, 1.0]])
    groups = ("embeddings", "encoder layer 1", "task head")
    early, late = (diagram.markup(groups, plan, step, (0.0, 1.25, 0.0), (60, 30, 10)) for step in (1, 2))
    assert "40 of 100 weights may change (40.0 %)" in early and f'width="{0.4 * diagram.BOX:.1f}"' in early
    assert "100 of 100 weights may change (100 %)" in late
    assert "0.1 %" in diagram.said_of([0.0, 1.0], (1_000_000, 1)), "a little is not nothing"


def test_whether_the_pre_trained_weights_changed_is_said_of_every_strategy():
    plan, groups = torch.zeros(3, 2), ("embeddings", "encoder layer 1", "task head")

    def lanes(*moved):
        return tuple(Outcome(0.9, 0.0, 1, 1, 0.1, groups, plan, plan, far) for far in moved)

    still, one, all_of_it = (0.0, 0.0, 0.0), (0.0, 1e-9, 0.0), (2.0, 1.0, 0.0)
    outcomes = {"adapters": lanes(still), "<b>": lanes(still), "top": lanes(still, one), "full": lanes(all_of_it)}
    said = comparison.changed(SimpleNamespace(outcomes=outcomes))
    assert "<li>adapters, &lt;b&gt;: not one bit of the pre-trained weights has changed.</li>" in said
    assert "top: of the pre-trained model layer 1 have changed, and not one bit of embeddings." in said
    assert "full: all layers of the pre-trained model have changed." in said


def test_the_model_says_what_is_frozen_now_and_what_has_not_moved_a_bit():
    plan = torch.tensor([[0.0, 1.0], [0.5, 0.5], [1.0, 1.0]])
    groups = ("embeddings", "encoder layer 1", "task head")
    before, after = (diagram.markup(groups, plan, step, (0.0, 1.25, 0.0)) for step in (1, 2))
    assert before.count(">frozen<") == 1 and ">frozen<" not in after
    assert "0, not one bit" in before and "1.25" in before and "new, no start" in before
    assert "embeddings frozen, moved 0.00; encoder layer 1 learns at 0.5, moved 1.25" in before


def test_there_is_no_file_before_there_is_a_result():
    store = TransferStore()
    with pytest.raises(Refusal, match="no finished comparison"):
        store.file("comparison.csv")


# the task and the visitor's own file


def labelled_file(rows=80):
    lines = [f"the film was {('good', 'bad')[k % 2]} number {k},{('yes', 'no')[k % 2]},{k}" for k in range(rows)]
    return "\n".join(["said,liked,row", *lines]).encode()


def test_a_labelled_file_is_a_task_with_its_columns_guessed_and_changed():
    store = TransferStore(task=OWN_FILE)
    with pytest.raises(Refusal, match="No labelled file is chosen yet"):
        _ = store.known
    assert (store.table, store.metric) == (None, "accuracy")
    store.upload("../films.csv", labelled_file())
    assert store.own_file.name == "films.csv"
    assert store.table.columns == ("said", "liked", "row")
    assert store.known.answer.names == ("no", "yes")
    assert store.known.name == "films.csv"
    assert "said" in store.known.notice
    assert store.known is store.known, "a file is read once"
    store.param.update(text_column="said", label_column="row")
    with pytest.raises(Refusal, match="'row' has 80"):
        _ = store.known
    store.label_column = "liked"
    assert store.known.name == "films.csv?text=said&label=liked"
    folder = store.own_file.parent
    store.forget()
    assert not folder.exists()


def test_every_file_says_anew_which_columns_were_guessed():
    store = TransferStore(task=OWN_FILE)
    box = _file(store)
    columns = box[1]
    assert list(columns) == []
    for content, text, label in (
        (labelled_file(), "said", "liked"),
        (b"review,stars\n" + b"a,1\nb,2\n" * 40, "review", "stars"),
    ):
        store.upload("films.csv", content)
        assert [next(iter(select.options)) for select in columns] == [f"{text} (guessed)", f"{label} (guessed)"]
        assert [select.value for select in columns] == ["", ""]
        columns[1].value = text
        assert store.label_column == text
    store.forget()


def test_a_file_that_is_too_large_is_a_sentence(monkeypatch):
    monkeypatch.setattr("widgets.comparing.LARGEST_LABELLED_FILE", 100)
    store = TransferStore(task=OWN_FILE)
    store.upload("films.csv", labelled_file())
    assert "at most 100 are read here" in store.trouble
    assert store.own_file is None


def test_the_main_number_is_named_for_every_task():
    store = TransferStore()
    named = {name: (setattr(store, "task", name), store.metric)[1] for name in ("sentiment", "similarity", "NER", "QA")}
    assert named == {
        "sentiment": "accuracy", "similarity": "Pearson correlation", "NER": "F1 of mentions", "QA": "exact match"
    }  # fmt: skip
