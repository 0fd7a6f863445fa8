"""The pages of a class: a member guesses and trains one seed, the teacher starts it and shows the band of all seeds."""

import time
from collections.abc import Callable
from html import escape

import panel_material_ui as pmui

from playground.training.parallel.seeds import spread
from widgets.charts.class_band import class_chart
from widgets.charts.columns import loss_label
from widgets.charts.strategies_over_steps import legend
from widgets.pages.layout import MAIN, STRETCH, View, button, column, download, plot, row, typed
from widgets.pages.menus import model_choice
from widgets.state.classroom import Classroom, Member, MemberStore, TeacherStore
from widgets.static.comparison import wide_table
from widgets.theme import changing, figures, html, say, tell

DRAWN_EVERY = 1.0  # seconds between two pictures of a band: there is one on every screen of the class

WAITING = "The class {} has not begun yet. This page shows the question as soon as it does."

PRIVATE = "You have a random name here; nothing about you is asked or stored."


class BandPicture(View):
    """The band over all seeds, one's own curve, and the guesses where they are shown; drawn where something is new."""

    def __init__(self, height: int) -> None:
        self.chart, self.key, self.drawn, self.next = class_chart(height), html(""), None, 0.0
        super().__init__(column(self.key, plot(self.chart, margin=(0, 10)), visible=False))

    def draw(
        self, classroom: Classroom | None, member: Member | None = None, guesses: list[float] | None = None
    ) -> None:
        """Show a class."""
        if classroom is None or time.monotonic() < self.next:
            return
        curves = {"mean of all seeds": classroom.losses}
        curves |= {"your seed": {row.step: [row.held_out] for row in member.evaluated}} if member else {}
        curves |= {"guesses": {classroom.steps: guesses}} if guesses else {}
        if curves != self.drawn:
            self.drawn, self.next = curves, time.monotonic() + DRAWN_EVERY
            self.chart.figure.yaxis.axis_label = loss_label([classroom.unit])
            self.chart.figure.x_range.end = 1.02 * classroom.steps
            self.chart.show(curves)
            self.key.object = legend(list(curves))
        self.layout.visible = True  # only now, for what changes between sending and drawing is lost


class MemberPage(View):
    """What somebody sees who joins: the question, the guess, the place in the line, and the curves."""

    def __init__(self, store: MemberStore) -> None:
        self.store = store
        self.question, self.said, self.trouble = changing(""), changing(""), html("")
        self.band = BandPicture(340)
        guess = typed(store.param.guess, width=190, sizing_mode=None, size="small", margin=(6, 10), max_length=12)
        self.press = button("Save my guess and train", store.join, "how_to_reg", margin=(6, 4), **MAIN)
        self.form = row(guess, self.press, visible=False)
        store.param.watch(lambda event: setattr(self.trouble, "object", say(event.new, "trouble")), "trouble")
        parts = (self.question, self.form, self.trouble, self.said, self.band, html(say(PRIVATE, "quiet")))
        super().__init__(column(*parts, styles={"padding-top": "14px"}))
        self.poll()

    def poll(self) -> None:
        """Show what has changed."""
        classroom, member = self.store.classroom, self.store.member
        self.form.visible = classroom is not None and not classroom.over and member is None
        tell(self.question, say(classroom.question if classroom else WAITING.format(self.store.title)))
        tell(self.said, f'<div role="status">{"".join(say(text) for text in _describe(classroom, member))}</div>')
        self.band.draw(classroom, member, [member.guess] if member else None)


def _describe(classroom: Classroom | None, member: Member | None) -> list[str]:
    """Who one is, what the own seed does, and how good the guess was."""
    if classroom is None:
        return []
    seeds, unit = len(classroom.members), classroom.unit
    many = f"{seeds} of you {'have' if seeds > 1 else 'has'} joined." if seeds else "Nobody has joined yet."
    if member is None:
        return [f"{many} Your guess comes before your first step, and cannot be changed after it."]
    lines = [f"You are the {member.name}, seed {member.seed}: {member.state}. Your guess is {member.guess:g} {unit}."]
    if member.final is not None and classroom.result is not None:
        off = abs(member.guess - classroom.result)
        lines.append(
            f"Your seed ended at {member.final:.3f} {unit}, all that have finished at {classroom.result:.3f} on "
            f"average: your guess is off by {off:.3f}."
        )
    return [*lines, f"{many}{' The class has ended.' * classroom.over}"]


class TeacherPage(View):
    """What a teacher sees: the key, what a class begins with, then the band, the guesses and the file."""

    def __init__(self, store: TeacherStore, address: Callable[[], str]) -> None:
        self.store, self.address = store, address
        chosen = store.param
        key = pmui.PasswordInput.from_param(chosen.key, width=220, size="small", margin=(6, 10))
        about = "The key is printed where the server was started; it makes you the teacher."
        self.door = column(html(say(about)), row(key, button("Enter", store.enter, "login", margin=(6, 4), **MAIN)))
        model = model_choice(chosen.entry, width=220, size="small", margin=(6, 10))
        steps = pmui.Select.from_param(chosen.steps, width=120, size="small", margin=(6, 10))
        start = button("Start the class", store.start, "play_arrow", margin=(6, 4), **MAIN)
        other = "Or begin one with the settings of the Train page, in its tab “Class”."
        self.begin = column(row(model, steps, start), html(say(other, "quiet")), visible=False)
        self.trouble = html("")
        store.param.watch(lambda event: setattr(self.trouble, "object", say(event.new, "trouble")), "trouble")
        self.running = RunningClass(store, address)
        super().__init__(column(self.door, self.begin, self.trouble, self.running, styles={"padding-top": "14px"}))
        self.poll()

    def poll(self) -> None:
        """Show what has changed."""
        inside, classroom = self.store.inside, self.store.classroom
        self.door.visible = not inside
        self.begin.visible = inside and (classroom is None or classroom.over)
        if inside:
            self.running.poll()
        self.running.layout.visible = inside and classroom is not None  # only now, as with a band


