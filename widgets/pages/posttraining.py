"""Post-training page: methods against the exact optimum, live, and the batch that trains."""

from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.posttraining import Comparison, find_reward, methods
from playground.posttraining.facts import prompt_facts
from widgets.charts.posttraining import Charts
from widgets.pages.knobs import Knobs
from widgets.pages.layout import (
    FIELD,
    MAIN,
    STRETCH,
    Sidebar,
    View,
    accordion,
    beside,
    button,
    column,
    exports,
    heading,
    number,
    row,
)  # fmt: skip
from widgets.state.app import Store
from widgets.state.posttraining import PROXIES, QUESTIONS, SMALL, PostTrainingStore
from widgets.static import posttraining as drawn
from widgets.theme import html, say

ABOUT = (
    "Post-train a language model so that its answers earn more reward. An answer has two words, so all answers are "
    "enumerated and the best policy is known exactly: the charts show how far each method is from this optimum."
)

TRAINS_FIRST = "The small model of film reviews is trained first; this takes a few seconds."


class PostTrainingPage(View):
    """What is post-trained, with which reward and methods; the charts, the batch and the answers next to it."""

    def __init__(self, store: Store) -> None:
        self.store, self.state = store, store.posttraining
        state = self.state
        self.base = pmui.Select(label="base model", options={}, size="small", **FIELD)
        self.base.param.watch(lambda event: self._choose_base(event.new), "value")
        self.begin = button("Post-train", state.begin, "play_arrow", margin=(6, 10), **MAIN)
        self.stop = button("Stop", state.running.forget, "stop", margin=(6, 3), disabled=True)
        self.halt = button("Stop", state.running.forget, "stop", margin=(8, 3, 0, 3), visible=False)
        self.small = button(
            "Use a small LM", lambda: state.param.update(base=SMALL, trouble=""), "model_training", margin=(6, 10),
            visible=False,
        )  # fmt: skip
        self.trouble = html("")
        self.questions = [button(name, partial(state.ask, name), margin=(3, 4)) for name in QUESTIONS]
        self.results = Results(state)
        controls = [
            heading("Base model"), self.base, row(self.begin, self.stop), self.trouble, row(self.small),
            *_choices(state),
        ]  # fmt: skip
        picture = [self.results, heading("Or start with a question"), row(*self.questions, margin=(0, 6))]
        self.sidebar = Sidebar(
            controls, picture, lambda: f"{state.trained.name}, {len(state.chosen)} methods", self.halt, folded=False
        )
        state.param.watch(self.sidebar.label, ["reward", "shortcut", "chosen"])
        state.param.watch(self._offer, "base")
        store.param.watch(self._offer, ["page", "built"])
        store.train.param.watch(self._offer, "session")
        self._offer()
        super().__init__(self.sidebar.layout)

    def _choose_base(self, key: str | None) -> None:
        if key is not None and key != self.state.base:
            self.state.param.update(base=key, trouble="")

    def _offer(self, *_: object) -> None:
        """Offer what has been trained; what a link asks for and is missing is said, and the small model chosen."""
        offered, state = self.store.to_post_train(), self.state
        if state.base not in offered.values():
            gone = f"There is no model {state.base!r} here; the small LM is chosen."
            state.param.update(base=SMALL, trouble=gone)
        self.base.param.update(options=offered, value=state.base)

    def poll(self) -> None:
        """Show what has changed."""
        with pn.io.hold():
            state = self.state
            running = state.running.busy
            refusal = state.trouble or str(state.running.error or "")
            self.trouble.object = say(refusal, "trouble")
            self.small.visible = bool(refusal) and state.base != SMALL
            if running and self.stop.disabled:
                self.sidebar.fold()  # so that the results are seen where it is narrow
            self.stop.disabled, self.halt.visible = not running, running
            for each in (self.begin, *self.questions):
                each.disabled = running
            self.results.poll()


def _choices(state: PostTrainingStore) -> list[Any]:
    """Reward, methods, prompts and budget."""
    chosen = state.param
    lines = pmui.MultiChoice.from_param(
        chosen.chosen, label="methods that are compared", options=state.offered, **FIELD
    )
    state.param.watch(lambda _: lines.param.update(options=state.offered), "own")
    knobs = Knobs(
        state, ["method", "turned"], lambda: state.knobs, lambda: state.turned, state.turn, throttled=True,
    )  # fmt: skip
    variant = column(
        pmui.Select.from_param(chosen.method, **FIELD), html(pn.bind(_about, chosen.method)), knobs,
        row(button("Compare this variant", state.add, "playlist_add", margin=(6, 10))),
    )  # fmt: skip
    own = pmui.TextAreaInput.from_param(chosen.typed, rows=3, max_length=2_000, size="small", **FIELD)
    return [
        heading("Reward"), pmui.Select.from_param(chosen.reward, **FIELD),
        html(pn.bind(_reward, chosen.reward, chosen.shortcut)),
        pmui.Switch.from_param(chosen.shortcut, margin=(2, 10)),
        heading("Methods of post-training"), lines, pmui.Select.from_param(chosen.beta, **FIELD),
        accordion({"Add a variant of a method": variant}, margin=(0, 10)),
        heading("Budget"), number(chosen.steps, pmui.IntSlider, **FIELD), number(chosen.seeds, pmui.IntSlider, **FIELD),
        heading("Prompts"), number(chosen.prompts, pmui.IntSlider, **FIELD), own,
    ]  # fmt: skip


