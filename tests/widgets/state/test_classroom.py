"""A class without a browser: who joins, guesses and leaves, how it is scored and written, and what is bounded."""

import csv
import re
from types import SimpleNamespace

import pytest
import torch

from playground.errors import UserError
from playground.training import Run, Stepped, train
from playground.training.system.turns import Turns
from tests.runs import becomes, reviews, tiny
from widgets.pages.classroom import ClassStart, MemberPage, TeacherPage, counts, scores
from widgets.state import classroom
from widgets.state.classroom import Classrooms, MemberStore, TeacherStore

KEY = "open sesame"


@pytest.fixture(scope="module")
def run():
    return Run(tiny(steps=20), reviews(), 0, torch.device("cpu"))


@pytest.fixture
def classes():
    """The classes of a server on which two train at a time."""
    made = Classrooms(KEY, Turns(2, 0.2).of)
    yield made
    for each in list(made._classes.values()):
        each.end()


@pytest.fixture
def waiting(run):
    """A class on a server where somebody else has the only turn, so that nobody trains."""
    turns = Turns(1, 600.0)
    first = turns.of("somebody else")
    assert first.take()
    made = Classrooms(KEY, turns.of)
    yield made.start("a", KEY, run)
    made.find("a").end()


def finished(room):
    assert becomes(lambda: all(member.done for member in room.members))
    return room


def test_everybody_trains_another_seed_of_the_same_run_and_the_best_guess_comes_first(classes, run):
    room = classes.start("ten-A", KEY, run)
    members = [room.join(guess) for guess in (9.0, 3.0, 6.0)]
    assert [member.seed for member in members] == [0, 1, 2]
    assert len({member.name for member in members}) == 3
    finished(room)
    result = sum(member.final for member in members) / 3
    assert room.result == pytest.approx(result) and {len(losses) for losses in room.losses.values()} == {3}
    offs = [abs(guess - result) for guess in (9.0, 3.0, 6.0)]
    assert [off for _, off in room.scores] == pytest.approx(sorted(offs))
    for member in members:
        alone = [e for e in train(Run(run.entry, run.corpus, member.seed, run.device)) if isinstance(e, Stepped)]
        steps = [row.loss for row in member.session.rows if row.loss is not None]
        assert steps == [float(next(iter(event.terms.values()))) for event in alone], "the seed trained alone"


def test_a_tab_that_closes_changes_n_and_nothing_else(waiting):
    members = [waiting.join(guess) for guess in (1.0, 2.0, 3.0)]
    waiting.leave(members[1])
    assert [(member.seed, member.guess) for member in waiting.members] == [(0, 1.0), (2, 3.0)]
    assert counts(waiting)["seeds"] == "2"
    assert waiting.join(4.0).seed == 1, "who comes later gets the seed that is free again"
    assert becomes(lambda: members[1].session.state == "done")
    assert all(member.session.state == "running" for member in waiting.members), "the others go on"


def test_a_seed_that_has_finished_stays_when_its_tab_closes(classes, run):
    room = classes.start("a", KEY, run)
    member = room.join(2.0)
    result = finished(room).result
    room.leave(member)
    assert room.result == result and room.scores[0][0] is member and member.state == "finished, left"
    assert room.join(3.0).seed == 1


def test_the_file_has_a_line_for_everybody(classes, run):
    room = classes.start("a", KEY, run)
    member = room.join(2.5)
    finished(room)
    [line] = csv.DictReader(room.csv().decode().splitlines())
    shown = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", scores(room, shown=True))
    heads, cells = shown[: len(shown) // 2], shown[len(shown) // 2 :]
    assert heads == [*line][: len(heads)], "the page and the file have the same columns"
    name, seed, guess, off, state = (line[head] for head in heads)
    assert [name, seed, guess, f"{float(off):.3f}", state] == cells == [member.name, "0", "2.5", cells[3], "finished"]
    assert float(line["held-out loss at step 20 (nats)"]) == pytest.approx(member.final, abs=1e-6)
    assert float(off) == pytest.approx(abs(2.5 - member.final), abs=1e-5)


def test_no_cell_of_the_file_is_a_formula(waiting):
    for guess in (-0.0, 1.0, 20.0):
        waiting.join(guess)
    cells = [cell for line in csv.reader(waiting.csv().decode().splitlines()) for cell in line]
    assert len(cells) > 15 and not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))]


def test_two_classes_at_once_do_not_mix(classes, run):
    one, other = (classes.start(name, KEY, run) for name in ("one", "other"))
    members = [room.join(guess) for room, guess in ((one, 1.0), (other, 2.0), (other, 3.0))]
    assert [(member.seed, member.guess) for member in one.members] == [(0, 1.0)]
    assert [(member.seed, member.guess) for member in other.members] == [(0, 2.0), (1, 3.0)]
    one.end()
    assert members[0].session.halted and not other.over and not members[1].session.halted


@pytest.mark.parametrize("guess", ["", "much", "nan", "-1", "21", "1e400"])
def test_a_guess_that_is_no_loss_is_refused_and_nobody_has_joined(waiting, guess):
    store = MemberStore(SimpleNamespace(find=lambda _: waiting), "a", guess=guess)
    store.join()
    assert store.member is None and not waiting.members and store.trouble.startswith("The guess ")


