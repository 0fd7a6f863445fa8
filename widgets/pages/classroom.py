"""The pages of a class: a member guesses and trains one seed, the teacher starts it and shows the band of all seeds."""

import time
from collections.abc import Callable
from html import escape

import panel_material_ui as pmui

from playground.glossary import explain
from playground.training.parallel.seeds import spread
from widgets.charts.class_band import class_chart
from widgets.charts.columns import loss_label
from widgets.charts.strategies_over_steps import legend
from widgets.charts.wide_table import wide_table
from widgets.pages.layout import MAIN, STRETCH, View, button, column, download, plot, row, typed
from widgets.pages.menus import model_choice
from widgets.state.classroom import Classroom, Member, MemberStore, TeacherStore
from widgets.theme import changing, figures, html, say, tell

DRAWN_EVERY = 1.0  # seconds between two pictures of a band: there is one on every screen of the class

WAITING = "The class {} has not begun yet. This page shows the question as soon as it does."

PRIVATE = (
    "You get a random name; nothing about you is asked or stored. So keep this page open: if you close or reload it, "
    "you leave the class, and you can only join it again as somebody new."
)

LEAVING = "Whoever closes or reloads the page leaves the class; a seed that has not finished leaves the mean too."

MEAN = "mean ± standard deviation of all seeds"


class BandPicture(View):
    """The band over all seeds, one's own curve, and the guesses where they are shown; drawn where something is new."""

    def __init__(self, height: int) -> None:
        self.chart, self.key, self.drawn, self.next = class_chart(height), html(""), None, 0.0
        super().__init__(column(self.key, plot(self.chart, margin=(0, 10)), visible=False))

    def draw(self, classroom: Classroom | None, member: Member | None = None, shown: bool = False) -> None:
        """Show a class once a seed has a loss, to a member with the own seed and guess, else all guesses or none."""
        if classroom is None or not classroom.losses:
            self.layout.visible = False
            return
        if time.monotonic() < self.next:
            return
        curves = {MEAN: classroom.losses}
        if member is not None:
            curves["your seed"] = {row.step: [row.held_out] for row in member.evaluated}
            curves["your guess"] = {classroom.steps: [member.guess]}
        elif shown:
            curves["guesses and their mean"] = {classroom.steps: [each.guess for each in classroom.members]}
        if curves != self.drawn:
            self.drawn, self.next = curves, time.monotonic() + DRAWN_EVERY
            self.chart.figure.yaxis.axis_label = loss_label([classroom.unit])
            self.chart.figure.x_range.end = 1.02 * classroom.steps
            self.chart.show(curves)
            self.key.object = legend(list(curves))
        self.layout.visible = True  # only now, for what changes between sending and drawing is lost


class MemberPage(View):
    """What somebody sees who joins: the question, the guess, the place in the line, and then the curves."""

    def __init__(self, store: MemberStore) -> None:
        self.store = store
        self.question, self.said, self.trouble = changing(""), changing(""), html("")
        self.band = BandPicture(340)
        look = {"sizing_mode": None, "size": "small", "margin": (6, 10)}
        guess = typed(store.param.guess, store.join, width=190, max_length=12, **look)
        self.press = button("Save my guess and train", store.join, "how_to_reg", margin=(6, 10), **MAIN)
        self.form = row(guess, self.press, visible=False)
        store.param.watch(lambda event: setattr(self.trouble, "object", say(event.new, "trouble")), "trouble")
        parts = (self.question, self.form, self.trouble, self.said, self.band, html(say(PRIVATE, "quiet")))
        super().__init__(column(*parts, styles={"padding-top": "14px"}))
        self.poll()

    def poll(self) -> None:
        """Show what has changed."""
        classroom, member = self.store.classroom, self.store.member
        guessing = classroom is not None and not classroom.over and member is None
        self.form.visible = guessing
        question = classroom.question if classroom else WAITING.format(self.store.title)
        terms = explain(question).splitlines() if guessing else []
        tell(self.question, "".join((say(question), *(say(line, "quiet") for line in terms))))
        tell(self.said, f'<div role="status">{"".join(say(text) for text in _describe(classroom, member))}</div>')
        self.band.draw(None if guessing else classroom, member)  # who sees the curves of others guesses no more


def _describe(classroom: Classroom | None, member: Member | None) -> list[str]:
    """Who one is, what the own seed does, and how good the guess was."""
    if classroom is None:
        return []
    seeds, unit = len(classroom.members), classroom.unit
    many = f"{seeds} of you {'have' if seeds > 1 else 'has'} joined." if seeds else "Nobody has joined yet."
    ended = " The class has ended." if classroom.over else ""
    if member is None:
        return [f"{many}{ended or ' Save your guess to see the curves; it cannot be changed after that.'}"]
    lines = [f"You are the {member.name}, seed {member.seed}: {member.state}. Your guess is {member.guess:g} {unit}."]
    if member.final is not None and classroom.result is not None:
        off = abs(member.guess - classroom.result)
        done = sum(each.done for each in classroom.members)
        lines.append(
            f"Your seed ended at {member.final:.3f} {unit}. Finished: {done} of {seeds} seeds, "
            f"{classroom.result:.3f} {unit} on average. Your guess is off by {off:.3f}."
        )
    return [*lines, f"{many}{ended}"]