def _reward(name: str, shortcut: bool) -> str:
    """What the reward pays for; with a shortcut, what is trained instead."""
    true = say(find_reward(name).idea, "quiet")
    if not shortcut or name not in PROXIES:
        return true
    proxy = PROXIES[name]
    return say(f"True reward, which is meant: {find_reward(name).idea}", "quiet") + say(
        f"Proxy reward, which is trained: {proxy.name}. {proxy.idea}", "notice"
    )


def _about(name: str) -> str:
    """What a method does, where it comes from, and how it differs from there."""
    method = methods()[name]
    unlike = f" Not as in the paper: {method.unlike_paper}." if method.unlike_paper else ""
    return say(method.idea) + say(f"{method.source}.{unlike}", "quiet")


class Results(View):
    """How far it is, what is seen, the four charts, the batch that trains and the likeliest answers."""

    def __init__(self, state: PostTrainingStore) -> None:
        self.state = state
        self.status, self.legend = html(""), html("")
        self.progress = pmui.LinearProgress(variant="determinate", value=0, margin=(2, 10), visible=False, **STRETCH)
        self.charts = Charts()
        self.details = Details(state)
        panes = [pn.pane.Bokeh(figure, **STRETCH) for figure in self.charts.figures]
        files = exports({
            "post-training.csv": ("Events (CSV)", partial(state.file, "post-training.csv")),
            "post-training.json": ("Everything (JSON)", partial(state.file, "post-training.json")),
        })  # fmt: skip
        self.found = column(self.legend, beside(*panes, basis=400), files, self.details, visible=False)
        super().__init__(column(self.status, self.progress, self.found))

    def poll(self) -> None:
        job, found = self.state.running, self.state.found
        self.progress.param.update(visible=job.busy, value=round(100 * (job.share or 0)))
        if not self.is_new((job.turn, found)):
            return
        self.status.object = self._said(found)
        if found is not None:
            self.legend.object = drawn.legend(found)
            self.charts.show(found)
        self.found.visible = found is not None
        self.details.show(found)

    def _said(self, found: Comparison | None) -> str:
        """What is seen, or what happens before there is anything to see."""
        job = self.state.running
        if found is not None:
            stopped = " Stopped before the last step." if not job.busy and found.progress < 1 else ""
            return say(found.headline + stopped)
        if job.busy:
            return say(TRAINS_FIRST if self.state.base == SMALL else "The model is opened.", "quiet")
        return say(ABOUT) + say("Press Post-train, or choose a question.", "quiet")


class Details(View):
    """For one method and one prompt: the batch that trained last, and the likeliest answers."""

    def __init__(self, state: PostTrainingStore) -> None:
        self.state = state
        self.method = pmui.Select(label="details of", options=[], size="small", **FIELD)
        self.prompt = pmui.Select(label="prompt", options={}, size="small", **FIELD)
        self.batch, self.answers = html(""), html("")
        for field, name in ((self.method, "shown"), (self.prompt, "prompt")):
            field.param.watch(lambda event, name=name: self._choose(name, event.new), "value")
        state.param.watch(lambda *_: self._draw(), ["shown", "prompt"])
        super().__init__(
            column(
                beside(column(self.method), column(self.prompt)),
                heading("The batch of the last step"), self.batch,
                heading("Likeliest answers: reference, policy and optimum"), self.answers,
            )
        )  # fmt: skip

    def _choose(self, name: str, value: Any) -> None:
        if value is not None and value != getattr(self.state, name):
            self.state.param.update(**{name: value})

    def show(self, found: Comparison | None) -> None:
        """Show a comparison, with the method and the prompt that were open if it has them."""
        if found is None:
            return
        state, space = self.state, found.setting.space
        names = [str(method) for method in found.methods if found.last(str(method)) is not None]
        prompts = {space.prompt_text(k): k for k in range(len(space.prompts))}
        shown = state.shown if state.shown in names else names[0]
        prompt = state.prompt if state.prompt < len(prompts) else 0
        self.method.param.update(options=names, value=shown)
        self.prompt.param.update(options=prompts, value=prompt)
        state.param.update(shown=shown, prompt=prompt)
        self._draw()

    def _draw(self) -> None:
        found, state = self.state.found, self.state
        if found is None or (event := found.last(state.shown)) is None:
            return
        self.method.value, self.prompt.value = state.shown, state.prompt
        method = next(each for each in found.methods if str(each) == state.shown)
        self.batch.object = drawn.batch(method, event.rollout, found.setting, state.prompt)
        facts = prompt_facts(found.setting, event, state.prompt)
        self.answers.object = drawn.answers(facts, bool(found.reward.proxy_of))
