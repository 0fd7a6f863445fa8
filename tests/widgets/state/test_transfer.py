"""A strategy made by hand, the way a comparison is followed, and the pictures of both, without a browser."""

import json
import shlex
from types import SimpleNamespace

import panel_material_ui as pmui
import pytest
import torch

from playground.cli import main
from playground.errors import UserError
from playground.finetuning import PaintedCell, TrialEvent, find_strategy, find_task, strategies
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.run.measure import MidRunEval, Result
from playground.finetuning.run.tune import StepEvent
from playground.finetuning.strategy.find import knobs_of
from playground.training import Session
from tests.runs import becomes, reviews, run_of, tiny
from widgets.charts import strategies_over_steps
from widgets.charts.plasticity import region
from widgets.pages.transfer.controls import LabelledFile
from widgets.pages.transfer.page import TransferPage
from widgets.state.app import Store
from widgets.state.strategy_editor import StrategyEditorStore
from widgets.state.train import saved_runs
from widgets.state.transfer.store import TransferStore
from widgets.state.transfer.task_choice import OWN_FILE
from widgets.state.transfer.trials import TrialCourse, Trials
from widgets.state.uploads import NO_COLUMN
from widgets.static import comparison, model_diagram
from widgets.static.svg import outcomes

# a strategy by hand


def test_parts_that_do_not_go_together_are_a_sentence_and_the_last_strategy_stays():
    draft = StrategyEditorStore(parts=["gradual unfreezing", "discriminative rates", "L2-SP"])
    assert draft.made.name == "gradual unfreezing + discriminative rates + L2-SP"
    draft.parts = ["feature-based", "L2-SP"]
    assert "pull to the start can only change the pre-trained weights, which are all frozen" in draft.trouble
    assert draft.made.name.startswith("gradual")
    draft.parts = []
    assert "No part is chosen" in draft.trouble
    draft.parts = ["full"]
    assert (draft.trouble, draft.made.name) == ("", "full")


def test_what_is_painted_is_the_plan_and_can_be_undone_and_redone():
    draft = StrategyEditorStore(steps=10)
    draft.paint(0, 1, 1, 4)
    draft.brush = "× 2"
    draft.paint(3, 3, 3, 99)
    assert draft.made.painted == (
        PaintedCell("embeddings", 1, 4, 0.0), PaintedCell("encoder layer 1", 1, 4, 0.0),
        PaintedCell("task head", 3, 10, 2.0)
    )  # fmt: skip
    assert draft.plan.tolist() == [[0.0] * 4 + [1.0] * 6] * 2 + [[1.0] * 10] + [[1.0] * 2 + [2.0] * 8]
    assert draft.history.can == {"undo": True, "redo": False}
    draft.go_back(-1)
    assert len(draft.made.painted) == 2
    draft.go_back(-1)
    draft.go_back(-1)
    assert (draft.made.painted, draft.history.can) == ((), {"undo": False, "redo": True})
    draft.go_back(1)
    draft.clear()
    assert (draft.made.painted, draft.history.can) == ((), {"undo": True, "redo": False})


def test_the_knobs_of_parts_are_turned_and_undone_and_the_strategy_is_the_one_that_is_typed():
    draft, store = StrategyEditorStore(parts=["LoRA"]), TransferStore()
    assert draft.knobs["rank"].default == 4
    draft.turn("rank", 16)
    assert draft.made == find_strategy("LoRA(rank=16)") and draft.values == {"rank": 16}
    store.keep(draft.made)
    assert store.chosen[-1] == "LoRA(rank=16)" and store.strategy("LoRA(rank=16)").adapters[0].rank == 16
    draft.parts = ["LoRA", "L2-SP"]
    assert {"LoRA: rank", "L2-SP: strength"} <= set(draft.knobs) and draft.values == {"LoRA: rank": 16}
    draft.parts = ["gradual unfreezing", "L2-SP"]
    draft.turn("L2-SP: strength", 0.5)
    assert draft.made == find_strategy("gradual unfreezing + L2-SP(strength=0.5)")
    draft.turn("L2-SP: strength", find_strategy("L2-SP").penalties[0].strength)
    assert draft.made == find_strategy("gradual unfreezing + L2-SP") and not draft.edited
    draft.go_back(-1)
    assert draft.values == {"L2-SP: strength": 0.5}
    draft.clear()
    assert draft.made == find_strategy("gradual unfreezing + L2-SP")
    draft.parts = ["LoRA"]
    assert draft.made.name == "LoRA", "all knobs were turned back"


