"""Claims page: the cards on the left; what the open one says, the run that decides, its evidence and a variant."""

import json
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.claims.report import table_csv
from widgets.lists.pressable import Pressable
from widgets.pages.hunt import HuntView
from widgets.pages.knobs import Knobs
from widgets.pages.layout import (
    MAIN,
    STRETCH,
    Sidebar,
    View,
    accordion,
    button,
    column,
    exports,
    heading,
    row,
    tabs,
    typed,
)
from widgets.state.app import Store
from widgets.static import claims as drawn
from widgets.static.zoo import parts
from widgets.theme import GROWING, STYLE, html, say

ABOUT = (
    "Each card is a claim of a paper with an experiment that decides it here, at the size of a tiny model. The rule "
    "was written before the run. The verdict may disagree with the paper."
)


class ClaimsPage(View):
    """The cards, the open one, the buttons that run it, and what was found."""

    def __init__(self, store: Store) -> None:
        self.store, self.claims = store, store.claims
        claims, look = store.claims, {"margin": (2, 10), **STRETCH}
        claims.enter()
        sheets = [STYLE, GROWING, drawn.STYLE]
        self.list = Pressable(stylesheets=[*sheets, parts.STYLE], **look)
        self.card, self.found = html("", stylesheets=sheets), html("", stylesheets=sheets)
        self.runs, self.background = Pressable(stylesheets=[*sheets, parts.STYLE], **look), html("", stylesheets=sheets)
        self.variant = html("", stylesheets=sheets)
        self.begin = button("Run", lambda: claims.begin([claims.claim]), "play_arrow", margin=(6, 10), **MAIN)
        self.group = button("Run the group", lambda: claims.begin(self._members()), "playlist_play", margin=(6, 3))
        self.all = button("Run all", lambda: claims.begin([each["name"] for each in claims.facts()]), margin=(6, 3))
        self.stop = button("Stop", claims.running.forget, "stop", margin=(6, 3), disabled=True)
        self.halt = button("Stop", claims.running.forget, "stop", margin=(8, 3, 0, 3), visible=False)
        self.progress = pmui.LinearProgress(variant="determinate", value=0, margin=(8, 10), visible=False, **STRETCH)
        self.said = html("")
        self.calls = Pressable(stylesheets=[*sheets, parts.STYLE], **look)
        search = typed(claims.param.search, size="small", margin=(6, 10), max_length=100)
        self.knobs = Knobs(
            claims, ["claim", "turned"], claims.knobs, lambda: claims.settings, claims.set,
            throttled=True, beside=True,
        )  # fmt: skip
        self.own = button("Run your variant", claims.begin_variant, "tune", margin=(6, 10))
        variant = column(
            html(say("Change a setting and see whether the claim still holds. The card keeps its verdict.", "quiet")),
            self.knobs, row(self.own),
        )  # fmt: skip
        files = exports({
            "claims.csv": ("Table (CSV)", lambda: table_csv(claims.facts()).encode()),
            "claims.json": ("Everything (JSON)", lambda: json.dumps(claims.facts(), indent=1).encode()),
        })  # fmt: skip
        self.table = html("", stylesheets=sheets)
        for part in (self.list, self.calls, self.runs):
            part.param.watch(lambda event: self._press(*event.new[:2]), "pressed")
        picture = [
            self.card, row(self.begin, self.group, self.all, self.stop), self.progress, self.said, self.found,
            self.runs, heading("Settings"), variant, self.variant, self.background,
            accordion(
                {"All verdicts as a table": column(self.table, files),
                 "Errata of the surveys": html(drawn.errata(), stylesheets=sheets)},
                margin=(10, 10),
            ),
        ]  # fmt: skip
        self.side = Sidebar([search, self.calls, self.list], picture, lambda: claims.chosen.title, self.halt)
        claims.param.watch(self.side.label, "claim")
        claims.param.watch(self._list, ["search", "calls"])
        self.hunt = HuntView(store)
        shown = tabs({"Claims": column(html(say(ABOUT)), self.side), "Bug hunt": self.hunt})
        super().__init__(shown)
        self.poll()

    def _members(self) -> list[str]:
        """The cards of the open one's group."""
        return [each["name"] for each in self.claims.facts() if each["group"] == self.claims.chosen.group]

    def _press(self, act: str, name: str) -> None:
        if act == "claim":
            self.claims.choose(name)
            self.side.fold()
        elif act == "verdict":
            self.claims.toggle(name)
        else:
            self.claims.open(name, inside=act == "inside")

    def poll(self) -> None:
        """Show what has changed."""
        self.hunt.poll()
        claims, job = self.claims, self.claims.running
        tried = claims.variant is not None and claims.variant.verdict is not None
        if self.is_new((job.turn, claims.claim, claims.trouble, claims.done, repr(claims.turned), tried)):
            with pn.io.hold():
                self._draw()

    def _list(self, *_: object) -> None:
        claims, facts = self.claims, self.claims.facts()
        self.list.markup = drawn.listed(claims.listed(facts), claims.claim)
        self.calls.markup = drawn.calls(facts, claims.calls)

    def _draw(self) -> None:
        claims, job = self.claims, self.claims.running
        facts, claim, verdict = claims.facts(), claims.chosen, claims.verdict(claims.claim)
        self._list()
        self.background.object = drawn.background(claim)
        self.card.object, self.table.object = drawn.card(claim, verdict), drawn.table(facts)
        self.found.object = drawn.found(claim, verdict) if verdict else ""
        there = claims.runs_there(verdict)
        self.runs.markup = drawn.runs(verdict, there, bool(claim.common.instrument)) if verdict else ""
        every = [each["name"] for each in facts]
        asked = {"Run": (self.begin, [claims.claim]), "Run the group": (self.group, self._members()),
                 "Run all": (self.all, every)}  # fmt: skip
        for label, (each, names) in asked.items():
            each.label = f"{label} ({_about(claims.estimate(names))})"
        for each in (self.begin, self.own):
            each.disabled = job.busy
        for each in (self.group, self.all):
            each.disabled = job.busy or claims.quota.shared  # others wait meanwhile
        self.stop.disabled, self.halt.visible = not job.busy, job.busy
        self.progress.param.update(visible=job.busy, value=round(100 * (job.share or 0)))
        self.said.object = self._said()
        variant = claims.variant
        self.variant.object = _variant(variant) if variant is not None else ""

    def _said(self) -> str:
        claims = self.claims
        trouble = claims.trouble or claims.running.error or claims.errors.get(claims.claim, "")
        if trouble:
            return say(trouble, "trouble")
        if claims.running.busy:
            left = claims.estimate(claims.asked)
            return say(f"Running {len(claims.asked)} claims, {_about(left)}. {claims.done}", "quiet")
        return ""


def _about(seconds: float | None) -> str:
    if seconds is None:
        return "no estimate yet"
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 6000 else f"about {seconds / 3600:.1f} h"


def _variant(variant: Any) -> str:
    settings = ", ".join(f"{name.replace('_', ' ')} = {value}" for name, value in variant.settings.items())
    if variant.verdict is None:
        return say(f"With {settings}: running.", "quiet")
    return drawn.found(variant.claim, variant.verdict, f"With {settings}")
