"""An objective on a text, as the Stage page shows it: what is chosen, and the batch that it rebuilds to."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import param

from playground.analysis.unmasking import RULES, can_unmask
from playground.corpora.readers.decode import Progress
from playground.errors import MissingText, UserError
from playground.objectives import Objective, find_objective
from playground.objectives.by_hand import draws_order
from playground.objectives.choose.order import OrderOverride
from playground.objectives.mask_overrides import MaskOverride, carried
from playground.objectives.objective import describe_plan
from playground.objectives.plan_overrides import parse, settings_of, write
from playground.parsing import LARGEST
from playground.tokenizing.tokenizer import unknown_words
from playground.tokenizing.words import clean, split_words
from playground.trace.lockstep import lockstep
from playground.trace.overrides import repainted
from playground.trace.rebuild import SENTENCE, Rebuilt, rebuild, table
from playground.training import Session
from playground.training.store.bundled import OBJECTIVES
from playground.zoo.changes import turned
from widgets.state.history import History
from widgets.state.job import Job
from widgets.state.stage import edits, link
from widgets.state.stage.model import StageModel, Versions, bundled_model, has_learned, train_on, train_small
from widgets.state.stage.samples import PAIRS, listed, offered, texts_for

LONGEST_TEXT = 2_000  # characters of a sentence on the stage
LONGEST_WINDOWED = 400  # tokens of a text on the stage; of more than 64 a window is drawn below the whole

WORDS_OF_PLANS = ("replace", "wrong", "marks")  # the keys of a plan whose values are words
LETTERS = "a b c d e f g h"  # the words where there is no text

NO_RUN = (
    "F forks a training run at the step that is shown; no run is on the stage. In the app, press Train on the Train "
    "page, then F there or with its model on the stage."
)

NOTHING_COUNTS = "No answer counts any more, so there is nothing to train; click one of them to have it count again."

NO_TEXT = "There is no text yet, so letters take its place; type a sentence, or choose one of the examples."

SCENE = ("objective", "text", "pair", "seed", "settings", "plan", "painted", "compared", "same_plan")
"""What undo brings back and what a link holds."""

TOPMOST = 1_000  # the last layer of any model; only the attention of one layer travels to the screen

Rows = tuple[str, list[Rebuilt], list[tuple[Objective, str]]]
"""The survey's table: the text, the rows that could be made, and the objectives that the text cannot serve."""


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
        self._small: dict[str, StageModel] = {}
        self._bundled: dict[str, StageModel | None] = {}
        self._unreadable: dict[str, str] = {}
        self._without_model = ""
        self._lacks_text = False
        self._samples: dict[str, set[str]] = {"text": set(), "pair": set()}
        self._own_text: dict[str, str] = {}
        self._answered: dict[str, Any] = {}
        self._beside: list[dict[str, Any]] = []
        self._alone = False
        self._versions: Versions | None = None
        self._subtitles: list[str] = []
        self._history: History[dict[str, Any]] = History()
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
        self.param.update(inside={}, model=self._model_of(self.objective))
        texts = self._texts()
        plan = self.opening_plan(texts)
        others = [name for name in self.compared if name != self.objective]
        self.change(**texts, settings={}, plan=plan, painted={}, compared=others)

    @property
    def paired(self) -> bool:
        """Whether the objective, or one beside it, asks for a second text."""
        return any(set(PAIRS) & set(find_objective(name).needs) for name in (self.objective, *self.compared))

    def _texts(self, stay: bool = False) -> dict[str, str]:
        """The texts that fit the objective: what a person typed stays, one of ours is replaced by the right one.

        Where they `stay`, only the sample of an earlier model is replaced. Of those, one of ours with words that the
        model does not know is replaced by a sample of the model's own corpus, and `gave_way` says so.
        """
        right = texts_for(self.objective)
        ours = {name: self._samples[name] | offered(name) for name in right}
        old = self._samples if stay else ours
        texts = {n: words if getattr(self, n).strip() in old[n] else getattr(self, n) for n, words in right.items()}
        mine = {n: words for n, words in texts.items() if words.strip() in ours[n]}
        read = [words for name, words in mine.items() if name == "text" or self.paired]
        model, unknown = self.model, self._unknown(split_words(clean(" ".join(read))))
        sample = model.sample(find_objective(self.objective)) if model is not None and unknown else None
        self.gave_way = ""
        if model is None or sample is None:
            return texts
        samples = {name: words for name, words in zip(right, sample, strict=True) if name in mine}
        for name, words in samples.items():
            self._samples[name].add(words)
        self.gave_way = (
            f"{model.name} does not know {listed(unknown)}, so a held-out text of {model.corpus_name} replaces the "
            "one that was here."
        )
        return texts | samples

    def _unknown(self, words: Sequence[str]) -> list[str]:
        return [] if self.model is None else unknown_words(self.model.tokenizer, words)

    def opening_plan(self, texts: Mapping[str, str]) -> str:
        """The printed plan where the text is ours and the model on the stage knows the words of the plan, else none."""
        if texts["text"].strip() not in offered("text"):
            return ""
        printed = find_objective(self.objective).printed.plan
        unknown = self._unknown([word for key in WORDS_OF_PLANS for word in printed.get(key, ())])
        if unknown and self.model is not None:
            why = f"{self.model.name} does not know {listed(unknown)} of the printed plan, so it is sampled."
            self.gave_way = f"{self.gave_way} {why}".strip()
        return "" if unknown else self.printed_plan

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
            self._lacks_text = isinstance(refusal, MissingText)
            self.trouble = str(refusal)
            return
        self.plain, self._lacks_text = plain, False
        self._remember()
        self.said = ""
        self._ask_models(made, companions)
        self.param.update(rebuilt=made, companions=companions, trouble=lacking if self.text.strip() else NO_TEXT)

    def _fit_bundled(self, plan: Mapping[str, Any]) -> None:
        """Bring the bundled model; it goes where it lacks words of the texts or the plan, so that all are shown."""
        self.model, self._without_model = self._model_of(self.objective), self._unreadable.get(self.objective, "")
        texts = split_words(clean(" ".join(self._read_texts)))
        unknown = self._unknown([*texts, *(word for key in WORDS_OF_PLANS for word in plan.get(key, ()))])
        if unknown and self.model is not None:
            self._without_model = f"{self.model.name} does not know {listed(unknown)}, so it predicts nothing here."
            self.model = None

    def rebuild(self, overrides: Mapping[str, Any], name: str = "") -> Rebuilt:
        """The text with the choices that are `overrides`, under the objective on the stage or one beside it.

        What is sampled is the same with a bundled model as without one.
        """
        objective, (text, pair) = find_objective(name or self.objective), self._read_texts
        chance = {"seed": self.seed, "settings": {} if name else self.settings, "longest": LONGEST_WINDOWED}
        if not name:
            self._without_model = ""
        if self.bundled and self.view == "stage" and (self.model is None or self.model.card):
            drawn = rebuild(objective, text, pair=pair, overrides=overrides, **chance)
            overrides = describe_plan(drawn.steps)
            if not name:
                self._fit_bundled(overrides)
            if self.model is None:
                return drawn
        model = self._model_beside(name) if name else self.model
        ready, tokenizer = (objective, None) if model is None else (model.ready(objective), model.tokenizer)
        if model is not None and model.card:  # it may know words in lower case only
            small = {key: [*map(model.tokenizer.small, overrides[key])] for key in WORDS_OF_PLANS if key in overrides}
            overrides = {**overrides, **small}
        return rebuild(ready, text, pair=pair, overrides=overrides, tokenizer=tokenizer, **chance)

    @property
    def _read_texts(self) -> tuple[str, str]:
        """The text and the second text that are rebuilt."""
        text = self.text[:LONGEST_TEXT] if self.text.strip() else LETTERS
        return text, self.pair[:LONGEST_TEXT] if self.paired else ""

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

    def _ask_models(self, made: Rebuilt, companions: Sequence[Rebuilt]) -> None:
        """The predictions of the models for what is on the stage; one that makes none says why."""
        self._answered, silent = self._answers(self.model, made, (self.layer,))
        beside = [self._answers(self._model_beside(each.objective.name), each) for each in companions]
        self._beside = [answered or each.record() for (answered, _), each in zip(beside, companions, strict=True)]
        versions = self._versions = self.versions
        self._subtitles = [] if versions is None else [*versions.subtitles]
        if versions is not None:
            beside.append(self._answers(versions.second, made))
            self._beside.append(beside[-1][0] or made.record())
        self.silent = self._without_model or silent or next(filter(None, (why for _, why in beside)), "")

    def _answers(
        self, model: StageModel | None, made: Rebuilt, layers: tuple[int, ...] | None = None
    ) -> tuple[dict[str, Any], str]:
        """The record with what a model predicts, and why it predicts nothing."""
        if model is None:
            return {}, ""
        try:
            record = model.unmasked(model.answers(made, layers), made, self.unmask, self.seed)
            return record, model.model.unscored(made.batch)
        except UserError as refusal:
            return {}, str(refusal)

    @property
    def unmasks(self) -> bool:
        """Whether the model fills the gaps of the text step by step."""
        return self.model is not None and self.rebuilt is not None and can_unmask(self.rebuilt.batch)

    @property
    def versions(self) -> Versions | None:
        """The model and another version of it, until the model is another one or an objective is compared."""
        versions = self._versions
        return None if versions is None or versions.model is not self.model or self.compared else versions

    def _model_of(self, name: str) -> StageModel | None:
        """A small model that was trained for an objective, else the one that was chosen, else the bundled one."""
        chosen = self.model is not None and not self.model.card
        return self._small.get(name) or (self.model if chosen else self._bundled_of(name))

    def _model_beside(self, name: str) -> StageModel | None:
        """The model of an objective beside: of that very objective where there is one, else the same."""
        return None if self.model is None else self._model_of(name) or self.model

    def _bundled_of(self, name: str) -> StageModel | None:
        """The bundled model of an objective, read once in a visit and only where one objective is shown."""
        if not self.bundled or self.view == "table":
            return None
        if name not in self._bundled:
            try:
                self._bundled[name] = bundled_model(name)
            except UserError as refusal:
                self._bundled[name], self._unreadable[name] = None, str(refusal)
        return self._bundled[name]

    # what is suggested next

    @property
    def other(self) -> str:
        """The objective that shows best what the one on the stage does: bidirectional beside left to right."""
        return "MLM" if self.objective == "LM" else "LM"

    def compare(self) -> None:
        """The same sentence under the other objective, in step; where some stand beside, the one alone again."""
        if self.versions is not None:
            self._versions = None
            self.renew()
        else:
            self.compared = [] if self.compared else [self.other]

    def show_both(self) -> None:
        """The pair of the survey that is easiest to mix up, side by side."""
        self.show("MLM", ["PLM"])

    def train_this(self, rules: tuple[MaskOverride, ...] = ()) -> None:
        """Train the objective on the stage on the Train page, with its knobs and perhaps with rules set by hand."""
        try:
            self.trainer(self.objective, self.settings, rules)
        except UserError as refusal:
            self.trouble = str(refusal)

    def train_anyway(self) -> None:
        """Train this objective on the Train page with what was set by hand, also where the mask shows an answer."""
        if self.unasked:
            self.trouble = NOTHING_COUNTS
        else:
            self.train_this(self.rules)

    def two_streams(self) -> None:
        """The next lesson: an order of prediction, and why it needs a second stream."""
        self.change(compared=[])
        self.objective = "PLM"
        self._show("visibility")

    @property
    def sample(self) -> tuple[str, str] | None:
        """Two texts of ours that the objective can use, where it needs others than those on the stage."""
        if not self._lacks_text:
            return None
        right = texts_for(self.objective)
        texts = right["text"], right["pair"]
        return texts if self._suit(*texts) else None

    def _suit(self, text: str, pair: str) -> bool:
        try:
            rebuild(self.objective, text, pair=pair)
        except UserError:
            return False
        return True

    def take_sample(self) -> None:
        """Put texts on the stage that the objective can use."""
        if (texts := self.sample) is not None:
            plan = self.printed_plan if texts[0] in offered("text") else ""
            self.change(text=texts[0], pair=texts[1], plan=plan, painted={})

    @property
    def rules(self) -> tuple[MaskOverride, ...]:
        """What was set by hand, as rules for every text; of a mixture, for the part that is on the stage."""
        part = 0 if self.plain is None else describe_plan(self.plain.steps).get("part", 0)
        return (*carried(self.painted, part), *self.own_order)

    @property
    def own_order(self) -> tuple[OrderOverride, ...]:
        """The order of prediction that was set by hand, where every text can be read in it."""
        if self.plan != self.printed_plan and draws_order(find_objective(self.objective)):
            with suppress(UserError):
                return tuple(OrderOverride(tuple(v)) for k, v in parse(settings_of(self.plan)).items() if k == "order")
        return ()

    @property
    def redrawn(self) -> str:
        """A sentence where choices by hand are for this text alone, which training does not take along."""
        keys = {setting.partition("=")[0] for setting in settings_of(self.plan)} - {"order" if self.own_order else ""}
        if not keys or self.plan == self.printed_plan:
            return ""
        return f"In training, what you set by hand ({', '.join(sorted(keys))}) is drawn again for every text."

    @property
    def full(self) -> str:
        """A sentence where a text is as long as may stand here, so that the rest was cut off."""
        if max(len(self.text), len(self.pair)) < LONGEST_TEXT:
            return ""
        return f"A text here has at most {LONGEST_TEXT:,} characters; what came after them was cut off."

    @property
    def unasked(self) -> bool:
        """Whether no answer counts in the loss any more, so that there is nothing left to learn from."""
        made = self.rebuilt
        return bool(self.painted) and made is not None and not made.signal["scored"]

    # a model on the stage

    def teach(self) -> None:
        """Begin to train a small model of the objective on the stage, and one of each beside that has none yet."""
        names, seed = [self.objective, *(name for name in self.compared[:3] if name not in self._small)], self.seed

        def train_all(report: Progress) -> list[StageModel]:
            shares = (lambda done, total, k=k: report(k * total + done, len(names) * total) for k in range(len(names)))
            return [train_small(find_objective(name), seed, share) for name, share in zip(names, shares, strict=True)]

        self.teaching.begin(train_all)

    @property
    def own(self) -> bool:
        """Whether the model was made for this page: it is bundled, or it was trained here."""
        model = self.model
        return model is not None and (bool(model.card) or any(model is small for small in self._small.values()))

    def teach_on(self) -> None:
        """Begin to train a copy of the model on the stage for more steps."""
        if (model := self.model) is not None:
            self.teaching.begin(lambda report: [train_on(model, report)])

    def take(self) -> None:
        """Put the small models on the stage once they are there."""
        made = None if self.teaching.busy else self.teaching.result
        if made is None:
            return
        self.teaching.result = None
        self._small |= {small.learner.objective.name: small for small in made}
        if made[0].learner.objective.name == self.objective:
            self.attach(made[0])

    def attach(self, model: StageModel | None) -> None:
        """Put a model on the stage, or remove it; a text of ours with words that it lacks is replaced by its own."""
        self._alone, self.borrowed = model is None, None
        self.param.update(model=model, inside={}, bundled=self.bundled and model is not None)
        texts = self._texts(stay=True)
        plan, same = self.opening_plan(texts), texts == {name: getattr(self, name) for name in texts}
        stays = same and self.plan != self.printed_plan
        self.change(**texts, plan=self.plan if stays else plan, painted={})
        self._show("forward" if self._answered else "")

    def show_head(self, model: StageModel, text: str, layer: int, head: int) -> None:
        """Put a model on the stage with its objective and a text, and open the weights of one of its heads, from 0."""
        self._prepare(model, text)
        self.layer, self.head = layer, {"layer": layer, "head": head}
        self.attach(model)

    def show_versions(self, versions: Versions, text: str) -> None:
        """Put two versions of a model on the stage with its objective and a text."""
        self._prepare(versions.model, text, compared=[])
        self._versions = versions
        self.attach(versions.model)

    def _prepare(self, model: StageModel, text: str, **values: Any) -> None:
        with suppress(UserError):
            self.objective = find_objective(model.learner.objective.name).name
        self.view = "stage"
        self.change(text=text, settings=turned(model.learner.entry), **values)

    def attach_bundled(self) -> None:
        """Bring the bundled models back after they were removed."""
        self._small.pop(self.objective, None)
        self._alone, self.bundled = False, True
        self.renew()

    @property
    def removed(self) -> bool:
        """Whether no model is here because it was removed, and a bundled one could take its place."""
        return self._alone and self.model is None and self.objective in OBJECTIVES

    def _show(self, frame: str) -> None:
        """Open a frame by its name, also if it was the last one that was asked for."""
        self.frame = ""
        self.frame = frame

    @property
    def trained(self) -> Session | None:
        """The run of the Train page, once it has learned something."""
        session = self.train_session()
        if session is None or session.learner is None or not has_learned(session.learner, session.run.corpus):
            return None
        return session

    def attach_trained(self) -> None:
        """Put a copy of the Train page's model on the stage as it is now; its run goes on."""
        session = self.trained
        if session is None or session.learner is None:
            return
        going = session.state == "running"
        if going:
            session.rest()
        model = StageModel(deepcopy(session.learner), session.run.corpus)
        if going:
            session.start()
        self.attach(model)
        self.borrowed = session

    def enter(self) -> None:
        """The page was opened: the model of the Train page is there where it has learned this very objective."""
        learner = self.trained.learner if self.trained is not None else None
        objective = None if learner is None else learner.objective
        fits = objective is not None and objective.name == self.objective and not objective.mask_overrides
        if fits and (self.model is None or self.model.card) and not self._alone:
            self.attach_trained()

    def look_inside(self) -> None:
        """Show the model's next update instead of the text, or the text again."""
        self.inside = {} if self.inside or self.model is None else self.model.inside()
        self.renew()
        self._show("text" if self.inside else "")

    # the table of the survey

    def table(self) -> Rows:
        """Every row of the survey's table for the text on the stage; of a text of ours, for the survey's sentence."""
        plan = self.plan if self.plan != self.printed_plan else ""
        return _rows(*self._table_texts(), self.seed, plan and self.objective, plan)

    def _table_texts(self) -> tuple[str, str]:
        ours = self.text.strip() in offered("text")
        pair = "" if self.pair.strip() in offered("pair") else self.pair
        return (SENTENCE if ours else self.text if self.text.strip() else LETTERS)[:LONGEST_TEXT], pair[:LONGEST_TEXT]

    def show(self, name: str, beside: Sequence[str] = ()) -> None:
        """Open the stage of a row, and others: the same text, seed and plan; a row that lacks a text has a sample."""
        text, done, refused = self.table()
        made = next((row for row in done if row.objective.name == name), None)
        printed = write(find_objective(name).printed.plan)
        if made is None:
            self._own_text = {"text": self.text, "pair": self.pair} if any(o.name == name for o, _ in refused) else {}
            values = texts_for(name) | {"plan": printed}
        else:
            own = self.plan if name == self.objective and self.plan != self.printed_plan else ""
            as_printed = not self.seed and not self._table_texts()[1] and text == SENTENCE
            values = {"text": made.text, "pair": made.pair, "plan": own or printed * as_printed}
        others = [each for each in beside or self.compared if each != name]
        self.change(objective=name, settings={}, painted={}, compared=others, view="stage", **values)  # one way back

    @param.depends("view", watch=True)
    def _restore_text(self) -> None:
        """Back from a sample, the table is for the person's own text again; the stage of one has its model."""
        if self.view == "table" and self._own_text and self.text.strip() in offered("text"):
            own, self._own_text = self._own_text, {}
            self.change(**own)
        if self.bundled and self.view == "stage" and self.model is None:
            self.renew()

    # edits, undo, the picture and the link

    def edit(self, message: Mapping[str, Any]) -> None:
        edits.act(self, message)

    def _remember(self) -> None:
        """A new scene ends redo; letters that follow each other in one field are one step."""
        scene = {name: getattr(self, name) for name in SCENE}
        past = self._history.values[: self._history.at + 1]
        if past and scene == past[-1]:
            return
        typing = len(past) > 1 and all(
            {k for k in SCENE if a[k] != b[k]} <= {"text", "pair"} for a, b in ((past[-2], past[-1]), (past[-1], scene))
        )
        self._history.add(scene, merged=typing)

    def go_back(self, by: int) -> None:
        """Undo (-1) or redo (1); at either end nothing happens."""
        if (scene := self._history.move(by)) is not None:
            self.change(**scene)

    def record(self, whole: bool = False) -> dict[str, Any]:
        """What the stage draws; `whole`, with the attention of every layer, for a page that cannot ask for another."""
        if self.rebuilt is None:
            return {}
        if self.inside:
            return {**self.inside, "said": self.said}
        answered = self._answers(self.model, self.rebuilt)[0] if whole and self._answered else self._answered
        by_hand = {name: [[i, j] for i, j, _ in cells] for name, cells in self.painted.items()}
        more = {"painted": by_hand, "can": self._history.can, "said": self.said, "link": urlencode(self.query())}
        records = [{**(answered or self.rebuilt.record()), **more}, *self._beside]
        subtitles = [{"subtitle": versus} if versus else {} for versus in self._versus()]
        begin = {"begin": self.tokens} if self.tokens else {}
        return lockstep([record | more | begin for record, more in zip(records, subtitles, strict=True)])

    def _versus(self) -> list[str]:
        """What each of the stages is: a version of the model, or an objective and how it differs from the others."""
        if self._subtitles:
            return self._subtitles
        shown = [self.objective, *(made.objective.name for made in self.companions)]
        return [next(filter(None, map(find_objective(name).versus.get, shown)), "") for name in shown]

    def query(self) -> dict[str, str]:
        return link.written(self)

    def open(self, query: Mapping[str, str]) -> None:
        """Bring a link back; what cannot be rebuilt is said in `trouble`."""
        values, trouble = link.read(query)
        self.objective = values["objective"]
        self._history = History()
        self.change(**values)
        self.trouble = " ".join(filter(None, (self.trouble, trouble)))


@lru_cache(maxsize=8)  # visits begin with the same table; few texts of ended ones stay
def _rows(text: str, pair: str, seed: int, objective: str, plan: str) -> Rows:
    """The table of a text; a plan by hand is for the row of one objective."""
    plans = {objective: parse(settings_of(plan))} if plan else None
    try:
        return text, *table(text, seed or None, plans, pair)
    except UserError:  # a plan that does not fit this text; a text that cannot be read is refused again
        return text, *table(text, seed or None, None, pair)