def test_every_knob_of_every_strategy_can_be_turned_by_hand():
    for name, strategy in strategies().items():
        draft = StrategyEditorStore(parts=[name])
        assert list(draft.knobs) == list(knobs_of(strategy))
        for key, k in draft.knobs.items():
            value = next((v for v in (*k.choices, k.low, k.high, not k.default) if v not in (None, k.default)), None)
            if value is None or (isinstance(k.default, str) and not k.choices):
                continue
            draft.turn(key, value)
            assert draft.values == {key: value} and (draft.trouble or key in draft.made.name), (name, key)
            draft.clear()


def test_paint_that_is_painted_over_is_gone():
    draft = StrategyEditorStore(steps=10)
    draft.paint(0, 0, 3, 4)
    draft.paint(0, 0, 2, 8)
    assert draft.made.painted == (PaintedCell("embeddings", 2, 8, 0.0),)
    draft.paint(7, 9, 1, 2)
    assert len(draft.cells) == 1, "there are five rows"


def test_a_strategy_by_hand_has_a_name_and_stands_among_the_others():
    draft, store = StrategyEditorStore(steps=80), TransferStore()
    draft.name_given = "a,b"
    assert "The name 'a,b' cannot be used" in draft.trouble
    draft.name_given = " my  plan "
    draft.paint(0, 0, 1, 9)
    store.keep(draft.made)
    assert store.chosen[-1] == "my plan"
    assert store.strategy("my plan").painted == (PaintedCell("embeddings", 1, 9, 0.0),)
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


def trial(event, seed=0):
    return TrialEvent(find_strategy("full"), seed, event, 64)


def tuned(step, loss, look=None):
    return StepEvent(step, loss, torch.zeros(2), look)


def test_a_course_has_a_point_for_each_look_with_the_mean_loss_since_the_last():
    course = TrialCourse()
    for seed in (0, 1):
        for step, loss in enumerate((3.0, 1.0, 0.5, 0.5), 1):
            look = MidRunEval(20, 0.5 + seed / 10, 0.1 * step, (0.0, float(step))) if step % 2 == 0 else None
            course.add(trial(tuned(step, loss, look), seed))
    assert course.running
    assert course.values("loss") == {2: [2.0, 2.0], 4: [0.5, 0.5]}
    assert course.values("accuracy") == {2: [0.5, 0.6], 4: [0.5, 0.6]}
    assert course.moved == (0.0, 4.0)
    none = torch.zeros(2, 4)
    for far in (1.0, 2.0):
        course.add(trial(Result(0.9, 0.2, 1, 1, 0.1, ("top", "task head"), none, none, (far, 0.0))))
    assert (course.running, course.step, course.moved) == (False, 4, (1.5, 0.0))


def test_a_line_is_the_mean_of_the_seeds_and_its_band_one_deviation():
    drawn = strategies_over_steps.lines({"empty": {}, "full": {2: [1.0, 3.0], 4: [2.0]}})
    assert (drawn["name"], drawn["xs"], drawn["ys"]) == (["full"], [[2, 4]], [[2.0, 2.0]])
    assert drawn["band"][0] == pytest.approx([2 - 2**0.5, 2.0, 2.0, 2 + 2**0.5])
    assert drawn["around"] == [[2, 4, 4, 2]]
    assert drawn["colour"] == [strategies_over_steps.style(1)[0]]


def test_twelve_strategies_look_different_and_their_names_are_text():
    assert len({strategies_over_steps.style(k) for k in range(12)}) == 12
    said = strategies_over_steps.legend(["<b>", "full"], running=["full"])
    assert "&lt;b&gt;" in said and "<b>" not in said and "full · running" in said


def test_marks_lie_across_what_their_column_says():
    values = {"empty": {}, "full": {2: [1.0, 3.0], 4: [2.0]}}
    drawn, single = strategies_over_steps.marks(values, "labels"), strategies_over_steps.means(values, "step")
    assert (drawn["labels"], drawn["value"]) == ([2, 2, 4], [1.0, 3.0, 2.0])
    assert (single["step"], single["value"], single["name"]) == ([2, 4], [2.0, 2.0], ["full", "full"])
    assert set(single["shape"]) == {strategies_over_steps.shape(1)}


