"""Inside page: one or two models, the instruments with their questions, and what the one that is open has found."""

from html import escape
from typing import Any

import panel_material_ui as pmui

from playground.analysis.instrument import GROUPS, instruments
from playground.knob import knobs
from widgets.lists import Pressable
from widgets.pages.knobs import Knobs
from widgets.pages.layout import FIELD, MAIN, STRETCH, Sidebar, View, button, column, download, row
from widgets.state.app import Store
from widgets.state.inside import NOBODY, SESSION, InsideStore, differences
from widgets.static import findings
from widgets.static.zoo import parts
from widgets.theme import GROWING, STYLE, html, say

PAGE = 5
"""The number of its tab."""

ABOUT = (
    "Open a trained model and measure it: what its heads attend to, how the loss changes without them, which token "
    "changes which hidden state. Every number is shown next to its baseline."
)

LISTED = """
.instruments { max-height: 74vh; overflow-y: auto; scrollbar-width: thin; }
.instruments button { display: block; width: 100%; text-decoration: none; padding: 5px 8px; border-radius: 6px;
  color: inherit; }
.instruments button small { opacity: .72; }
.instruments button:hover { background: color-mix(in srgb, var(--main) 6%, transparent); }
.instruments button.open { background: color-mix(in srgb, var(--main) 12%, transparent);
  box-shadow: inset 3px 0 var(--main); }
.instruments .lacks { padding: 5px 8px; opacity: .62; } .instruments .lacks small { color: inherit; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; }
.chips button { border: 1px solid var(--edge); border-radius: 14px; padding: 3px 11px; text-decoration: none;
  font-size: .86em; color: inherit; }
.chips button.off { background: #d55e0022; border-color: #d55e00; text-decoration: line-through; }
.side-by-side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr)); gap: 6px 30px; }
section:not(:only-child) svg { max-width: 100%; height: auto; }
.side-by-side > section { min-width: 0; }
.asked { font-weight: 600; margin: .2em 0 .6em; }
"""


