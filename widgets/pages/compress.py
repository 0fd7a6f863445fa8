"""Compress page: one fine-tuned model made smaller in several ways; what each keeps, and what it costs."""

from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.compression import FAMILIES, methods
from playground.compression.compare import Compression, CompressionFacts
from playground.compression.method import UNCOMPRESSED
from playground.compression.storage import FILE
from playground.errors import UserError
from widgets.pages.base_model import base_choice, describe_base
from widgets.pages.knobs import Knobs
from widgets.pages.layout import (
    FIELD,
    MAIN,
    STRETCH,
    Sidebar,
    View,
    accordion,
    button,
    column,
    download,
    exports,
    heading,
    number,
    row,
    typed,
)  # fmt: skip
from widgets.pages.transfer.controls import SIZES, execution
from widgets.state.app import Store
from widgets.state.compress import QUESTIONS, CompressStore
from widgets.state.train import choice
from widgets.static import compression as drawn
from widgets.theme import html, say

ABOUT = (
    "Compress the model that you have trained. Three meters are shown side by side, because they can disagree: file "
    "size, operations and latency. Next to them is the share of the accuracy above chance that is kept."
)

FRONTIER_SAYS = (
    "Each mark is a pipeline, each line one standard deviation over the seeds. A mark is pale where a model that costs "
    "at most as much scores higher by more than the noise."
)

METERS_SAY = (
    "Each bar is a share of the uncompressed model's value; a larger value is orange. Latency is measured for all "
    "models in turn: the line spans the middle half of the rounds, and a bar is pale where the line includes 100 %. "
    "Fewer parameters do not mean fewer operations, and fewer bits save "
    "no time where the arithmetic stays float32, as here."
)


class CompressPage(View):
    """What is compressed and how, the button that begins, and the result."""

    def __init__(self, store: Store) -> None:
        self.store, compress = store, store.compress
        self.begin = button("Compress", lambda: compress.begin(store.base), "compress", margin=(6, 10), **MAIN)
        self.stop = button("Stop", compress.running.forget, "stop", margin=(6, 3), disabled=True)
        self.halt = button("Stop", compress.running.forget, "stop", margin=(8, 3, 0, 3), visible=False)
        self.train = button("Train one here", store.train_one, "model_training", margin=(6, 10))
        self.base, self.trouble = html(""), html("")
        self.questions = [button(name, partial(self._ask, name), **{**FIELD, "margin": (3, 10)}) for name in QUESTIONS]
        self.results, self.map = Results(compress), LayerMap(store)
        controls = [
            heading("Base model"), base_choice(store), self.base, row(self.train), row(self.begin, self.stop),
            self.trouble, heading("Or start with a question"), *self.questions, *_choices(compress, self.map),
        ]  # fmt: skip
        self.sidebar = Sidebar(
            controls, [html(say(ABOUT)), self.results],
            lambda: f"{compress.task}, {len(compress.chosen)} pipelines", self.halt, folded=False,
        )  # fmt: skip
        compress.param.watch(self.sidebar.label, ["task", "chosen"])
        super().__init__(self.sidebar.layout)

    def _ask(self, question: str) -> None:
        self.store.compress.param.update(**QUESTIONS[question])
        self.store.compress.begin(self.store.base)

    def poll(self) -> None:
        """Show what has changed."""
        with pn.io.hold():
            compress = self.store.compress
            self.base.object = describe_base(self.store)
            running = compress.running.busy
            self.trouble.object = say(compress.trouble or compress.running.error or "", "trouble")
            if running and self.stop.disabled:
                self.sidebar.fold()  # so that the results are seen where it is narrow
            self.stop.disabled, self.halt.visible = not running, running
            for each in (self.begin, *self.questions):
                each.disabled = running
            session = self.store.train.session
            self.train.disabled = session is not None and session.state == "running"
            self.results.poll()
            self.map.poll()


