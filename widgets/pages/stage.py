"""Stage page: type a sentence, see what the objectives make of it, and open one step by step."""

from functools import cached_property, partial
from html import escape
from statistics import fmean
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.ask.loss_mask import LossMaskOverride
from playground.objectives.mask_overrides import describe_kinds
from playground.objectives.plan_overrides import SHAPES
from playground.objectives.steps import describe_plan
from playground.trace.rebuild import SENTENCE, Rebuilt
from widgets.animation import page as saved_page
from widgets.animation import typeset, unheard
from widgets.animation.pane import cue, stage_pane, table_pane
from widgets.animation.survey_table import table_data, table_page
from widgets.lists.objective_picker import picker
from widgets.pages.knobs import Knobs
from widgets.pages.layout import FIELD, STRETCH, View, button, column, download, number, row, typed
from widgets.pages.model_bar import ModelBar
from widgets.state.stage import by_hand, loaded_model, suggestions, survey
from widgets.state.stage.store import StageStore
from widgets.state.stage.suggestions import NOTHING_COUNTS
from widgets.state.stage.texts import LONGEST_TEXT
from widgets.theme import GROWING, html, say

SAMPLES = {
    "default": SENTENCE,
    "repeated words": "the cat saw the dog and the dog saw the cat",
    "two sentences": "Rosa baked the bread. Then her brother sold it.",
}

HEADLINE = (
    "<b style='font-size:1.25em'>How a language model learns from plain text</b><br><span class='quiet'>Each row is a "
    "pre-training objective: it turns your sentence into an input and a target.</span>"
)

SAMPLE = {"variant": "text", "margin": 0, "css_classes": ["sample"]}
BLOCK_SIZE = "block_size"
NO_SAMPLES_ON_A_TELEPHONE = "@media (max-width: 560px) { .sample { display: none !important; } }"


class StagePage(View):
    """The sentence, and below it the table of all objectives or the stage of one."""

    def __init__(self, stage: StageStore) -> None:
        self.stage, self.notices = stage, Notices(stage)
        one = column(self._one, stylesheets=[GROWING], visible=stage.param.view.rx() == "stage")
        super().__init__(pn.Column(_sentence(stage), self.notices, SurveyTable(stage), one, **STRETCH))

    @cached_property
    def models(self) -> ModelBar:
        """What the model of the stage is, and the buttons for it."""
        return ModelBar(self.stage)

    def _one(self) -> Any:
        """The stage of one objective."""
        stage = self.stage
        return column(Picture(stage), row(Diffusion(stage), self.models, _save(stage)), *_choices(stage))

    def poll(self) -> None:
        if self.stage.view == "stage":
            self.models.poll()
        else:
            loaded_model.take(self.stage)


class SurveyTable(View):
    """All rows of the survey's table; it is drawn only while it is looked at."""

    def __init__(self, stage: StageStore) -> None:
        self.stage = stage
        self.pane, self.trouble = table_pane({}, margin=(2, 10)), html("")
        stage.param.watch(self._renew, ["text", "pair", "seed", "rebuilt", "view"])
        self.pane.param.watch(lambda event: survey.show(stage, event.new["name"]), "opened")
        self._renew()
        show_both = partial(suggestions.show_both, stage)
        both = button("MLM | PLM: how do they differ?", show_both, "compare", margin=(6, 10))
        top = row(html(HEADLINE, margin=(8, 14), styles={"flex": "1 1 400px"}), both, stylesheets=[GROWING], **STRETCH)
        table = (top, self.trouble, self.pane, _save(stage))
        super().__init__(column(*table, visible=stage.param.view.rx() == "table"))

    def _renew(self, *_: object) -> None:
        state = [getattr(self.stage, name) for name in ("text", "pair", "seed", "plan", "objective")]
        if self.stage.view != "table" or not self.is_new(state):
            return
        try:
            self.pane.table, self.trouble.object = table_data(*self.stage.table()), ""
        except UserError as refusal:
            self.trouble.object = say(refusal, "trouble")


def _objectives(stage: StageStore) -> Any:
    """The list of objectives, which unfolds from a button."""
    chosen = picker(value=stage.objective, compared=list(stage.compared), margin=(6, 10))

    def choose(event: Any) -> None:
        """What is chosen, or a sum that was typed, by the name that the engine gives it."""
        try:
            stage.objective = find_objective(event.new).name
        except UserError as refusal:
            stage.trouble = str(refusal)
        chosen.value = stage.objective

    chosen.param.watch(choose, "value")
    stage.param.watch(lambda _: chosen.param.update(value=stage.objective), "objective")
    chosen.link(stage, compared="compared", bidirectional=True)
    return column(chosen, visible=stage.param.view.rx() == "stage", styles={"flex": "0 1 230px"})