class InsidePage(View):
    """What is looked into and with which instrument on the left; its settings and what it found beside that."""

    def __init__(self, store: Store) -> None:
        self.store, self.inside = store, store.inside
        inside, look = store.inside, {"margin": (2, 10), **STRETCH}
        self.subject, self.other = _choice(inside, "key", "trained model"), _choice(inside, "other", "compare with")
        self.list = Pressable(stylesheets=[STYLE, GROWING, parts.STYLE, LISTED], **look)
        self.question = html("")
        self.train = button("Train one here", store.train_one, "play_arrow", margin=(6, 10), visible=False)
        self.knobs = Knobs(
            inside, ["instrument", "turned"], lambda: {k.name: k for k in knobs(inside.chosen.settings)},
            lambda: inside.turned.get(inside.instrument, {}), inside.set, throttled=True, beside=True,
        )  # fmt: skip
        self.chips = Pressable(stylesheets=[STYLE, GROWING, parts.STYLE, LISTED], visible=False, **look)
        self.begin = button("Measure", inside.look, "visibility", margin=(6, 10), **MAIN)
        self.stop = button("Stop", inside.looking.forget, "stop", margin=(6, 3), disabled=True)
        self.csv = download(inside.csv, "inside.zip", "Tables as CSV", disabled=True)
        self.progress = pmui.LinearProgress(variant="indeterminate", margin=(8, 10), visible=False, **STRETCH)
        self.said = html("")
        self.result = Pressable(stylesheets=[STYLE, GROWING, LISTED, findings.STYLE], **look)
        for part, act in ((self.list, inside.choose), (self.chips, inside.switch), (self.result, self._enlarge)):
            part.param.watch(lambda event, act=act: act(event.new[1]), "pressed")
        self.drawn: tuple[object, ...] = ()
        inside.param.watch(self._offer, ["subject", "other"])
        store.param.watch(self._renew, ["page", "built"])
        store.train.param.watch(self._renew, "session")
        self._offer()
        acts = row(self.begin, self.stop, self.csv)
        self.side = Sidebar(
            [self.subject, self.other, self.list],
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
        if self.store.page == PAGE:
            self._offer()

    def _offer(self, *events: Any) -> None:
        """Offer what has been trained, and open the model that is chosen; one that is not there is forgotten."""
        inside, there = self.inside, self.store.looked_into()
        if inside.other not in (NOBODY, *there.values()):
            inside.other = NOBODY
        if inside.subject not in ("", *there.values()):
            inside.subject = ""  # which offers again
            return
        if {event.name for event in events} != {"other"}:
            inside.enter()
        self.subject.param.update(options=there, value=inside.key)
        self.other.param.update(options={"no other model": NOBODY, **there}, value=inside.other)

    def poll(self) -> None:
        inside, work = self.inside, self.inside.looking
        now = (
            work.turn, inside.opening.turn, inside.instrument, inside.subject, inside.other, repr(inside.turned),
            inside.panel, inside.misread,
        )  # fmt: skip
        self.progress.visible = work.busy
        session = self.store.train.session
        self.train.visible = session is None and set(self.subject.options.values()) == {SESSION}
        if work.busy and work.share:
            self.progress.param.update(variant="determinate", value=round(100 * work.share))
        if now == self.drawn:
            return
        self.drawn = now
        self.progress.variant = "indeterminate"
        instrument = inside.chosen
        self.begin.disabled, self.stop.disabled = work.busy, not work.busy
        self.csv.disabled = not inside.found
        self.question.object = f"<b>{escape(instrument.question)}</b>" + say(f"Source: {instrument.source}.", "quiet")
        self.list.markup = _listed(inside)
        self.chips.markup = _chips(inside)
        self.chips.visible = bool(inside.heads())
        self.said.object = say(inside.misread or inside.refusal, "trouble")
        if inside.found or not work.busy:  # what was there stays until the new is
            self.result.markup = _found(inside)


def _choice(inside: InsideStore, name: str, label: str) -> Any:
    field = pmui.Select(label=label, options={}, size="small", **FIELD)

    def choose(event: Any) -> None:
        if event.new is not None and event.new != getattr(inside, name):
            setattr(inside, "subject" if name == "key" else name, event.new)

    field.param.watch(choose, "value")
    return field


def _listed(inside: InsideStore) -> str:
    """The instruments by group, each with its question; what cannot run says why."""
    lacks, lines = inside.missing(), []
    for group in GROUPS:
        members = [each for each in instruments().values() if each.group == group]
        lines += [f'<div class="label">{group}</div>'] if members else []
        for each in members:
            said = f"<small>{escape(lacks.get(each.name) or each.question)}</small>"
            if each.name in lacks:
                lines.append(f'<div class="lacks" aria-disabled="true">{escape(each.name)}{said}</div>')
                continue
            kind = ' class="open" aria-current="true"' if each.name == inside.instrument else ""
            act = f'data-act="instrument" data-name="{escape(each.name)}"'
            lines.append(f'<button type="button" {act}{kind}>{escape(each.name)}{said}</button>')
    return f'<div class="instruments scroll">{"".join(lines)}</div>'


def _chips(inside: InsideStore) -> str:
    """The heads as chips; one that is off is crossed out."""
    heads, off = inside.heads(), inside.off
    chips = "".join(
        f'<button type="button" data-act="part" data-name="{head}" aria-pressed="{str(head in off).lower()}"'
        f"{' class=off' if head in off else ''}>{head}</button>"
        for head in heads
    )
    return f'<p class="quiet">Press a head to switch it off or on.</p><div class="chips">{chips}</div>'


def _found(inside: InsideStore) -> str:
    """What was found, of two models side by side with their differences."""
    found = inside.found
    if not found:
        return ""
    each = "".join(
        f'<section><p class="asked">{escape(name)}</p>{findings.markup(finding, inside.panel)}</section>'
        for name, finding in found.items()
    )
    more = "".join(findings.picture(table, inside.panel) for table in differences(found))
    return f'<div class="side-by-side">{each}</div>{more}'
