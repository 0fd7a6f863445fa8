"""Stage page: type a sentence, see what eleven objectives make of it, open one, and see who may look at whom."""

from html import escape
from io import BytesIO
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.errors import Refusal
from playground.objectives import find_objective
from playground.objectives.ask.judged import Judged
from playground.objectives.plan_overrides import SHAPES
from playground.trace.rebuild import SENTENCE, Rebuilt
from widgets.animation import cue, stage_pane, typeset, unheard
from widgets.animation import page as saved_page
from widgets.animation.survey_table import Wall, table_data, table_pane
from widgets.lists.objective_picker import picker
from widgets.pages import model_bar
from widgets.pages.layout import bind, control, download, heading, limits
from widgets.state.app import LONGEST_TEXT, NOTHING_COUNTS, StageStore
from widgets.theme import GROWING, html, say

SAMPLES = {
    "survey": SENTENCE,
    "echo": "the cat saw the dog and the dog saw the cat",
    "two sentences": "Rosa baked the bread. Then her brother sold it.",
}


LAYOUT = """
:host { display: grid !important; grid-template-columns: clamp(270px, 60px + 11vw, 480px) minmax(0, 1fr); gap: 0 18px;
  grid-template-rows: auto 1fr; grid-template-areas: "pick main" "rest main"; align-items: start; }
.pick { grid-area: pick !important; } .rest { grid-area: rest !important; } .main { grid-area: main !important; }
@media (max-width: 860px) {
  :host { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto; gap: 10px;
    grid-template-areas: "pick" "main" "rest"; }
}
"""


def page(store: StageStore) -> tuple[Any, Any]:
    """The whole page: the sentence, and below it the table of all objectives or the stage of one; and the tick."""
    lent, tick = model_bar.row(store)
    table, stage = _table(store), _stage(store, lent)

    def turn(*_: Any) -> None:
        table.visible, stage.visible = store.view == "table", store.view != "table"

    store.param.watch(turn, "view")
    turn()
    return pn.Column(*_words(store), table, stage, sizing_mode="stretch_width"), tick


def _stage(store: StageStore, lent: Any) -> Any:
    """One objective: what to look at, the picture, and below the list what can be turned."""
    parts = {"pick": _list(store), "rest": _controls(store), "main": [lent, *_picture(store)]}
    columns = [
        pmui.Column(
            *inside, margin=0, sizing_mode="stretch_width", css_classes=[area], styles={"min-width": "0"},
            stylesheets=[] if area == "main" else [GROWING],
        )
        for area, inside in parts.items()
    ]  # fmt: skip
    grid = pn.Column(*columns, stylesheets=[LAYOUT], sizing_mode="stretch_width")
    return pn.Column(grid, margin=0, sizing_mode="stretch_width")


def _table(store: StageStore) -> Any:
    """All rows of the survey's table; it is drawn only while it is looked at."""
    pane, trouble = table_pane({}, margin=(2, 10)), html("")
    drawn: dict[str, Any] = {}

    def renew(*_: Any) -> None:
        state = {name: getattr(store, name) for name in ("text", "pair", "seed", "plan", "objective")}
        if store.view != "table" or state == drawn:
            return
        drawn.update(state)
        try:
            pane.table, trouble.object = table_data(*store.table()), ""
        except Refusal as refusal:
            trouble.object = say(refusal, "trouble")

    store.param.watch(renew, ["text", "pair", "seed", "rebuilt", "view"])
    pane.param.watch(lambda event: store.show(event.new["name"]), "opened")
    renew()
    return pn.Column(trouble, pane, margin=0, sizing_mode="stretch_width")


def _list(store: StageStore) -> list[Any]:
    """The objectives, and whether those beside take the plan of the chosen one."""
    chosen = picker(value=store.objective, beside=list(store.beside), margin=(6, 10))

    def choose(event: Any) -> None:
        """What is chosen, or a sum that was typed, by the name that the engine gives it."""
        try:
            store.objective = find_objective(event.new).name
        except Refusal as refusal:
            store.trouble = str(refusal)
        chosen.value = store.objective

    chosen.param.watch(choose, "value")
    chosen.param.watch(lambda event: store.param.update(beside=event.new), "beside")
    store.param.watch(lambda _: chosen.param.update(value=store.objective), "objective")
    store.param.watch(lambda event: chosen.param.update(beside=event.new), "beside")
    same = pmui.Switch(
        label="same sample for the compared objectives", value=store.same_plan, margin=(2, 10), visible=False
    )
    bind(same, store, "same_plan")
    store.param.watch(lambda _: same.param.update(visible=bool(store.beside)), "beside")
    same.visible = bool(store.beside)
    return [chosen, same]