def test_a_seed_that_failed_or_was_stopped_says_so(waiting, monkeypatch):
    member = waiting.join(1.0)
    assert member.state == "number 1 in the queue"
    waiting.end()
    assert member.state == "stopped at step 0"
    monkeypatch.setattr(member.session, "_state", "failed")
    monkeypatch.setattr(member.session, "error", "The loss is not finite.")
    assert member.state == "failed: The loss is not finite"


def test_a_guess_is_put_down_once(waiting):
    store = MemberStore(SimpleNamespace(find=lambda _: waiting), "a", guess="2,5")
    store.join()
    store.guess = "3"
    store.join()
    assert [member.guess for member in waiting.members] == [2.5]
    store.close()
    assert not waiting.members


def test_nobody_begins_or_ends_a_class_without_the_key(classes, run):
    with pytest.raises(UserError, match="not the key"):
        classes.start("a", "guessed", run)
    teacher = TeacherStore(classes, "a", key="guessed")
    for act in (teacher.enter, teacher.start, teacher.end):
        act()
        assert "not the key" in teacher.trouble
    assert not teacher.inside and classes.find("a") is None


def test_what_a_server_holds_of_classes_is_bounded(classes, run, monkeypatch):
    for name in ("../a", "", "a b", "x" * 31, "<b>"):
        with pytest.raises(UserError, match="not a valid class name"):
            classes.start(name, KEY, run)
    rooms = [classes.start(f"c{k}", KEY, run) for k in range(classroom.MOST_CLASSES)]
    with pytest.raises(UserError, match="the most it allows"):
        classes.start("more", KEY, run)
    with pytest.raises(UserError, match="already exists"):
        classes.start("C0", KEY, run)
    rooms[3].end()
    assert classes.start("more", KEY, run) and classes.find("c3") is None, "one that has ended makes room"
    monkeypatch.setattr(classroom, "MOST_MEMBERS", 0)
    with pytest.raises(UserError, match="is full"):
        rooms[0].join(1.0)
    monkeypatch.setattr(classroom, "HOURS", 0)
    assert classes.find("c0") is None and not rooms[0].open, "an old class is forgotten"
    with pytest.raises(UserError, match="has ended"):
        rooms[0].join(1.0)


def test_the_pages_say_what_is_there(classes, run):
    member, teacher = MemberStore(classes, "a"), TeacherStore(classes, "a", key=KEY)
    pages = MemberPage(member), TeacherPage(teacher, lambda: "http://here/class/a")
    assert "has not begun yet" in pages[0].question.object.text and not pages[0].form.visible
    assert "http" not in pages[1].where.object.text
    teacher.enter()
    pages[1].poll()
    assert pages[1].begin.visible and "Join at http://here/class/a" in pages[1].where.object.text, "all may come early"
    room = classes.start("a", KEY, run)
    member.guess = "2"
    for page in pages:
        page.poll()
    assert pages[0].form.visible and "What will the held-out loss be at step 20" in pages[0].question.object.text
    assert "nats: The unit of a loss" in pages[0].question.object.text, "a pupil reads what the words mean"
    assert not pages[1].begin.visible
    member.join()
    finished(room)
    pages[0].band.next = 0.0
    pages[0].poll()
    assert f"You are the {member.member.name}, seed 0: finished" in pages[0].said.object.text
    drawn = pages[0].band.chart.sources["means"].data
    own = [value for name, value in zip(drawn["name"], drawn["value"], strict=True) if name == "your seed"]
    assert own == [row.held_out for row in member.member.evaluated] and drawn["name"][-1] == "your guess"
    assert "saved" in scores(room, shown=False) and "<td>2</td>" in scores(room, shown=True)
    teacher.end()
    pages[1].poll()
    assert room.over and pages[1].begin.visible and "The class has ended." in pages[1].where.object.text


def test_who_has_not_guessed_sees_no_curve(classes, run):
    room = classes.start("a", KEY, run)
    room.join(2.0)
    finished(room)
    late = MemberPage(MemberStore(classes, "a", guess="3"))
    late.poll()
    assert late.form.visible and not late.band.layout.visible and late.band.drawn is None
    assert "The class has ended" not in late.said.object.text
    room.end()
    late.poll()
    assert not late.form.visible and late.band.layout.visible and "The class has ended." in late.said.object.text
    again = classes.start("a", KEY, run)
    late.poll()
    assert late.form.visible and not late.band.layout.visible, "nor those of an earlier class"
    late.store.join()
    finished(again)
    late.band.next = 0.0
    late.poll()
    assert not late.form.visible and late.band.layout.visible


def test_one_seed_has_no_standard_deviation(classes, run):
    room = classes.start("a", KEY, run)
    room.join(2.0)
    assert f"{finished(room).result:.3f}" in counts(room).values()
    room.join(2.0)
    assert any(" ± " in value for value in counts(finished(room)).values())


def test_the_key_enter_does_what_the_button_does(classes, run):
    classes.start("a", KEY, run)
    begun = []
    start = ClassStart(lambda *given: begun.append(given))
    pages = MemberPage(MemberStore(classes, "a")), TeacherPage(TeacherStore(classes, "a"), str), start
    for page, label, text in zip(pages, ("my guess", "key", "key"), ("2.5", KEY, KEY), strict=True):
        [field] = page.layout.select(lambda part, label=label: getattr(part, "label", "") == label)
        field.value_input = text
        field.param.trigger("enter_pressed")
    assert pages[0].store.member.guess == 2.5 and pages[1].store.inside and begun == [("", KEY)]
