"""Inside page: one to four models, the instruments with their questions, and what the one that is open has found."""

import re
from html import escape
from typing import Any

import panel_material_ui as pmui

from playground.analysis.inspection import MOST_SEEDS
from playground.analysis.instrument import GROUPS, instruments
from playground.knob import knobs
from widgets.bundle import sheet
from widgets.lists.pressable import Pressable
from widgets.pages.knobs import Knobs
from widgets.pages.layout import FIELD, MAIN, STRETCH, Sidebar, View, button, column, download, row
from widgets.state.app import Store, Tab
from widgets.state.inside import SESSION, InsideStore
from widgets.static import findings
from widgets.static.zoo import parts
from widgets.theme import GROWING, STYLE, html, say

ABOUT = (
    "Open a trained model and measure it: what its heads attend to, how the loss changes without them, which token "
    "changes which hidden state. Every number is shown next to its baseline."
)

COMPARED = {
    "models side by side": "models",
    "steps of training": "steps",
    "mean over seeds": "seeds",
}

LISTED = sheet(__file__)


class InsidePage(View):
    """What is looked into and with which instrument on the left; its settings and what it found beside that."""

    def __init__(self, store: Store) -> None:
        self.store, self.inside = store, store.inside
        inside, look = store.inside, {"margin": (2, 10), **STRETCH}
        self.subject = pmui.Select(label="trained model", options={}, size="small", **FIELD)
        self.others = pmui.MultiChoice(label="compare with", options={}, max_items=MOST_SEEDS - 1, **FIELD)
        self.over = pmui.Select(label="compare", options=COMPARED, size="small", **FIELD)
        for field, name in ((self.subject, "subject"), (self.others, "others"), (self.over, "over")):
            field.param.watch(lambda event, name=name: _turn(inside, name, event.new), "value")
        self.list = Pressable(stylesheets=[STYLE, GROWING, parts.STYLE, LISTED], **look)
        self.question = html("")
        self.train = button("Train one here", store.train_one, "play_arrow", margin=(6, 10), visible=False)
        self.knobs = Knobs(
            inside, ["instrument", "turned"], lambda: {k.name: k for k in knobs(inside.chosen.settings)},
            lambda: inside.turned.get(inside.instrument, {}), inside.set, throttled=True, beside=True,
        )  # fmt: skip
        self.chips = Pressable(stylesheets=[STYLE, GROWING, parts.STYLE, LISTED], visible=False, **look)
        self.begin = button("Measure", inside.look, "visibility", margin=(6, 10), **MAIN)
        self.all = button("Measure all", inside.look_with_all, "fact_check", margin=(6, 3))
        self.stop = button("Stop", inside.looking.forget, "stop", margin=(6, 3), disabled=True)
        self.csv = download(inside.csv, "inside.zip", "Tables as CSV", disabled=True)
        self.to_stage = button("", store.show_head, "open_in_full", margin=(6, 3), visible=False)
        self.progress = pmui.LinearProgress(variant="indeterminate", margin=(8, 10), visible=False, **STRETCH)
        self.said = html("")
        self.result = Pressable(stylesheets=[STYLE, GROWING, findings.STYLE], **look)
        for part, act in ((self.list, inside.choose), (self.chips, inside.switch), (self.result, self._enlarge)):
            part.param.watch(lambda event, act=act: act(event.new[1]), "pressed")
        inside.param.watch(self._offer, ["subject", "others", "over"])
        store.param.watch(self._renew, ["page", "built"])
        store.train.param.watch(self._renew, "session")
        self._offer()
        acts = row(self.begin, self.all, self.stop, self.csv, self.to_stage)
        self.side = Sidebar(
            [self.subject, self.over, self.others, self.list],
            [self.train, self.question, self.knobs, self.chips, acts, self.progress, self.said, self.result],
            lambda: inside.instrument,
        )  # fmt: skip
        inside.param.watch(self.side.label, "instrument")
        super().__init__(column(html(say(ABOUT)), self.side))
        self.poll()

    def _enlarge(self, panel: str) -> None:
        self.inside.panel = "" if self.inside.panel == panel else panel

    def _renew(self, *_: object) -> None:
        """Offer what came meanwhile when the page is opened."""
        if self.store.page == Tab.INSIDE:
            self._offer()

    def _offer(self, *events: Any) -> None:
        """Offer what has been trained, and open the model that is chosen; what is not there is said and left out."""
        inside, there = self.inside, self.store.looked_into()
        if gone := list(
            dict.fromkeys(key for key in (inside.subject, *inside.others) if key not in ("", *there.values()))
        ):
            names = ", ".join(repr(key.partition(":")[2] or key) for key in gone)
            inside.param.update(  # which offers again
                subject="" if inside.subject in gone else inside.subject,
                others=[key for key in inside.others if key not in gone],
                misread=f"{inside.misread} There is no model {names} here; choose one that is listed.".strip(),
            )
            return
        if not events or {event.name for event in events} - {"others", "over"}:
            inside.enter()
        self.subject.param.update(options=there, value=inside.key)
        self.over.value = inside.over
        rest = {name: key for name, key in there.items() if key != inside.key}
        self.others.param.update(options=rest, value=[key for key in inside.others if key != inside.key])
        self.others.visible = inside.over != "steps" and bool(rest)

    def poll(self) -> None:
        inside, work = self.inside, self.inside.looking
        now = (
            work.turn, inside.opening.turn, inside.instrument, inside.keys, inside.over, repr(inside.turned),
            inside.panel, inside.misread, len(inside.measured),
        )  # fmt: skip
        self.progress.visible = work.busy
        session = self.store.train.session
        self.train.visible = session is None and set(self.subject.options.values()) == {SESSION}
        if work.busy and work.share:
            self.progress.param.update(variant="determinate", value=round(100 * work.share))
        if not self.is_new(now):
            return
        self.progress.variant = "indeterminate"
        instrument = inside.chosen
        self.begin.disabled = self.all.disabled = work.busy
        self.stop.disabled = not work.busy
        self.csv.disabled = not inside.measured
        self.question.object = f"<b>{escape(instrument.question)}</b>" + say(f"Source: {instrument.source}.", "quiet")
        self.list.markup = _listed(inside)
        self.chips.markup = _chips(inside)
        self.chips.visible = bool(inside.parts())
        self.to_stage.visible = bool(inside.head)
        self.to_stage.label = "Show layer {}, head {} on the stage".format(*inside.head) if inside.head else ""
        self.said.object = say(inside.misread or inside.refusal, "trouble")
        found = inside.found()
        if found or not work.busy:  # what was there stays until the new is
            self.result.markup = findings.inspection(found, inside.panel) if found else ""