class LayerMap(View):
    """Which layer of the model each layer of a student follows, drawn, and buttons that change it."""

    def __init__(self, store: Store) -> None:
        self.store, self.compress, self.there = store, store.compress, 0
        self.picture, self.rows = html(""), column()
        self.groups: list[pmui.RadioButtonGroup] = []
        store.compress.param.watch(self._draw, ["method", "turned"])
        super().__init__(column(self.picture, self.rows, visible=False))

    def poll(self) -> None:
        """Follow the base model that is chosen."""
        if self.layout.visible and self.there != self._teacher():
            self._draw()

    def _teacher(self) -> int:
        """The layers of the base model, or of the one that would be trained."""
        session = self.store.base
        learner = None if session is None else session.learner
        return (choice.shaped(self.store.train).model if learner is None else learner.model.shape).layers

    def _draw(self, *_: object) -> None:
        self.there, compress = self._teacher(), self.compress
        self.layout.visible = "mapping" in compress.knobs
        if not self.layout.visible:
            return
        try:
            mapping = compress.mapping(self.there)
        except UserError as refusal:
            self.rows.visible, self.picture.object = False, say(refusal, "trouble")
            return
        self.rows.visible, self.picture.object = True, drawn.layer_mapping([(t + 1,) for t in mapping], self.there)
        if [len(group.options) for group in self.groups] != [self.there] * len(mapping):
            self.groups = [self._group(layer) for layer in range(len(mapping))]
            self.rows[:] = self.groups[::-1]  # as in the picture
        for group, follows in zip(self.groups, mapping, strict=True):
            group.value = str(follows + 1)

    def _group(self, layer: int) -> pmui.RadioButtonGroup:
        options = [str(t + 1) for t in range(self.there)]
        group = pmui.RadioButtonGroup(label=f"layer {layer + 1} follows", options=options, size="small", margin=(2, 10))
        group.param.watch(lambda event: self.compress.map_layer(self.there, layer, int(event.new) - 1), "value")
        return group


def _choices(compress: CompressStore, layer_map: LayerMap) -> list[Any]:
    """The task, the pipelines, one to be put together, and how much."""
    chosen = compress.param
    pipelines = pmui.MultiChoice.from_param(
        chosen.chosen, label="pipelines that are compared", options=compress.offered, **FIELD
    )
    compress.param.watch(lambda _: pipelines.param.update(options=compress.offered), "own")
    knobs = Knobs(
        compress, ["method", "turned"], lambda: compress.knobs, lambda: compress.turned,
        compress.turn, throttled=True,
    )  # fmt: skip
    maker = column(
        pmui.Select.from_param(chosen.method, **FIELD),
        html(pn.bind(_about, chosen.method)), layer_map, knobs,
        row(button("Add as a step", compress.append, "add", margin=(6, 10))),
        typed(chosen.draft, placeholder="DistilBERT, int8", max_length=300, **FIELD),
        row(button("Compare this pipeline", compress.take, "playlist_add", margin=(6, 10))),
    )  # fmt: skip
    return [
        heading("Task"), pmui.Select.from_param(chosen.task, **FIELD),
        heading("Pipelines"), pipelines,
        accordion({"Build a pipeline": maker}, margin=(0, 10)),
        heading("Budget"), pmui.Select.from_param(chosen.labels, options=SIZES, **FIELD),
        number(chosen.seeds, pmui.IntSlider, **FIELD),
        html(pn.bind(lambda *_: say(compress.power, "quiet"), chosen.seeds, chosen.chosen)),
        number(chosen.steps, pmui.IntSlider, **FIELD),
        pmui.Select.from_param(chosen.workers, options=execution(compress.quota.shared, "one by one"), **FIELD),
        html(say("For each seed, all pipelines start from the same fine-tuned model, so differences are paired.",
                 "quiet")),
    ]  # fmt: skip


def _about(name: str) -> str:
    """What a method does, where it comes from, and how it differs from there."""
    method = methods()[name]
    unlike = f"Not as in the paper: {method.unlike_paper}." if method.unlike_paper else ""
    return say(method.idea) + say(f"{method.family}: {FAMILIES[method.family]}. {method.source}. {unlike}", "quiet")


class Results(View):
    """How far it is, and when all is done the verdict, the frontier, the meters and what changed."""

    def __init__(self, compress: CompressStore) -> None:
        self.compress = compress
        self.status = html("")
        self.progress = pmui.LinearProgress(variant="determinate", value=0, margin=(8, 10), visible=False, **STRETCH)
        self.verdict, self.frontier, self.table, self.meters = html(""), html(""), html(""), html("")
        self.details = Details(compress)
        self.exports = exports({
            "frontier.svg": ("Frontier (SVG)", lambda: drawn.frontier_file(compress.facts()).encode()),
            "compression.csv": ("Table (CSV)", partial(compress.file, "compression.csv")),
            "compression.json": ("Everything (JSON)", partial(compress.file, "compression.json")),
        })  # fmt: skip
        self.found = column(
            self.verdict, heading("The frontier"), html(say(FRONTIER_SAYS, "quiet")), self.frontier,
            heading("Three meters, side by side"), html(say(METERS_SAY, "quiet")), self.meters, self.table,
            self.exports, self.details, visible=False,
        )  # fmt: skip
        super().__init__(column(self.status, self.progress, self.found))

    def poll(self) -> None:
        compress, job = self.compress, self.compress.running
        known = compress.so_far
        if not self.is_new((job.turn, known.done if known else 0)):
            return
        self.status.object = self._said()
        self.progress.param.update(visible=job.busy, value=round(100 * (job.share or 0)))
        self.found.visible = known is not None and len(known.outcomes) > 1
        self.exports.visible = self.details.layout.visible = compress.result is not None
        if known is not None and self.found.visible:
            self._draw(known)

    def _said(self) -> str:
        """How far it is while models are still being made."""
        compress, known = self.compress, self.compress.so_far
        if compress.result is not None:
            return ""
        if known is None and not compress.running.busy:
            return say("Choose a question, or press Compress.", "quiet")
        done = f" {known.done} of {len(known.spec.chosen) * known.spec.seeds} models are done." if known else ""
        if not compress.running.busy:
            return say(f"Stopped.{done}", "quiet")
        return say(f"Compressing.{done} Latency and the verdict come when all models are done.", "quiet")

    def _draw(self, known: Compression) -> None:
        facts, finished = known.facts(self.compress.base_name, self.compress.corpus_name), bool(known.seconds)
        self.table.object, self.meters.object = drawn.table(facts), drawn.meters(facts)
        self.frontier.object = drawn.frontier(facts)
        self.verdict.object = _verdict(facts) if finished else ""
        if finished:
            self.details.offer([row["name"] for row in facts["pipelines"]])


