"""An objective on a text, as the Stage page shows it: what is chosen, and the batch that it rebuilds to."""

from collections.abc import Callable, Mapping
from typing import Any

import param

from playground.analysis.unmasking import RULES
from playground.errors import MissingText, UserError
from playground.objectives import find_objective
from playground.objectives.mask_overrides import MaskOverride
from playground.objectives.plan_overrides import parse, settings_of, write
from playground.objectives.steps import describe_plan
from playground.parsing import LARGEST
from playground.trace.overrides import repainted
from playground.trace.rebuild import SENTENCE, Rebuilt, rebuild
from playground.training import Session
from widgets.state.history import History
from widgets.state.job import Job
from widgets.state.stage import edits, link
from widgets.state.stage.answers import Answers, ask_models
from widgets.state.stage.answers import record as drawn
from widgets.state.stage.model import Versions
from widgets.state.stage.model_choice import StageModels, fit_bundled, model_beside, model_of
from widgets.state.stage.samples import PAIRS, offered
from widgets.state.stage.survey import Rows, table
from widgets.state.stage.texts import WORDS_OF_PLANS, fitting, opening_plan, read_texts

LONGEST_WINDOWED = 400  # tokens of a text on the stage; of more than 64 a window is drawn below the whole

NO_RUN = (
    "F forks a training run at the step that is shown; no run is on the stage. In the app, press Train on the Train "
    "page, then F there or with its model on the stage."
)

NO_TEXT = "There is no text yet, so letters take its place; type a sentence, or choose one of the examples."

SCENE = ("objective", "text", "pair", "seed", "settings", "plan", "painted", "compared", "same_plan")
"""What undo brings back and what a link holds."""

TOPMOST = 1_000  # the last layer of any model; only the attention of one layer travels to the screen

Trainer = Callable[[str, Mapping[str, Any], tuple[MaskOverride, ...]], None]
"""Takes the name of an objective, its knobs, and the rules that were set by hand."""