def test_the_share_of_the_weights_that_may_change_is_painted_and_said():
    plan = torch.tensor([[0.0, 1.0], [0.5, 0.5], [1.0, 1.0]])
    groups = ("embeddings", "encoder layer 1", "task head")
    early, late = (model_diagram.markup(groups, plan, step, (0.0, 1.25, 0.0), (60, 30, 10)) for step in (1, 2))
    assert "40 of 100 weights may change (40.0 %)" in early and f'width="{0.4 * model_diagram.BOX:.1f}"' in early
    assert "100 of 100 weights may change (100 %)" in late
    assert "0.1 %" in model_diagram.said_of([0.0, 1.0], (1_000_000, 1)), "a little is not nothing"


def test_whether_the_pre_trained_weights_changed_is_said_of_every_strategy():
    plan, groups = torch.zeros(3, 2), ("embeddings", "encoder layer 1", "task head")

    def trials(*moved):
        return tuple(Result(0.9, 0.0, 1, 1, 0.1, groups, plan, plan, far) for far in moved)

    still, one, all_of_it = (0.0, 0.0, 0.0), (0.0, 1e-9, 0.0), (2.0, 1.0, 0.0)
    outcomes = {"adapters": trials(still), "<b>": trials(still), "top": trials(still, one), "full": trials(all_of_it)}
    said = comparison.changed(SimpleNamespace(outcomes=outcomes))
    assert "<li>adapters, &lt;b&gt;: pre-trained weights unchanged (bit-identical).</li>" in said
    assert "top: of the pre-trained model layer 1 have changed; embeddings are bit-identical." in said
    assert "full: all layers of the pre-trained model have changed." in said


def test_the_model_says_what_is_frozen_now_and_what_has_not_moved_a_bit():
    plan = torch.tensor([[0.0, 1.0], [0.5, 0.5], [1.0, 1.0]])
    groups = ("embeddings", "encoder layer 1", "task head")
    before, after = (model_diagram.markup(groups, plan, step, (0.0, 1.25, 0.0)) for step in (1, 2))
    assert before.count(">frozen<") == 1 and ">frozen<" not in after
    assert "0 (bit-identical)" in before and "1.25" in before and "new, no start" in before
    assert "embeddings frozen, moved 0.00; encoder layer 1 learns at 0.5, moved 1.25" in before


def test_there_is_no_file_before_there_is_a_result():
    store = TransferStore()
    with pytest.raises(UserError, match="no finished comparison"):
        store.files(outcomes).file("comparison.csv")


# the task and the visitor's own file


def labelled_file(rows=80):
    lines = [f"the film was {('good', 'bad')[k % 2]} number {k},{('yes', 'no')[k % 2]},{k}" for k in range(rows)]
    return "\n".join(["said,liked,row", *lines]).encode()


def test_a_labelled_file_is_a_task_with_its_columns_guessed_and_changed():
    store = TransferStore(task=OWN_FILE)
    with pytest.raises(UserError, match="No labelled file is chosen yet"):
        _ = store.task_choice.known
    assert store.task_choice.table is None
    store.upload("../films.csv", labelled_file())
    assert store.own_file.name == "films.csv"
    assert store.task_choice.table.columns == ("said", "liked", "row")
    assert store.task_choice.known.answer.names == ("no", "yes")
    assert store.task_choice.known.name == "films.csv"
    assert "said" in store.task_choice.known.notice
    assert store.task_choice.known is store.task_choice.known, "a file is read once"
    store.param.update(text_column="said", label_column="row")
    with pytest.raises(UserError, match="'row' has 80"):
        _ = store.task_choice.known
    store.label_column = "liked"
    assert store.task_choice.known.name == "films.csv?text=said&label=liked"
    folder = store.own_file.parent
    store.uploads.remove()
    assert not folder.exists()


def test_every_file_says_anew_which_columns_were_guessed():
    store = TransferStore(task=OWN_FILE)
    columns = LabelledFile(store).columns
    assert list(columns) == []
    for content, text, second, label in (
        (labelled_file(), "said", "none", "liked"),
        (b"review,stars\n" + b"a,1\nb,2\n" * 40, "review", "none", "stars"),
        (b"premise,hypothesis,label\n" + b"a,c,1\nb,d,2\n" * 40, "premise", "hypothesis", "label"),
    ):
        store.upload("films.csv", content)
        guesses = [f"{guess} (guessed)" for guess in (text, second, label)]
        assert [next(iter(select.options)) for select in columns] == guesses
        assert [select.value for select in columns] == ["", "", ""]
        columns[2].value = text
        assert store.label_column == text
    store.uploads.remove()