def _controls(store: StageStore) -> list[Any]:
    seed = pmui.IntInput(
        label="seed", value=store.seed, **limits(store, "seed"), step=1, width=110, margin=(6, 4, 6, 10)
    )
    bind(seed, store, "seed")
    knobs = pmui.Column(margin=0, sizing_mode="stretch_width")
    plan = pmui.TextInput(
        label="manual choices", value=store.plan, sizing_mode="stretch_width", margin=(6, 10),
        description="Space-separated, e.g. chosen=3,8. Empty: sampled from the seed.",
    )  # fmt: skip
    bind(plan, store, "plan")
    keys = html("")

    turned: dict[str, Any] = {}

    def renew(*_: Any) -> None:
        mine = find_objective(store.objective).knobs
        turned.clear()
        turned.update({"of": store.objective} | {name: _knob(store, name, k) for name, k in mine.items()})
        knobs[:] = _folded([turned[name] for name in mine])
        keys.object = _keys(store)
        follow()

    def follow(*_: Any) -> None:
        """Knobs also turn by a link, by a switch on the stage and by undo."""
        for name in find_objective(store.objective).knobs if turned["of"] == store.objective else ():
            if turned[name].value != (now := _now(store, name)):
                turned[name].value = now

    store.param.watch(renew, "objective")
    store.param.watch(follow, "settings")
    renew()
    return [heading("Knobs"), knobs, heading("Chance"), seed, plan, keys]


def _folded(made: list[Any]) -> list[Any]:
    """The first three knobs in sight, the others folded away."""
    if not made:
        return [html(say("This objective has no parameters.", "quiet"))]
    if not made[3:]:
        return made
    more = pmui.Accordion(
        ("more", pmui.Column(*made[3:], margin=0)), margin=(4, 10), sizing_mode="stretch_width",
        disable_gutters=True, elevation=0, title_variant="body2",
    )  # fmt: skip
    return [*made[:3], more]


def _knob(store: StageStore, name: str, k: Any) -> Any:
    widget = control(k)

    def turn(event: Any) -> None:
        if event.new != _now(store, name):
            store.settings = {**store.settings, name: event.new}

    widget.param.watch(turn, "value")
    return widget


def _now(store: StageStore, name: str) -> Any:
    """Where a knob stands."""
    return store.settings.get(name, find_objective(store.objective).knobs[name].default)


def _keys(store: StageStore) -> str:
    keys = find_objective(store.objective).plan_keys
    if not keys:
        return say("Deterministic: nothing is sampled.", "quiet")
    return "".join(f"<p class='quiet'><code>{k}=</code> {escape(SHAPES[k])}</p>" for k in keys)


def _words(store: StageStore) -> list[Any]:
    """The sentence, the second one where it is needed, and whether all objectives are shown or one."""
    text = pmui.TextInput(
        label="your sentence", value=store.text, max_length=LONGEST_TEXT, size="small", margin=(6, 10),
        sizing_mode="stretch_width", styles={"flex": "1 1 300px"},
    )  # fmt: skip
    text.param.watch(lambda event: setattr(store, "text", event.new), "value_input")
    pair = pmui.TextInput(
        label="second text", value=store.pair, max_length=LONGEST_TEXT, size="small", margin=(6, 10),
        sizing_mode="stretch_width", styles={"flex": "1 1 260px"}, visible=_wants_pair(store),
    )  # fmt: skip
    pair.param.watch(lambda event: setattr(store, "pair", event.new), "value_input")
    store.param.watch(lambda *_: pair.param.update(visible=_wants_pair(store)), ["objective", "view", "beside"])
    for widget, name in ((text, "text"), (pair, "pair")):
        store.param.watch(lambda _, w=widget, n=name: _follow(w, getattr(store, n)), name)
    samples = [_sample(store, name, words) for name, words in SAMPLES.items()]
    view = pmui.RadioButtonGroup(
        options={"All objectives": "table", "One objective": "stage"}, value=store.view, size="small", margin=(6, 10),
        styles={"white-space": "nowrap"}, width=236,
    )  # fmt: skip
    bind(view, store, "view")
    trouble = html("", styles={"flex": "1 1 300px"})
    anyway = pmui.Button(label="Train anyway", icon="play_arrow", size="small", variant="outlined", margin=(2, 10))
    anyway.on_click(lambda _: store.train_anyway())
    sample = pmui.Button(label="Take a sample text", icon="article", size="small", variant="outlined", margin=(2, 10))
    sample.on_click(lambda _: store.take_sample())

    def renew(*_: Any) -> None:
        made: Rebuilt | None = store.rebuilt
        noted = [say(text, "notice") for text in (made.notice if made else "", store.full, store.gave_way)]
        told = [say(store.trouble, "trouble"), *noted, _painted(store)]
        trouble.object = "".join(told) if store.view == "stage" else ""
        leak = made is not None and made.verdict.leak
        masked = any(not isinstance(rule, Judged) for rule in store.rules)
        label = "Train anyway" if leak else "Train with this mask" if masked else "Train with these answers"
        shown = bool(store.rules) and store.view == "stage"
        anyway.param.update(visible=shown, label=label, disabled=store.unasked)
        sample.visible = store.view == "stage" and store.sample is not None

    store.param.watch(renew, ["rebuilt", "trouble", "gave_way", "view"])
    renew()
    save = download(
        lambda: BytesIO(_saved(store).encode()), "playground.html", "Export HTML",
        "One HTML file that plays without a network.",
    )  # fmt: skip
    wide = {"sizing_mode": "stretch_width", "stylesheets": [GROWING]}
    row = pn.FlexBox(view, text, pair, *samples, save, align_items="center", **wide)
    said = pn.FlexBox(trouble, sample, anyway, align_items="center", margin=0, **wide)
    return [row, said]