class StageStore(param.Parameterized):
    """An objective, a text, a seed, knobs, a plan and a mask by hand, and the batch that they rebuild to."""

    objective = param.String("MLM")
    text = param.String(SENTENCE, label="your sentence")
    pair = param.String("", label="second text")
    seed = param.Integer(0, bounds=(0, LARGEST), label="seed")
    settings = param.Dict({}, doc="The knobs that are not at their default.")
    plan = param.String(
        "", label="manual choices", doc="Space-separated, e.g. chosen=3,8. Empty: sampled from the seed."
    )
    painted = param.Dict({}, doc="The cells that were set by hand, by matrix.")
    compared = param.List([], doc="Up to three objectives that are shown in step with this one, on the same text.")
    same_plan = param.Boolean(True, label="same sample for the compared objectives")
    frame = param.String("", doc="The frame at which the stage opens.")
    unmask = param.Selector(default=RULES[0], objects=list(RULES), label="unmasking")
    tokens = param.String("", doc='The tokens that are drawn of a long text at first, as in "65" or "65-128".')
    view = param.Selector(default="stage", objects={"All": "table", "One": "stage"})
    rebuilt = param.Parameter(None)
    companions = param.List([], doc="The same text under the compared objectives.")
    trouble = param.String("", doc="Why something cannot be shown; the last good picture stays.")
    said = param.String("", doc="What a key has to report.")
    model = param.Parameter(None, doc="The model whose predictions are shown.")
    bundled = param.Boolean(False, doc="Whether the bundled model of an objective is shown where no other was chosen.")
    inside = param.Dict({}, doc="The record of the model's next update while that is shown.")
    silent = param.String("", doc="Why a model makes no predictions.")
    gave_way = param.String("", doc="Which text was replaced for the model, and why.")

    def __init__(self, **values: Any) -> None:
        self._opening = False
        self.teaching = Job("training")
        self.models = StageModels()
        self.without_model = ""
        self.lacks_text = False
        self.samples: dict[str, set[str]] = {"text": set(), "pair": set()}
        self.own_text: dict[str, str] = {}
        self.answers = Answers()
        self.alone = False
        self.two_versions: Versions | None = None
        self.history: History[dict[str, Any]] = History()
        self.layer = TOPMOST
        self.head: dict[str, int] = {}
        self.plain: Rebuilt | None = None
        self.borrowed: Session | None = None
        self.train_session: Callable[[], Session | None] = lambda: None
        self.trainer: Trainer = lambda name, knobs, rules: None
        self.forker: Callable[[], str] = lambda: NO_RUN
        super().__init__(**values)
        self._other_objective()

    @param.depends("objective", watch=True)
    def _other_objective(self) -> None:
        """A new objective begins with its row of the survey's table, where the text is the survey's."""
        if self._opening:
            return
        try:
            named = find_objective(self.objective).name
        except UserError as refusal:
            self.objective = "MLM"
            self.trouble = str(refusal)  # only now: a new objective begins without one
            return
        if named != self.objective:  # a sum as it was typed
            self.objective = named
            return
        self.param.update(inside={}, model=model_of(self, self.objective))
        texts = fitting(self)
        plan = opening_plan(self, texts)
        others = [name for name in self.compared if name != self.objective]
        self.change(**texts, settings={}, plan=plan, painted={}, compared=others)

    @property
    def paired(self) -> bool:
        """Whether the objective, or one beside it, asks for a second text."""
        return any(set(PAIRS) & set(find_objective(name).needs) for name in (self.objective, *self.compared))

    @param.depends("text", "pair", "seed", "settings", watch=True)
    def _other_choices(self) -> None:
        """The printed plan belongs to the printed row; a change of anything else takes effect without it."""
        if self._opening:
            return
        self.inside = {}
        self.change(plan="" if self.plan == self.printed_plan else self.plan)

    @param.depends("text", "pair", watch=True)
    def _other_text(self) -> None:
        """What was set by hand was set for the old text."""
        if self._opening:
            return
        self.gave_way = ""
        if self.painted:
            self.change(painted={})

    @property
    def printed_plan(self) -> str:
        """The plan of the objective's row in the survey's table."""
        return write(find_objective(self.objective).printed.plan)

    def change(self, **values: Any) -> None:
        """Change several values at once, with one picture at the end."""
        self._opening = True
        try:
            self.param.update(**values)
        finally:
            self._opening = False
        self.renew()

    @param.depends("plan", "painted", "compared", "same_plan", "unmask", watch=True)
    def renew(self) -> None:
        """Rebuild the text; where that cannot be, `trouble` says why and the last good picture stays."""
        if self._opening:
            return
        try:
            plain = self.rebuild(parse(settings_of(self.plan)))
            made = repainted(plain, self.painted) if self.painted else plain
            companions, lacking = self._companions(plain)
        except UserError as refusal:
            self.lacks_text = isinstance(refusal, MissingText)
            self.trouble = str(refusal)
            return
        self.plain, self.lacks_text = plain, False
        self._remember()
        self.said = ""
        self.two_versions = self.versions
        self.answers = ask_models(self, made, companions)
        self.silent = self.answers.silent
        self.param.update(rebuilt=made, companions=companions, trouble=lacking if self.text.strip() else NO_TEXT)

    def rebuild(self, overrides: Mapping[str, Any], name: str = "") -> Rebuilt:
        """The text with the choices that are `overrides`, under the objective on the stage or one beside it.

        What is sampled is the same with a bundled model as without one.
        """
        objective, (text, pair) = find_objective(name or self.objective), read_texts(self)
        chance = {"seed": self.seed, "settings": {} if name else self.settings, "longest": LONGEST_WINDOWED}
        if not name:
            self.without_model = ""
        if self.bundled and self.view == "stage" and (self.model is None or self.model.card):
            drawn = rebuild(objective, text, pair=pair, overrides=overrides, **chance)
            overrides = describe_plan(drawn.steps)
            if not name:
                fit_bundled(self, overrides)
            if self.model is None:
                return drawn
        model = model_beside(self, name) if name else self.model
        ready, tokenizer = (objective, None) if model is None else (model.ready(objective), model.tokenizer)
        if model is not None and model.card and model.tokenizer.lower:  # it knows words in lower case only
            small = {key: [word.lower() for word in overrides[key]] for key in WORDS_OF_PLANS if key in overrides}
            overrides = {**overrides, **small}
        return rebuild(ready, text, pair=pair, overrides=overrides, tokenizer=tokenizer, **chance)

    def _companions(self, main: Rebuilt) -> tuple[list[Rebuilt], str]:
        """The objectives beside, with the shared part of the plan; one that cannot take this text says why."""
        plan, made, lacking = describe_plan(main.steps), [], ""
        for name in self.compared[:3]:
            keys = find_objective(name).plan_keys if self.same_plan else ()
            try:
                made.append(self.rebuild({key: value for key, value in plan.items() if key in keys}, name))
            except UserError as refusal:
                lacking = str(refusal)
        return made, lacking

    @property
    def versions(self) -> Versions | None:
        """The model and another version of it, until the model is another one or an objective is compared."""
        versions = self.two_versions
        return None if versions is None or versions.model is not self.model or self.compared else versions

    def show_frame(self, frame: str) -> None:
        """Open a frame by its name, also if it was the last one that was asked for."""
        self.frame = ""
        self.frame = frame

    @param.depends("view", watch=True)
    def _restore_text(self) -> None:
        """Back from a sample, the table is for the person's own text again; the stage of one has its model."""
        if self.view == "table" and self.own_text and self.text.strip() in offered("text"):
            own, self.own_text = self.own_text, {}
            self.change(**own)
        if self.bundled and self.view == "stage" and self.model is None:
            self.renew()

    # edits, undo, the picture and the link

    def edit(self, message: Mapping[str, Any]) -> None:
        edits.act(self, message)

    def _remember(self) -> None:
        """A new scene ends redo; letters that follow each other in one field are one step."""
        scene = {name: getattr(self, name) for name in SCENE}
        past = self.history.values[: self.history.at + 1]
        if past and scene == past[-1]:
            return
        typing = len(past) > 1 and all(
            {k for k in SCENE if a[k] != b[k]} <= {"text", "pair"} for a, b in ((past[-2], past[-1]), (past[-1], scene))
        )
        self.history.add(scene, merged=typing)

    def go_back(self, by: int) -> None:
        """Undo (-1) or redo (1); at either end nothing happens."""
        if (scene := self.history.move(by)) is not None:
            self.change(**scene)

    def table(self) -> Rows:
        """Every row of the survey's table for the text on the stage."""
        return table(self)

    def record(self, whole: bool = False) -> dict[str, Any]:
        """What the stage draws; `whole`, with the attention of every layer, for a page that cannot ask for another."""
        return drawn(self, whole)

    def query(self) -> dict[str, str]:
        return link.written(self)

    def open(self, query: Mapping[str, str]) -> None:
        """Bring a link back; what cannot be rebuilt is said in `trouble`."""
        values, trouble = link.read(query)
        self.objective = values["objective"]
        self.history = History()
        self.change(**values)
        self.trouble = " ".join(filter(None, (self.trouble, trouble)))