def test_a_pair_file_is_read_as_pairs_and_in_another_encoding_once_that_is_named():
    store = TransferStore(task=OWN_FILE)
    panel = LabelledFile(store)
    rows = "".join(f"größe {k},{claim},{label}\n" for k in range(30) for claim, label in (("a", "x"), ("b", "y")))
    store.upload("pairs.csv", f"premise,hypothesis,label\n{rows}".encode("cp1252"))
    with pytest.raises(UserError, match="save it as UTF-8"):
        _ = store.task_choice.known
    assert panel.encoding.visible and list(panel.columns) == []
    store.encoding = "cp1252"
    known = store.task_choice.known
    assert "a pair of texts" in known.idea and "größe" in known.items.train[0].texts[0]
    assert store.task_choice.known.name == "pairs.csv?encoding=cp1252"
    panel.columns[1].value = NO_COLUMN
    with pytest.raises(UserError, match="30 of these with another label"):
        _ = store.task_choice.known
    store.upload("again.csv", labelled_file())
    assert (store.encoding, store.second_column) == ("", "") and not panel.encoding.visible
    store.uploads.remove()


def test_a_file_that_is_too_large_is_a_sentence(monkeypatch):
    monkeypatch.setattr("widgets.state.transfer.store.LARGEST_LABELLED_FILE", 100)
    store = TransferStore(task=OWN_FILE)
    store.upload("films.csv", labelled_file())
    assert "at most 100 are read here" in store.trouble
    assert store.own_file is None


def test_the_main_number_is_named_for_every_task():
    named = {
        name: Trials(ComparisonSpec(), [find_task(name)], "", {}).metric
        for name in ("sentiment", "similarity", "NER", "QA")
    }
    assert named == {
        "sentiment": "accuracy", "similarity": "Pearson correlation", "NER": "F1 of mentions", "QA": "exact match"
    }  # fmt: skip


# what helps where a file does not fit


def odd_file(rows=80):
    """So many rows whose words no generated corpus knows."""
    words = ("zorblax", "quimpel", "vrandish", "okluti", "mefdar", "sylgon", "brantu")
    lines = [f"the {words[k % 7]} {words[k % 5]} {words[k // 7 % 7]} {k % 9},{'ab'[k % 2]}" for k in range(rows)]
    return "\n".join(["said,liked", *lines]).encode()


def known_file(rows=100):
    """So many rows of words that a base on the reviews knows."""
    words = [word for word in reviews().tokenizer.words if word.isalpha()]
    lines = [f"{words[k % 40]} {words[k % 37 + 40]} {('good', 'bad')[k % 2]},{'ab'[k % 2]}" for k in range(rows)]
    return "\n".join(["said,liked", *lines]).encode()


@pytest.fixture
def visit(tmp_path, monkeypatch):
    """A visit with a tiny base on the reviews and two strategies that are quickly done."""
    monkeypatch.setattr("widgets.state.train.choice.entry_named", tiny)
    made = Store(tmp_path / "runs")
    made.train.session = Session(run_of(steps=4)).start()
    made.train.steps = 4
    made.transfer.param.update(task=OWN_FILE, chosen=["random start", "full"], seeds=2, steps=3)
    assert becomes(lambda: made.train.session.state == "done")
    yield made
    made.close()


def ended(visit):
    assert becomes(lambda: visit.transfer.trials.state != "running")
    assert (visit.transfer.trials.state, visit.transfer.trouble) == ("done", "")
    return visit.transfer.trials.result


def test_a_small_file_is_compared_with_as_many_labelled_texts_as_it_has(visit):
    transfer = visit.transfer
    transfer.upload("films.csv", known_file())
    transfer.param.update(train_size=128, other_sizes=[16, 256])
    assert transfer.task_choice.known.examples < 80
    assert transfer.begin(visit.train.session), transfer.trouble
    most = transfer.task_choice.known.examples
    assert transfer.trials.asked.train_sizes == (16, most)
    assert f"films.csv has {most} texts to learn from" in transfer.notice
    assert f"so 16 and {most} labelled texts are used, not 128 or 256." in transfer.notice
    assert ended(visit).labels == most
    transfer.param.update(train_size=16, other_sizes=[])
    assert transfer.begin(visit.train.session)
    assert transfer.notice == "", "what fits needs no word"
    ended(visit)