class TeacherPage(View):
    """What a teacher sees: the key, what a class begins with, then the band, the guesses and the file."""

    def __init__(self, store: TeacherStore, address: Callable[[], str]) -> None:
        self.store, self.address = store, address
        chosen = store.param
        look = {"sizing_mode": None, "size": "small", "margin": (6, 10)}
        key = typed(chosen.key, store.enter, pmui.PasswordInput, width=220, **look)
        about = "The key is printed where the server was started; it makes you the teacher."
        self.door = column(html(say(about)), row(key, button("Enter", store.enter, "login", margin=(6, 10), **MAIN)))
        self.where = changing("")
        model = model_choice(chosen.entry, width=220, size="small", margin=(6, 10))
        steps = pmui.Select.from_param(chosen.steps, width=120, size="small", margin=(6, 10))
        start = button("Start the class", store.start, "play_arrow", margin=(6, 10), **MAIN)
        other = "Or begin one with the settings of the Train page, in its tab “Class”."
        self.begin = column(row(model, steps, start), html(say(other, "quiet")), visible=False)
        self.trouble = html("")
        store.param.watch(lambda event: setattr(self.trouble, "object", say(event.new, "trouble")), "trouble")
        self.running = RunningClass(store)
        parts = (self.door, self.where, self.begin, self.trouble, self.running)
        super().__init__(column(*parts, styles={"padding-top": "14px"}))
        self.poll()

    def poll(self) -> None:
        """Show what has changed."""
        inside, classroom = self.store.inside, self.store.classroom
        self.door.visible = not inside
        self.begin.visible = inside and (classroom is None or classroom.over)
        if inside:
            over = classroom is not None and classroom.over
            where = "The class has ended." if over else f"Join at {self.address()}"
            tell(self.where, f'<p style="font-size: 1.35em; overflow-wrap: anywhere">{escape(where)}</p>')
            self.running.poll()
        self.running.layout.visible = inside and classroom is not None  # only now, as with a band


class RunningClass(View):
    """The class as it goes on: the question, how many train, the band, the scored guesses."""

    def __init__(self, store: TeacherStore) -> None:
        self.store = store
        self.question, self.counts, self.table = changing(""), changing(""), changing("")
        self.band = BandPicture(400)
        self.show = button("Show the guesses", self._turn, "visibility", margin=(6, 4, 6, 10))
        file = download(self._csv, f"class-{store.title}.csv", "CSV", variant="outlined", margin=(6, 4))
        self.end = button("End the class", self._ask, "stop", margin=(6, 4))
        sure = button("End it for all", self._end, "stop", color="error", margin=(6, 4))
        stops = html(say("Training stops.", "notice"), width=220, sizing_mode=None)
        self.asked = row(stops, sure, visible=False, styles={"width": "auto"})
        acts = row(self.show, file, self.end, self.asked)
        picture = column(self.band, styles={"flex": "3 1 460px"})
        names = column(self.table, styles={"flex": "1 1 400px", "min-width": "0"})
        beside = row(picture, names, align="flex-start", **STRETCH)
        super().__init__(column(self.question, self.counts, acts, beside, html(say(LEAVING, "quiet")), visible=False))

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
        tell(self.question, say(classroom.question))
        tell(self.counts, figures(counts(classroom)))
        self.end.disabled = classroom.over
        self.band.draw(classroom, shown=self.store.shown)
        tell(self.table, scores(classroom, self.store.shown))


def counts(classroom: Classroom) -> dict[str, str]:
    """The numbers of a class."""
    members = classroom.members
    done = sum(member.done for member in members)
    waiting = sum(bool(member.session.in_line.position) for member in members)
    step, losses = next(reversed(classroom.losses.items()), (0, []))
    words = "{mean:.3f} ± {sd:.3f}" if len(losses) > 1 else "{mean:.3f}"
    loss = words.format(**spread(losses)) if losses else "–"
    at = f"{classroom.unit} held out" + (f" at step {step:,}, n = {len(losses)}" if losses else "")
    return {"seeds": str(len(members)), "in the queue": str(waiting), "finished": str(done), at: loss}


def scores(classroom: Classroom, shown: bool) -> str:
    """The members as a table, the best guess first where the guesses are shown, else by seed."""
    listed = classroom.scores if shown else sorted(classroom.scores, key=lambda each: each[0].seed)
    if not listed:
        return ""
    scored = (f"guess ({classroom.unit})", f"off by ({classroom.unit})") if shown else ("guess",)
    return wide_table("guesses", ("name", "seed", *scored, "run"), (_line(*each, shown) for each in listed))


def _line(member: Member, off: float | None, shown: bool) -> list[str]:
    scored = (f"{member.guess:g}", "–" if off is None else f"{off:.3f}") if shown else ("saved",)
    cells = (member.name, str(member.seed), *scored, member.state)
    return [f"<td>{escape(cell)}</td>" for cell in cells]


class ClassStart(View):
    """On the Train page: a class from all that is chosen there."""

    def __init__(self, begin: Callable[[str, str], Classroom | None]) -> None:
        self._begin, self.said = begin, html("")
        look = {"size": "small", "margin": (6, 10)}
        self.title = pmui.TextInput(label="name of the class", max_length=30, width=190, **look)
        self.key = pmui.PasswordInput(label="key", width=190, **look)
        self.key.param.watch(lambda _: self._start(), "enter_pressed")
        press = button("Start a class", self._start, "groups", margin=(6, 10))
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