def _turn(inside: InsideStore, name: str, value: Any) -> None:
    """A choice of a person; what a field says while its options change is none."""
    now = inside.key if name == "subject" else getattr(inside, name)
    if value is not None and value != now:
        inside.param.update(**{name: value}, misread="")


def _listed(inside: InsideStore) -> str:
    """The instruments by group, each with its question, or its answer where it was asked; what cannot run says why."""
    lacks, lines = inside.missing(), []
    for group in GROUPS:
        members = [each for each in instruments().values() if each.group == group]
        lines += [f'<div class="label">{group}</div>'] if members else []
        for each in members:
            answer = found.headline if (made := inside.found(each)) and (found := made.summary or made.finding) else ""
            kind = ' class="answer"' if answer else ""
            said = f"<small{kind}>{escape(lacks.get(each.name) or answer or each.question)}</small>"
            if each.name in lacks:
                lines.append(f'<div class="lacks" aria-disabled="true">{escape(each.name)}{said}</div>')
                continue
            kind = ' class="open" aria-current="true"' if each.name == inside.instrument else ""
            act = f'data-act="instrument" data-name="{escape(each.name)}"'
            lines.append(f'<button type="button" {act}{kind}>{escape(each.name)}{said}</button>')
    return f'<div class="instruments choices scroll">{"".join(lines)}</div>'


def _chips(inside: InsideStore) -> str:
    """Heads, attention and MLPs as chips, a row for each layer; one that is off is crossed out."""
    off, rows = inside.off, dict[str, list[str]]()
    for part in inside.parts():
        kind = " class=off" if part in off else ""
        act = f'data-act="part" data-name="{part}" aria-pressed="{str(part in off).lower()}"'
        layer = re.sub(r"\.(cross\.)?\w+$", "", part)
        rows.setdefault(layer, []).append(f'<button type="button" {act}{kind}>{part}</button>')
    lines = "".join(f'<div class="chips">{"".join(chips)}</div>' for chips in rows.values())
    return f'<p class="quiet">Press a head, the attention or the MLP of a layer to switch it off or on.</p>{lines}'