def test_every_picture_says_on_how_many_texts_it_was_tested(visit):
    page, transfer = TransferPage(visit), visit.transfer
    results = page.views[0]
    transfer.upload("films.csv", known_file())
    transfer.train_size = 16
    assert transfer.begin(visit.train.session), transfer.trouble
    result = ended(visit)
    page.poll()
    titles = [chart.figure.title.text for chart in (results.right(), results.moving.charts()["accuracy"])]
    tested = f"on {transfer.task_choice.known.tests} unseen texts"
    assert titles == [f"In the end, {tested}", f"While it trains, {tested}"]
    assert result.texts == transfer.task_choice.known.tests < 128


def test_a_question_keeps_the_file_of_ones_own(visit):
    page = TransferPage(visit).layout
    visit.transfer.upload("films.csv", known_file())
    question = next(button for button in page.select(pmui.Button) if button.label == "Is pre-training worth it?")
    question.clicks += 1
    assert (visit.transfer.task, visit.transfer.trials.asked.task) == (OWN_FILE, "films.csv")
    assert visit.transfer.trials.asked.train_sizes == tuple(
        n for n in (16, 32, 64, 128) if n <= visit.transfer.task_choice.known.examples
    )
    visit.transfer.end()
    visit.transfer.task = "topic"
    question.clicks += 1
    assert visit.transfer.task == "sentiment"
    visit.transfer.end()


def test_where_the_base_knows_too_few_words_a_base_on_the_file_is_offered_and_then_it_works(visit):
    made = TransferPage(visit)
    page, tick = made.layout, made.poll
    visit.transfer.upload("odd.csv", odd_file())
    assert visit.transfer.begin(visit.train.session) is False
    assert "train it on this file, or on text like it" in visit.transfer.trouble
    tick()
    offer = next(button for button in page.select(pmui.Button) if button.label == "Train a base on this file")
    assert offer.visible
    offer.clicks += 1
    session = visit.train.session
    assert (visit.train.trouble, session.run.corpus.name) == ("", "odd.csv")
    tick()
    assert (offer.visible, visit.transfer.trouble) == (False, "")
    assert visit.transfer.trials.state == "ready" and (made.training.visible or session.state == "done")
    assert becomes(lambda: session.state == "done")
    tick()
    assert (made.training.visible, made.awaited.object) == (False, "")
    assert visit.transfer.trials.base_name.endswith("steps on odd.csv"), "what was asked is answered by itself"
    ended(visit)


def test_a_question_waits_for_its_base_with_a_bar_and_ends_where_that_is_stopped(visit):
    made = TransferPage(visit)
    visit.transfer.upload("odd.csv", odd_file())
    visit.train.steps = 5_000
    visit.transfer.base = "ready:another"
    assert visit.transfer.begin(visit.train.session) is False
    visit.train_base()
    session = visit.train.session
    assert visit.transfer.base == "", "the base that is trained is the one that is compared"
    assert becomes(lambda: len(session.rows) > 3)
    made.poll()
    assert made.training.visible and "The base on odd.csv is training: step " in made.awaited.object
    assert made.compare.disabled and made.questions[0].disabled
    visit.train.end()
    made.poll()
    assert not made.training.visible and visit.transfer.trials.state == "ready"
    assert not made.compare.disabled


def test_a_run_that_trains_goes_on_where_it_cannot_be_compared(visit):
    visit.transfer.upload("odd.csv", odd_file())
    session = Session(run_of(steps=100_000)).start()
    assert becomes(lambda: len(session.rows) > 3)
    assert visit.transfer.begin(session) is False
    assert session.state == "running"
    session.stop()


def test_for_a_task_of_ours_a_base_on_its_corpus_is_offered(visit):
    visit.transfer.param.update(task="topic", unknown_words=True)
    assert visit.transfer.task_choice.text_for_base in find_task("topic").corpora
    visit.transfer.task = OWN_FILE
    assert visit.transfer.task_choice.text_for_base == "", "no file is chosen yet"


# whose model is fine-tuned


