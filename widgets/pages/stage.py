"""Stage page: type a sentence, pick an objective, watch it rebuilt and see who may look at whom."""

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from latex2mathml.converter import convert

from playground.objectives import find_objective, objectives
from playground.objectives.objective import tell
from playground.objectives.rebuild import SENTENCE, Rebuilt
from playground.objectives.wishes import SHAPES, write
from widgets.pages.layout import bind, control, heading, two_columns
from widgets.scene import stage_pane
from widgets.store import LONGEST_TEXT, StageStore
from widgets.theme import html, say

SAMPLES = {
    "survey": SENTENCE,
    "echo": "the cat saw the dog and the dog saw the cat",
    "two sentences": "Rosa baked the bread. Then her brother sold it.",
}


def page(store: StageStore) -> Any:
    """The whole page."""
    return two_columns(_controls(store), _picture(store))


def _controls(store: StageStore) -> list[Any]:
    objective = pmui.RadioButtonGroup(
        options=list(objectives()), value=store.objective, orientation="vertical", size="small",
        sizing_mode="stretch_width", margin=(4, 10),
    )  # fmt: skip
    bind(objective, store, "objective")
    seed = pmui.IntInput(label="seed", value=store.seed, start=0, step=1, width=110, margin=(6, 4, 6, 10))
    bind(seed, store, "seed")
    dice = pmui.Button(label="Roll again", icon="casino", variant="outlined", size="small", margin=(14, 6))
    dice.on_click(lambda _: store.param.update(seed=store.seed + 1, plan=""))
    knobs = pmui.Column(margin=0, sizing_mode="stretch_width")
    plan = pmui.TextInput(
        label="plan by hand", value=store.plan, sizing_mode="stretch_width", margin=(6, 10),
        description="Space-separated, e.g. chosen=3,8. Empty: the dice decide.",
    )  # fmt: skip
    bind(plan, store, "plan")
    keys = html("")

    def renew(*_: Any) -> None:
        knobs[:] = _knobs(store)
        keys.object = _keys(store)

    store.param.watch(renew, "objective")
    renew()
    return [
        heading("Objective"),
        objective,
        heading("Chance"),
        pmui.Row(seed, dice, margin=0),
        heading("Knobs"),
        knobs,
        plan,
        keys,
    ]


def _knobs(store: StageStore) -> list[Any]:
    """The knobs of the objective; the first three in sight, the others folded away."""
    made = [_knob(store, name, k) for name, k in find_objective(store.objective).knobs.items()]
    if not made:
        return [html(say("Nothing to turn: this objective has no knobs.", "quiet"))]
    more = [pmui.Accordion(("more", pmui.Column(*made[3:], margin=0)), margin=(4, 10), sizing_mode="stretch_width")]
    return [*made[:3], *(more if made[3:] else [])]


def _knob(store: StageStore, name: str, k: Any) -> Any:
    widget = control(k)
    widget.param.watch(lambda event: store.param.update(settings={**store.settings, name: event.new}), "value")
    return widget


def _keys(store: StageStore) -> str:
    keys = find_objective(store.objective).plan_keys
    if not keys:
        return say("Nothing here is left to chance, so there is no plan.", "quiet")
    return "".join(f"<p class='quiet'><code>{k}=</code> {escape(SHAPES[k])}</p>" for k in keys)


def _picture(store: StageStore) -> list[Any]:
    text = pmui.TextInput(
        label="your sentence", value=store.text, max_length=LONGEST_TEXT, size="small", margin=(6, 10),
        sizing_mode="stretch_width", styles={"flex": "1 1 300px"},
    )  # fmt: skip
    text.param.watch(lambda event: setattr(store, "text", event.new), "value_input")
    pair = pmui.TextInput(
        label="second text", value=store.pair, max_length=LONGEST_TEXT, size="small", margin=(6, 10),
        sizing_mode="stretch_width", styles={"flex": "1 1 260px"}, visible=store.paired,
    )  # fmt: skip
    pair.param.watch(lambda event: setattr(store, "pair", event.new), "value_input")
    store.param.watch(lambda _: pair.param.update(visible=store.paired), "objective")
    for widget, name in ((text, "text"), (pair, "pair")):
        store.param.watch(lambda _, w=widget, n=name: _follow(w, getattr(store, n)), name)
    samples = [_sample(store, name, words) for name, words in SAMPLES.items()]
    row = pn.FlexBox(text, pair, *samples, align_items="center", sizing_mode="stretch_width")
    trouble, story = html(""), html("")
    stage = stage_pane(_record(store.rebuilt), playing=True, margin=(2, 10))

    shown = {"objective": store.objective}

    def renew(*_: Any) -> None:
        made: Rebuilt | None = store.rebuilt
        trouble.object = say(store.trouble, "trouble") + (say(made.notice, "notice") if made else "")
        if made is not None and not store.trouble:
            fresh = made.objective.name != shown["objective"]
            shown["objective"] = made.objective.name
            stage.param.update(record=_record(made), **({"frame": 0, "playing": True} if fresh else {}))
            story.object = explain(made)

    store.param.watch(renew, ["rebuilt", "trouble"])
    renew()
    return [row, trouble, stage, story]


def _follow(widget: Any, words: str) -> None:
    """Write into a field what was not typed there; who is typing is never interrupted."""
    if widget.value_input != words:
        widget.param.update(value=words, value_input=words)


def _sample(store: StageStore, name: str, words: str) -> Any:
    button = pmui.Button(label=name, variant="text", size="small", margin=(0, 2))
    button.on_click(lambda _: store.param.update(text=words))
    return button


def _record(made: Rebuilt | None) -> dict[str, Any]:
    return made.record() if made is not None else {}


def explain(made: Rebuilt) -> str:
    """What the objective asks, its loss in words and symbols, its source, how much of the text teaches, the plan."""
    facts = made.facts()
    graded, number = sum(facts["graded"]), len(made.steps[0].example.tokens.ids[0])
    plan = write(tell(made.steps))
    return (
        '<div class="label">What is asked</div>'
        f"{say(made.objective.idea)}{say(made.objective.loss, 'quiet')}"
        f"<div style='overflow-x:auto'>{convert(made.objective.formula, display='block')}</div>"
        '<div class="label">Signal</div>'
        f"{say(f'{graded} graded answers for {number} tokens of text: {graded / max(1, number):.0%}.')}"
        '<div class="label">The plan, ready to be edited</div>'
        f"<p><code>{escape(plan) or 'nothing is left to chance'}</code></p>"
        f'<div class="label">Source</div>{say(made.objective.source, "quiet")}'
    )