def _choices(stage: StageStore) -> list[Any]:
    """A strip with the parameters of the objective, and one with what is sampled."""
    keys = html(pn.bind(_plan_keys, stage.param.objective), styles={"flex": "2 1 300px"})
    seed = number(stage.param.seed, width=110, margin=(6, 4, 6, 10))
    plan = pmui.TextInput.from_param(stage.param.plan, styles={"flex": "3 1 300px"}, **FIELD)
    knobs = Knobs(
        stage, ["objective", "settings"], lambda: find_objective(stage.objective).knobs, lambda: stage.settings,
        lambda name, value: stage.param.update(settings={**stage.settings, name: value}), beside=True,
    )  # fmt: skip
    compared = pn.bind(bool, stage.param.compared)
    same = pmui.Switch.from_param(stage.param.same_plan, margin=(2, 10), visible=compared)
    return [knobs, row(seed, plan, keys, same, **STRETCH)]


class Diffusion(View):
    """The time of diffusion, with which more words are hidden, and the size of the blocks that come in order."""

    def __init__(self, stage: StageStore) -> None:
        self.stage = stage
        look = {"width": 150, "margin": (2, 14)}
        self.time = pmui.FloatSlider(label="time t", start=0.01, end=1.0, step=0.01, **look)
        self.size = pmui.IntSlider(label="block size", start=1, end=16, **look)
        self.time.param.watch(lambda event: stage.param.update(plan=f"t={event.new:g}"), "value_throttled")
        self.size.param.watch(self._cut, "value_throttled")
        stage.param.watch(self._renew, "rebuilt")
        super().__init__(row(self.time, self.size))
        self._renew()

    def _cut(self, event: Any) -> None:
        """Blocks of another size; with several times there would be too many or too few of them."""
        plan = "" if self.stage.plan.startswith("t=") and "," in self.stage.plan else self.stage.plan
        self.stage.change(settings={**self.stage.settings, BLOCK_SIZE: event.new}, plan=plan)

    def _renew(self, *_: object) -> None:
        stage = self.stage
        time = {} if stage.plain is None else describe_plan(stage.plain.steps)
        knobs = {} if stage.plain is None else stage.plain.objective.knobs
        self.time.visible, self.size.visible = "t" in time, BLOCK_SIZE in knobs
        if "t" in time:
            self.time.value = min(1.0, max(0.01, round(fmean(time["t"] or [1.0]), 2)))
        if BLOCK_SIZE in knobs:
            self.size.value = min(16, knobs[BLOCK_SIZE].default)


def _plan_keys(objective: str) -> str:
    keys = find_objective(objective).plan_keys
    if not keys:
        return say("Deterministic: nothing is sampled.", "quiet")
    return f"<p class='quiet'>{' &nbsp; '.join(f'<code>{k}=</code> {escape(SHAPES[k])}' for k in keys)}</p>"


def _sentence(stage: StageStore) -> Any:
    """The sentence, the second one where it is needed, and whether all objectives are shown or one."""
    look, shown = {"max_length": LONGEST_TEXT, "size": "small", "margin": (6, 10)}, stage.param
    text = typed(shown.text, styles={"flex": "1 1 275px"}, **look)
    needs_pair = (shown.objective, shown.view, shown.compared)  # a table has rows that need a second text
    second = pn.bind(lambda *_: stage.view == "table" or stage.paired, *needs_pair)
    pair = typed(shown.pair, styles={"flex": "1 1 235px"}, visible=second, **look)
    view = pmui.RadioButtonGroup.from_param(
        stage.param.view, label="", size="small", margin=(6, 10), styles={"white-space": "nowrap"}, width=108
    )
    samples = [
        button(name, lambda words=words: stage.param.update(text=words), **SAMPLE) for name, words in SAMPLES.items()
    ]
    examples = html(
        say("Examples:", "quiet"),
        margin=(10, 0, 0, 0),
        styles={"flex": "0 1 70px", "align-self": "center"},
        css_classes=["sample"],
    )
    parts = (view, _objectives(stage), text, pair, examples, *samples)
    return row(*parts, stylesheets=[GROWING, NO_SAMPLES_ON_A_TELEPHONE], **STRETCH)


def _save(stage: StageStore) -> Any:
    about = "One HTML file that plays without a network."
    return download(lambda: _saved(stage).encode(), "playground.html", "Save as HTML", description=about)