@pytest.mark.slow
def test_a_kept_run_is_chosen_as_the_base_while_another_one_trains_on(visit, monkeypatch):
    monkeypatch.setattr("playground.training.own_text.open_saved", lambda name, tokenizer: reviews())
    made = TransferPage(visit)
    page, tick = made.layout, made.poll
    picker = next(select for select in page.select(pmui.Select) if select.label == "trained model")
    visit.train.param.update(corpus="reviews", device="cpu", steps=4)
    monkeypatch.setattr("widgets.state.train.store.load_corpus", lambda _: reviews())
    first = visit.train.begin().start()
    assert becomes(lambda: first.state == "done")
    name = visit.train.name_of_run
    saved_runs.rename(visit.train, name, "the short one")
    visit.train.steps = 5_000
    going = visit.train.begin().start()
    visit.page = 2
    assert list(picker.options)[:2] == ["the run on the Train page", "the short one, step 4"]
    picker.value = picker.options["the short one, step 4"]
    visit.transfer.param.update(task="sentiment", train_size=8)
    assert visit.transfer.begin(visit.base), visit.transfer.trouble
    assert visit.transfer.trials.base_name == "RoBERTa after 4 steps on reviews"
    assert visit.train.session is going and going.state == "running", "the run on the Train page goes on"
    ended(visit)
    assert visit.base is visit.base, "a kept run is read once"
    tick()
    visit.train_one()
    assert (visit.transfer.base, visit.base) == ("", visit.train.session)


@pytest.mark.parametrize("own_file", [False, True])
def test_the_command_on_the_page_names_the_kept_run_and_makes_the_same_numbers(
    visit, own_file, monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    visit.train.param.update(corpus="reviews", device="cpu", steps=4)
    monkeypatch.setattr("widgets.state.train.store.load_corpus", lambda _: reviews())
    monkeypatch.setattr("widgets.state.base.opened_again", lambda *_: reviews())
    monkeypatch.setattr("playground.finetuning.run.base.corpus_of", lambda _: reviews())
    session = visit.train.begin().start()
    assert becomes(lambda: session.state == "done")
    if own_file:
        visit.transfer.upload("films.csv", known_file())
        (tmp_path / "films.csv").write_bytes(known_file())
    visit.transfer.param.update(task=OWN_FILE if own_file else "sentiment", train_size=8)
    assert visit.transfer.begin(session), visit.transfer.trouble
    facts = ended(visit).facts()
    trials, name = visit.transfer.trials, visit.train.name_of_run
    command = trials.typed.command()
    assert (
        command.startswith(f"playground compare {name} ") and f"{name} is saved in {tmp_path / 'runs'}" in trials.where
    )
    assert ("in the folder with your file films.csv" in trials.where) == own_file
    assert command in visit.transfer.files(outcomes).file("comparison.html").decode().replace("&#x27;", "'")
    assert main([*shlex.split(command)[1:], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    for then, now in zip(facts["strategies"], again["strategies"], strict=True):
        assert all(then[what]["values"] == now[what]["values"] for what in ("accuracy", "forgetting"))


def test_a_base_that_is_not_kept_is_the_folder_of_the_archive(visit):
    visit.transfer.param.update(task="sentiment", train_size=8)
    assert visit.transfer.begin(visit.train.session), visit.transfer.trouble
    ended(visit)
    trials = visit.transfer.trials
    assert trials.typed.command().startswith("playground compare base ") and "Unpack 'All, with" in trials.where


def test_an_entry_of_the_zoo_is_chosen_and_trained_first(visit, monkeypatch):
    made = TransferPage(visit)
    page, tick = made.layout, made.poll
    picker = next(select for select in page.select(pmui.Select) if select.label == "trained model")
    picker.value = picker.options["GPT, to be trained"]
    tick()
    assert visit.base is None, "the run on the Train page is another model's"
    assert visit.transfer.begin(visit.base) is False
    assert "Train one here" in visit.transfer.trouble
    visit.train.param.update(steps=2, device="cpu")
    monkeypatch.setattr("widgets.state.train.store.load_corpus", lambda _: reviews())
    next(button for button in page.select(pmui.Button) if button.label == "Train one here").clicks += 1
    assert becomes(lambda: visit.train.session.state == "done")
    assert visit.base is visit.train.session and visit.base.run.entry.name == "GPT"


def test_a_kept_run_that_cannot_be_read_is_a_sentence(visit):
    visit.transfer.base = "kept:nowhere"
    assert visit.base is None
    assert "no run 'nowhere'" in visit.transfer.trouble