def _verdict(facts: CompressionFacts) -> str:
    """Who leads and whether that is more than noise, who beats a small model that had no teacher, and what was done."""
    against = "".join(
        say(
            f"{gap['name']} against {gap['against']} (no smaller, no teacher): {gap['difference']:+.3f}, "
            f"{gap['said']}.",
            "quiet",
        )
        for gap in facts["against_baselines"]
    )
    scope = (
        f"{facts['task']}, from {facts['base']}; {facts['labels']} labelled texts, {facts['seeds']} seeds, "
        f"{facts['texts']} unseen texts for each."
    )
    return say(facts["verdict"]) + against + say(" ".join([scope, *facts["notices"]]), "quiet")


class Details(View):
    """What one pipeline did to the model: its matrices, its layers, its curves, and the answers that flipped."""

    def __init__(self, compress: CompressStore) -> None:
        self.compress = compress
        self.choice = pmui.Select.from_param(compress.param.shown, **{**FIELD, "max_width": 420})
        self.cells, self.shown, self.trouble = html(""), html(""), html("")
        self.speed = number(compress.param.speed, pmui.FloatSlider, **{**FIELD, "max_width": 420})
        self.both = button("Show both on the stage", self._show_both, "compare", margin=(4, 4))
        look = {"variant": "outlined", "margin": (4, 4)}
        take = download(lambda: compress.file(FILE), FILE, "This model (safetensors)", **look)
        compress.param.watch(lambda _: self.draw(), "shown")
        compress.param.watch(lambda _: self.draw_changes(), "speed")
        super().__init__(
            column(heading("What changed"), self.choice, row(self.both, take, margin=(0, 6)), self.trouble, self.cells,
                   self.speed, self.shown)
        )  # fmt: skip

    def _show_both(self) -> None:
        try:
            self.compress.show_both()
        except UserError as refusal:
            self.trouble.object = say(refusal, "trouble")

    def offer(self, names: list[str]) -> None:
        """Offer the pipelines of a new result, the first compressed one open."""
        compress = self.compress
        selected = compress.shown if compress.shown in names else names[1]
        compress.param.shown.objects = self.choice.options = names
        if selected == compress.shown:
            self.draw()  # of another result
        compress.shown = selected  # which draws

    def draw(self) -> None:
        """Read the file of the model and show what is in it."""
        self.both.visible, self.trouble.object = self.compress.shown != UNCOMPRESSED, ""
        try:
            outcome, cells = self.compress.details()
        except UserError as refusal:
            self.cells.object, self.shown.object, self.speed.visible = say(refusal, "trouble"), "", False
            return
        title = "Weight matrices: filled where weights are left, green where they have fewer bits"
        maps = drawn.matrix_maps(outcome.size.matrices, cells)
        self.cells.object = f'<div class="label">{title}</div>{maps}'
        exits = outcome.curves.get("speed")
        self.speed.visible = exits is not None
        self.compress.speed = exits["speed"] if exits else self.compress.speed
        self.draw_changes()

    def draw_changes(self) -> None:
        """Show what became of the model; of early exit at the speed that is chosen."""
        compress = self.compress
        if compress.result is not None and compress.shown in compress.result.outcomes:
            outcome, whole = (compress.result.outcomes[name][0] for name in (compress.shown, UNCOMPRESSED))
            classes = compress.result.task.answer.classes
            self.shown.object = drawn.changes(outcome, len(whole.layers), classes, compress.speed)