def _saved(store: StageStore) -> str:
    """What is on screen as one HTML file."""
    return Wall(*store.table()).page() if store.view == "table" else saved_page(store.record(whole=True))


def _wants_pair(store: StageStore) -> bool:
    """A table has rows that need a second text; a stage shows the field where its objective asks for one."""
    return store.view == "table" or store.paired


def _picture(store: StageStore) -> list[Any]:
    stage = stage_pane(store.record(), playing=True, editable=True, margin=(2, 10))
    shown, heard = {"objective": store.objective}, {}

    def listen(event: Any) -> None:
        for edit in unheard(event.new, heard):
            store.edit(edit)

    stage.param.watch(listen, "edit")

    def renew(*_: Any) -> None:
        made: Rebuilt | None = store.rebuilt
        if made is not None:
            fresh = made.objective.name != shown["objective"]
            shown["objective"] = made.objective.name
            stage.param.update(record=typeset(store.record()), **(cue(stage, 0, True) if fresh else {}))

    def opened(*_: Any) -> None:
        """A link may name a frame."""
        names = [frame["name"] for frame in store.record().get("frames", ())]
        if store.frame in names:
            stage.param.update(**cue(stage, names.index(store.frame), False))

    store.param.watch(renew, ["rebuilt", "companions", "said"])
    store.param.watch(opened, "frame")
    renew()
    opened()
    return [stage]


def _painted(store: StageStore) -> str:
    """What training with what is by hand would mean; nothing is refused, also where the mask shows an answer."""
    made, rules = store.rebuilt, store.rules
    if made is None or not rules:
        return ""
    leak = made.verdict.leak
    judged = [rule.words for rule in rules if isinstance(rule, Judged)]
    masked = [rule.words for rule in rules if not isinstance(rule, Judged)]
    told = [made.verdict.sentence] if leak else []
    if leak and masked:
        told.append("Train anyway, and watch the loss fall to nothing while the model learns to copy.")
    elif leak:
        told.append("Train anyway, and watch the model learn to copy the answers that it is shown.")
    if masked:
        told.append(f"In training every text is read so: {'; '.join(masked)}.")
    if judged:
        told.append(
            f"In training, in every text: {'; '.join(judged)}. Places are counted as here, whatever words stand there; "
            "else what counts is what the objective asks."
        )
    if store.unasked:
        told.append(NOTHING_COUNTS)
    if leak:
        told.append("Repair puts it back.")
    return say(" ".join(told), "notice" if leak or store.unasked else "quiet")


def _follow(widget: Any, words: str) -> None:
    """Write into a field what was not typed there; who is typing is never interrupted."""
    if widget.value_input != words:
        widget.param.update(value=words, value_input=words)


def _sample(store: StageStore, name: str, words: str) -> Any:
    button = pmui.Button(label=name, variant="text", size="small", margin=(0, 2))
    button.on_click(lambda _: store.param.update(text=words))
    return button