class RunningClass(View):
    """The class as it goes on: where to join, how many train, the band, the scored guesses."""

    def __init__(self, store: TeacherStore, address: Callable[[], str]) -> None:
        self.store, self.address = store, address
        self.where, self.counts, self.table = changing(""), changing(""), changing("")
        self.band = BandPicture(400)
        self.show = button("Show the guesses", self._turn, "visibility", margin=(6, 4, 6, 10))
        file = download(self._csv, f"class-{store.title}.csv", "CSV", variant="outlined", margin=(6, 4))
        self.end = button("End the class", self._ask, "stop", margin=(6, 4))
        sure = button("End it for all", self._end, "stop", color="error", margin=(6, 4))
        self.asked = row(html(say("Training stops.", "notice"), width=220, sizing_mode=None), sure, visible=False)
        picture = column(self.band, row(self.show, file, self.end, self.asked), styles={"flex": "3 1 460px"})
        names = column(self.table, styles={"flex": "1 1 400px", "min-width": "0"})
        beside = row(picture, names, align="flex-start", **STRETCH)
        super().__init__(column(self.where, self.counts, beside, visible=False))

    def _csv(self) -> bytes:
        classroom = self.store.classroom
        return classroom.csv() if classroom is not None else b""

    def _turn(self) -> None:
        self.store.shown = not self.store.shown
        self.show.label = "Hide the guesses" if self.store.shown else "Show the guesses"
        self.band.next = 0.0

    def _ask(self) -> None:
        self.asked.visible = not self.asked.visible

    def _end(self) -> None:
        self.store.end()
        self.asked.visible = False

    def poll(self) -> None:
        classroom = self.store.classroom
        if classroom is None:
            return
        joined = "It has ended." if classroom.over else f"Join at {self.address()}"
        tell(self.where, f'<p style="font-size: 1.35em">{escape(joined)}</p>{say(classroom.question)}')
        tell(self.counts, figures(counts(classroom)))
        self.end.disabled = classroom.over
        guesses = [member.guess for member in classroom.members] if self.store.shown else None
        self.band.draw(classroom, None, guesses)
        tell(self.table, scores(classroom, self.store.shown))


def counts(classroom: Classroom) -> dict[str, str]:
    """The numbers of a class."""
    members = classroom.members
    done = sum(member.done for member in members)
    waiting = sum(bool(member.session.in_line.position) for member in members)
    step, losses = next(reversed(classroom.losses.items()), (0, []))
    loss = "{mean:.3f} ± {sd:.3f}".format(**spread(losses)) if losses else "–"
    at = f"{classroom.unit} held out" + (f" at step {step:,}, n = {len(losses)}" if losses else "")
    return {"seeds": str(len(members)), "in the queue": str(waiting), "finished": str(done), at: loss}


def scores(classroom: Classroom, shown: bool) -> str:
    """The members as a table, the best guess first where the guesses are shown, else by seed."""
    listed = classroom.scores if shown else sorted(classroom.scores, key=lambda each: each[0].seed)
    if not listed:
        return ""
    heads = ("name", "seed", f"guess ({classroom.unit})", f"off by ({classroom.unit})", "run")
    return wide_table("guesses", heads, (_line(*each, shown) for each in listed))


def _line(member: Member, off: float | None, shown: bool) -> list[str]:
    guess, distance = (f"{member.guess:g}", "–" if off is None else f"{off:.3f}") if shown else ("put down", "")
    cells = (member.name, str(member.seed), guess, distance, member.state)
    return [f"<td>{escape(cell)}</td>" for cell in cells]


class ClassStart(View):
    """On the Train page: a class from all that is chosen there."""

    def __init__(self, begin: Callable[[str, str], Classroom | None]) -> None:
        self._begin, self.said = begin, html("")
        look = {"size": "small", "margin": (6, 10)}
        self.title = pmui.TextInput(label="name of the class", max_length=30, width=190, **look)
        self.key = pmui.PasswordInput(label="key", width=190, **look)
        press = button("Start a class", self._start, "groups", margin=(6, 4))
        about = (
            "Everybody who opens the address of the class trains what is chosen here, each with another seed, after "
            "guessing the final loss. The key is printed where the server was started."
        )
        super().__init__(column(html(say(about, "quiet")), row(self.title, self.key, press), self.said))

    def _start(self) -> None:
        made = self._begin(self.title.value_input or self.title.value, self.key.value_input or self.key.value)
        if made is not None:
            name = escape(made.name)
            link = f'<a href="class/{name}?teacher" target="_blank">your page</a>'
            self.said.object = (
                f"<p>The class {name} has begun: {link} asks for the key again, the others open class/{name}.</p>"
            )
