"""Zoo page: the surveys' tables of systems, their timeline, what is measured of them, and the card of each."""

from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.catalog import nearest
from playground.zoo import entries, find_entry
from widgets.bundle import sheet
from widgets.lists.pressable import Pressable
from widgets.pages.layout import MAIN, STRETCH, View, button, column, row, typed
from widgets.state.app import Store
from widgets.state.zoo import ZooStore
from widgets.static.zoo import card, parts, tables, timeline
from widgets.theme import GROWING, STYLE, html, say

ABOUT = (
    "The systems of the surveys at tiny size. Each is declared as a network, a pre-training objective, a corpus and a "
    "recipe. A name opens its card, an objective opens the Stage, Train starts a run. Static embeddings give a word "
    "the same vector in every text; contextual embeddings depend on the text around it."
)

VIEWS = {
    "survey": (
        "The thirteen rows of Table 1 (Liu et al., arXiv:2003.07278) come first. Encoder and decoder follow from how "
        "the finished model reads a text; if the survey prints something else, it is shown below."
    ),
    "qiu": "The rows of Table 2 (Qiu et al., arXiv:2003.08271) that are in this zoo come first.",
    "properties": (
        "These values are measured, not declared: each tiny model is built and run on its own batches with seed 0. "
        "Times depend on this machine."
    ),
    "timeline": (
        "An arrow leads from each system to the systems derived from it. Those that the filters leave out are faint. "
        "Press a system to open its card."
    ),
}
"""What each view shows."""

LAYOUT = sheet(__file__)


class ZooPage(View):
    """Filters, the view that is chosen, and beside it, or below on a narrow screen, the card that is open."""

    def __init__(self, store: Store) -> None:
        self.store, self.zoo = store, store.zoo
        zoo, look = store.zoo, {"margin": (2, 10), **STRETCH}
        self.about, self.missing = html(""), html("")
        self.count = html("", margin=(4, 10), styles={"flex": "1 0 120px"}, sizing_mode=None)
        self.picture = Pressable(stylesheets=[STYLE, GROWING, parts.STYLE], **look)
        self.card = Pressable(arrives=True, stylesheets=[STYLE, GROWING, parts.STYLE, card.STYLE], **look)
        self.measuring = Measuring(zoo)
        main = column(self.about, self.measuring, self.picture, css_classes=["main"], styles={"min-width": "0"})
        side = column(self.card, css_classes=["side"], styles={"min-width": "0"})
        self.grid = pn.Column(main, side, stylesheets=[LAYOUT], margin=0, **STRETCH)
        for part in (self.picture, self.card):
            part.param.watch(self._press, "pressed")
        zoo.param.watch(self._filter, ["search", "architecture", "objective", "representation", "view"])
        zoo.param.watch(self._draw, "view")
        zoo.param.watch(self._open, "entry")
        self._filter()
        self._open()
        self._draw()
        super().__init__(column(html(say(ABOUT)), _filters(zoo, self.count), self.missing, self.grid))

    def _press(self, event: Any) -> None:
        act, name, _ = event.new
        acts = {
            "entry": self.zoo.choose, "train": self.store.train_entry, "objective": self.store.show_objective,
            "corpus": self.store.show_corpus,
        }  # fmt: skip
        acts[act](name)

    def _filter(self, *_: object) -> None:
        shown = self.zoo.shown
        self.picture.shown = shown or self.zoo.nearest
        self.count.object = say(f"{len(shown)} of {len(entries())} systems", "quiet")
        why = nearest(self.zoo.search) or "No system matches these filters; clear one of them."
        self.missing.object = "" if shown else say(why, "notice")

    def _open(self, *_: object) -> None:
        """Show the card of the chosen entry, and mark it in the picture."""
        name = self.zoo.entry
        self.card.markup = card.markup(find_entry(name)) if name else ""
        self.picture.chosen = name
        self.grid.css_classes = ["open"] if name else []
        if self.zoo.view == "timeline":
            self._draw()

    def _draw(self, *_: object) -> None:
        zoo, measures = self.zoo, self.zoo.view == "properties"
        legend = f'<p class="quiet">{tables.legend()}</p>' if measures else ""
        self.about.object = say(VIEWS[zoo.view], "quiet") + legend
        self.measuring.layout.visible = measures
        if zoo.view == "timeline":
            self.picture.markup = timeline.markup(zoo.entry)
        else:
            self.picture.markup = tables.markup(zoo.view, *zoo.ordered, zoo.measured)

    def poll(self) -> None:
        if self.measuring.changed():
            self._draw()


def _filters(zoo: ZooStore, count: Any) -> Any:
    """The view, the search, the three filters, and how many systems pass them."""
    small, shown = {"size": "small", "margin": (6, 10)}, zoo.param
    view = pmui.Select.from_param(shown.view, width=216, **small)
    search = typed(shown.search, styles={"flex": "1 1 170px"}, max_length=100, **small)
    chosen = [
        pmui.Select.from_param(shown[name], width=width, **small)
        for name, width in (("architecture", 180), ("objective", 180), ("representation", 150))
    ]
    return row(view, search, *chosen, count, stylesheets=[GROWING], **STRETCH)


class Measuring(View):
    """The button that measures what is shown, how far that is, and why a system could not be measured."""

    def __init__(self, zoo: ZooStore) -> None:
        self.zoo, self.drawn = zoo, (0, 0, "")
        self.begin = button("Measure the systems shown", zoo.measure, "speed", margin=(6, 10), **MAIN)
        self.stop = button("Stop", zoo.measuring.forget, "stop", margin=(6, 3), disabled=True)
        self.progress = pmui.LinearProgress(variant="determinate", value=0, margin=(8, 10), visible=False, **STRETCH)
        self.said = html("")
        super().__init__(column(row(self.begin, self.stop), self.progress, self.said, visible=False))

    def changed(self) -> bool:
        """Bring the buttons up to date; whether there is something new to draw."""
        zoo, work = self.zoo, self.zoo.measuring
        now = work.turn, len(zoo.measured), zoo.trouble
        if now == self.drawn:
            return False
        more, self.drawn = now[1] != self.drawn[1], now
        self.begin.disabled, self.stop.disabled = work.busy, not work.busy
        self.progress.param.update(visible=work.busy, value=round(100 * (work.share or 0)))
        refused = [f"{name}: {found}" for name, found in zoo.measured.items() if isinstance(found, str)]
        trouble = say(zoo.trouble or work.error or "", "trouble")
        self.said.object = trouble + "".join(say(line, "notice") for line in refused)
        return more and zoo.view == "properties"