def _saved(stage: StageStore) -> str:
    if stage.view == "table":
        return table_page(table_data(*stage.table(), stages=True))
    return saved_page(stage.record(whole=True))


class Notices(View):
    """What is wrong with the text or to be known of it, and the buttons that help."""

    def __init__(self, stage: StageStore) -> None:
        self.stage, self.text = stage, html("", styles={"flex": "1 1 300px"})
        self.sample = button("Use an example text", partial(suggestions.take_sample, stage), "article", margin=(2, 10))
        self.anyway = button("Train anyway", partial(suggestions.train_anyway, stage), "play_arrow", margin=(2, 10))
        stage.param.watch(self._renew, ["rebuilt", "trouble", "gave_way", "view"])
        self._renew()
        parts = (self.text, self.sample, self.anyway)
        super().__init__(row(*parts, stylesheets=[GROWING], **STRETCH))

    def _renew(self, *_: object) -> None:
        stage, made = self.stage, self.stage.rebuilt
        one = stage.view == "stage"
        known = (made.notice if made else "", suggestions.full(stage), stage.gave_way)
        notices = [say(text, "notice") for text in known]
        said = [say(stage.trouble, "trouble"), *notices, painted(stage), say(by_hand.redrawn(stage), "quiet")]
        self.text.object = "".join(said) if one else ""
        leak = made is not None and made.verdict.leak
        rules, unasked = by_hand.rules(stage), by_hand.unasked(stage)
        label = "Train anyway" if leak else f"Train {describe_kinds(rules)}"
        self.anyway.param.update(visible=bool(rules) and one, label=label, disabled=unasked)
        self.sample.visible = one and suggestions.sample(stage) is not None


def painted(stage: StageStore) -> str:
    """What training with what is set by hand would mean; nothing is refused, also where the mask shows an answer."""
    made, rules = stage.rebuilt, by_hand.rules(stage)
    if made is None or not rules:
        return ""
    leak = made.verdict.leak
    judged = [rule.words for rule in rules if isinstance(rule, LossMaskOverride)]
    masked = [rule.words for rule in rules if not isinstance(rule, LossMaskOverride)]
    parts = [made.verdict.sentence] if leak else []
    if leak and masked:
        parts.append("Train anyway, and watch the loss fall to zero while the model learns to copy.")
    elif leak:
        parts.append("Train anyway, and watch the model learn to copy the answers that it is shown.")
    if masked:
        parts.append(f"In training, {'; '.join(masked)}, in every text.")
    if judged:
        parts.append(
            f"In training, in every text: {'; '.join(judged)}. Positions count as here, whatever the words are; "
            "elsewhere the objective decides what counts."
        )
    if by_hand.unasked(stage):
        parts.append(NOTHING_COUNTS)
    if leak:
        parts.append("Reset mask undoes it.")
    return say(" ".join(parts), "notice" if leak or by_hand.unasked(stage) else "quiet")


class Picture(View):
    """The animated stage: what is rebuilt is drawn, and what a person does there is an edit."""

    def __init__(self, stage: StageStore) -> None:
        self.stage, self.objective, self.heard = stage, stage.objective, {}
        super().__init__(stage_pane(stage.record(), playing=True, editable=True, margin=(2, 10)))
        self.layout.param.watch(self._edit, "edit")
        stage.param.watch(self._renew, ["rebuilt", "companions", "said"])
        stage.param.watch(self._open_frame, "frame")
        self._open_frame()

    def _edit(self, event: Any) -> None:
        for edit in unheard(event.new, self.heard):
            self.stage.edit(edit)

    def _renew(self, *_: object) -> None:
        made: Rebuilt | None = self.stage.rebuilt
        if made is not None:
            fresh, self.objective = made.objective.name != self.objective, made.objective.name
            start = cue(self.layout, 0, True) if fresh else {}
            self.layout.param.update(record=typeset(self.stage.record()), **start)

    def _open_frame(self, *_: object) -> None:
        """A link may name a frame."""
        record = self.stage.record()
        names = [frame["name"] for frame in record.get("frames", ())]
        if self.stage.versions is not None and "records" in record:  # stages in step have one frame of a kind
            names = [*dict.fromkeys(frame["name"].split()[0] for frame in record["records"][0]["frames"])]
        if self.stage.frame in names:
            head, self.stage.head = self.stage.head, {}
            self.layout.param.update(**cue(self.layout, names.index(self.stage.frame), False, **head))
