"""The state of one person's visit; pages read it and turn it, nothing else keeps state."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import param

from playground.corpora.readers.decode import Progress
from playground.errors import Refusal
from playground.objectives import Objective, find_objective, objectives
from playground.objectives.mask_overrides import Rule, carried, written
from playground.objectives.objective import tell
from playground.objectives.plan_overrides import parse, settings_of, write
from playground.parsing import LARGEST, parse_int, parse_json
from playground.rng import next_seed
from playground.tokenizing.tokenizer import unknown_words
from playground.tokenizing.words import clean, split_words
from playground.trace import frames
from playground.trace.overrides import natural, repainted
from playground.trace.rebuild import SENTENCE, Rebuilt, rebuild, table
from playground.training import Session
from playground.training.old_names import knobs_of
from playground.zoo import entries, entry_named
from widgets.animation.edits import bend, carriers, cells_of, number
from widgets.animation.record import lockstep
from widgets.state.corpus import CorpusStore
from widgets.state.job import Work
from widgets.state.run_task_matrix import ChoosingStore
from widgets.state.sentence_editor import SentenceStore
from widgets.state.stage_model import Lent, train_small
from widgets.state.train import OPENED, OWN_FILE, TrainStore
from widgets.state.transfer import TransferStore

LONGEST_TEXT = 2_000
"""Characters of a sentence on the stage."""

LONGEST_STRETCHED = 400
"""Tokens of a text on the stage; where there are more than 64, a stretch of them is drawn below the whole."""

MOST_LISTED = 6
"""Unknown words that a sentence names."""

WORDS_OF_PLANS = ("replace", "wrong", "marks")
"""The keys of a plan whose values are words."""

LETTERS = "a b c d e f g h"
"""Stands for the words where there is no text."""

NO_RUN = (
    "F forks a training run at the step that is shown; no run is on the stage. In the app, press Train on the Train "
    "page, then F there or with its model on the stage."
)

SMALL_MODEL = (
    "F forks a training run at the step that is shown; these numbers are of a small model that was trained for the "
    "stage alone. Press Train on the Train page, then F there or with its model on the stage."
)

NOTHING_COUNTS = "No answer counts any more, so there is nothing to train; click one of them to have it count again."

NO_TEXT = "There is no text yet, so letters stand for its words; type a sentence, or take one of the samples."

STORY = "Rosa baked the bread. Then her brother sold it. In the evening they danced."
"""For objectives that need several sentences."""

SECONDS = {
    "pair": (SENTENCE, "We will walk home together"),
    "translation": ("How are you", "Comment vas-tu"),
}
"""The two texts with which an objective opens, by what it needs; the translations are the survey's."""


def _ours(name: str) -> set[str]:
    """The texts ("text") or second texts ("pair") that the playground itself offers."""
    examples = ((o.printed.text, o.printed.pair) for o in objectives().values() if o.printed.text and not o.row)
    texts, pairs = zip(*SECONDS.values(), *examples, (SENTENCE, ""), strict=True)
    printed = {getattr(o.printed, name) for o in objectives().values()} - {""}
    return {*(texts if name == "text" else pairs), *printed}


SCENE = ("objective", "text", "pair", "seed", "settings", "plan", "painted", "beside", "same_plan")
"""What makes a scene: what undo brings back and what a link holds."""

MOST_STEPS_BACK = 200

Rows = tuple[str, list[Rebuilt], list[tuple[Objective, str]]]
"""The survey's table: the text, the rows that could be made, and the objectives that the text cannot serve."""

TOPMOST = 1_000
"""Stands for the last layer of any model; only the attention of one layer travels to the screen."""


class StageStore(param.Parameterized):
    """What is on the stage: an objective, a text, a seed, knobs, a plan and a mask by hand, and what they rebuild to.

    `beside` names up to three objectives that are shown in step with this one, on the same text, with the same plan
    where they share its keys. With a `model` on the stage its numbers are shown; `inside` shows its coming update;
    `gave_way` says that a text was replaced for it.
    `frame` and `tokens` (as in "65" or "65-128") say where the stage opens; `said` is what a key has to say. `view` is
    "stage", or "table" for the survey's whole table on the same text.
    """

    objective = param.String("MLM")
    text = param.String(SENTENCE)
    pair = param.String("")
    seed = param.Integer(0, bounds=(0, LARGEST))
    settings = param.Dict({})
    plan = param.String("")
    painted = param.Dict({})
    beside = param.List([])
    same_plan = param.Boolean(True)
    frame = param.String("")
    tokens = param.String("")
    view = param.String("stage")
    rebuilt = param.Parameter(None)
    companions = param.List([])
    trouble = param.String("")
    said = param.String("")
    model = param.Parameter(None)
    inside = param.Dict({})
    silent = param.String("")
    gave_way = param.String("")

    def __init__(self, **values: Any) -> None:
        self._opening = False
        self.teaching = Work("training")
        self._small: dict[str, Lent] = {}
        self._samples: dict[str, set[str]] = {"text": set(), "pair": set()}
        self._layer = TOPMOST
        self._tabled: tuple[Any, Any] = (None, None)
        self._told: dict[str, Any] = {}
        self._told_beside: list[dict[str, Any]] = []
        self.lender: Callable[[], Session | None] = lambda: None
        self.trainer: Callable[[str, Mapping[str, Any]], None] = lambda name, knobs: None
        self.forker: Callable[[], str] = lambda: NO_RUN
        self.borrowed: Session | None = None
        self._alone = False
        self._past: list[dict[str, Any]] = []
        self._at = -1
        self._plain: Rebuilt | None = None
        self._own_text: dict[str, str] = {}
        super().__init__(**values)
        self._other_objective()

    @param.depends("objective", watch=True)
    def _other_objective(self) -> None:
        """A new objective begins with its row of the survey's table, where the text is the survey's."""
        if self._opening:
            return
        try:
            named = find_objective(self.objective).name
        except Refusal as refusal:
            self.objective = "MLM"
            self.trouble = str(refusal)  # only now: a new objective begins without one
            return
        if named != self.objective:  # a sum as it was typed
            self.objective = named
            return
        self.param.update(inside={}, model=self._small.get(self.objective, self.model))
        texts = self._texts()
        plan = self._opening_plan(texts)
        others = [name for name in self.beside if name != self.objective]
        self._set(**texts, settings={}, plan=plan, painted={}, beside=others)

    @property
    def paired(self) -> bool:
        """Whether the objective, or one beside it, asks for a second text."""
        return any(set(SECONDS) & set(find_objective(name).needs) for name in (self.objective, *self.beside))

    def _texts(self, stay: bool = False) -> dict[str, str]:
        """The texts that fit the objective: what the person typed stays, one of ours gives way to the right one.

        Where they `stay`, only the sample of an earlier model gives way. Of those, one of ours with words that the
        model does not know gives way to a sample of the model's own text, and `gave_way` says so.
        """
        right = _right_texts(self.objective)
        gives = {name: self._samples[name] | (set() if stay else _ours(name)) for name in right}
        texts = {n: words if getattr(self, n).strip() in gives[n] else getattr(self, n) for n, words in right.items()}
        ours = {n: words for n, words in texts.items() if words.strip() in _ours(n) | self._samples[n]}
        model, unknown = self.model, self._unknown_words(ours)
        sample = model.sample(find_objective(self.objective)) if model is not None and unknown else None
        self.gave_way = ""
        if model is None or sample is None:
            return texts
        samples = {name: words for name, words in zip(right, sample, strict=True) if name in ours}
        for name, words in samples.items():
            self._samples[name].add(words)
        self.gave_way = (
            f"{model.name} does not know {_listed(unknown)}, so a held-out text of {model.corpus.name} took the place "
            "of the one that was here."
        )
        return texts | samples

    def _unknown_words(self, texts: Mapping[str, str]) -> list[str]:
        """The words that the model on the stage does not know, of the texts that the objectives there read."""
        read = [words for name, words in texts.items() if name == "text" or self.paired]
        return self._unknown(split_words(clean(" ".join(read))))

    def _unknown(self, words: Sequence[str]) -> list[str]:
        return [] if self.model is None else unknown_words(self.model.tokenizer, words)

    def _opening_plan(self, texts: Mapping[str, str]) -> str:
        """The printed plan where the text is ours and the model on the stage knows the words of the plan, else none."""
        if texts["text"].strip() not in _ours("text"):
            return ""
        printed = find_objective(self.objective).printed.plan
        unknown = self._unknown([word for key in WORDS_OF_PLANS for word in printed.get(key, ())])
        if unknown and self.model is not None:
            said = f"{self.model.name} does not know {_listed(unknown)} of the printed plan, so it is sampled."
            self.gave_way = f"{self.gave_way} {said}".strip()
        return "" if unknown else self._printed()

    @param.depends("text", "pair", "seed", "settings", watch=True)
    def _other_chance(self) -> None:
        """The printed plan belongs to the printed row; whoever turns something else wants to see it act."""
        if self._opening:
            return
        self.inside = {}
        self._set(plan="" if self.plan == self._printed() else self.plan)

    @param.depends("text", "pair", watch=True)
    def _other_text(self) -> None:
        """What was painted by hand was painted for the old text, and what gave way to it is of no interest."""
        if self._opening:
            return
        self.gave_way = ""
        if self.painted:
            self._set(painted={})

    def _printed(self) -> str:
        return write(find_objective(self.objective).printed.plan)

    def _set(self, **values: Any) -> None:
        """Change several values at once, with one picture at the end."""
        self._opening = True
        try:
            self.param.update(**values)
        finally:
            self._opening = False
        self.renew()

    @param.depends("plan", "painted", "beside", "same_plan", watch=True)
    def renew(self) -> None:
        """Rebuild the text; what cannot be is a sentence, and the last good picture stays."""
        if self._opening:
            return
        try:
            plain = self._rebuild(parse(settings_of(self.plan)))
            made = repainted(plain, self.painted) if self.painted else plain
            companions, lacking = self._companions(plain)
        except Refusal as refusal:
            self.trouble = str(refusal)
            return
        self._plain = plain
        self._remember()
        self.said = ""
        self._hear(made, companions)
        self.param.update(rebuilt=made, companions=companions, trouble=lacking if self.text.strip() else NO_TEXT)

    def _hear(self, made: Rebuilt, companions: Sequence[Rebuilt]) -> None:
        """What the models make of what is on the stage; one that cannot answer says why."""
        self._told, silent = _answered(self.model, made, (self._layer,))
        beside = [_answered(self._voice(each.objective.name), each) for each in companions]
        self._told_beside = [told or each.record() for (told, _), each in zip(beside, companions, strict=True)]
        self.silent = silent or next(filter(None, (why for _, why in beside)), "")

    def _voice(self, name: str) -> Lent | None:
        """Whose numbers stand beside: a small model of that very objective where there is one, else the same model."""
        return None if self.model is None else self._small.get(name, self.model)

    # what a first visitor may do next

    @property
    def other(self) -> str:
        """The objective that shows best what the one on the stage does: both ways beside left to right."""
        return "MLM" if self.objective == "LM" else "LM"

    def compare(self) -> None:
        """The same sentence under the other objective, in step; where some stand beside, the one alone again."""
        self.beside = [] if self.beside else [self.other]

    def train_this(self) -> None:
        """Train the objective on the stage on the Train page, with its knobs as they are."""
        try:
            self.trainer(self.objective, self.settings)
        except Refusal as refusal:
            self.trouble = str(refusal)

    def two_streams(self) -> None:
        """The next lesson: an order of prediction, and why it needs a second stream."""
        self._set(beside=[])
        self.objective = "PLM"
        self._show("visibility")

    @property
    def sample(self) -> tuple[str, str] | None:
        """Two texts of ours that the objective can use, where it says that it needs others than those on the stage."""
        if not self.trouble.startswith(f"{self.objective} needs "):
            return None
        right = _right_texts(self.objective)
        offered = ((right["text"], right["pair"]), (STORY, ""))
        return next((texts for texts in offered if self._suit(*texts)), None)

    def _suit(self, text: str, pair: str) -> bool:
        try:
            rebuild(self.objective, text, pair=pair)
        except Refusal:
            return False
        return True

    def take_sample(self) -> None:
        """Put texts on the stage that the objective can use."""
        if (texts := self.sample) is not None:
            plan = self._printed() if texts[0] in _ours("text") else ""
            self._set(text=texts[0], pair=texts[1], plan=plan, painted={})

    # the mask by hand, trained

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What is painted, as rules for every text; of a mixture, for the part that is on the stage."""
        part = 0 if self._plain is None else tell(self._plain.steps).get("part", 0)
        return carried(self.painted, part)

    @property
    def full(self) -> str:
        """A sentence where a text is as long as may stand here, so that what came after was cut off."""
        if max(len(self.text), len(self.pair)) < LONGEST_TEXT:
            return ""
        return f"A text here has at most {LONGEST_TEXT:,} characters; what came after them was cut off."

    @property
    def unasked(self) -> bool:
        """Whether a person let every answer go, so that there is nothing left to learn from."""
        made = self.rebuilt
        return bool(self.painted) and made is not None and not made.signal["graded"]

    def train_anyway(self) -> None:
        """Train this objective on the Train page with what is painted, whatever the leak check says."""
        if self.unasked:
            self.trouble = NOTHING_COUNTS
            return
        try:
            self.trainer(find_objective(self.objective).painted(written(self.rules)).name, self.settings)
        except Refusal as refusal:
            self.trouble = str(refusal)

    # a model on the stage

    def teach(self) -> None:
        """Begin to train a small model of the objective on the stage, and one of each beside that has none yet."""
        names, seed = [self.objective, *(name for name in self.beside[:3] if name not in self._small)], self.seed

        def train_all(hear: Progress) -> list[Lent]:
            shares = (lambda done, total, k=k: hear(k * total + done, len(names) * total) for k in range(len(names)))
            return [train_small(find_objective(name), seed, share) for name, share in zip(names, shares, strict=True)]

        self.teaching.begin(train_all)

    def take(self) -> None:
        """Put the small models on the stage once they are there."""
        made = None if self.teaching.busy else self.teaching.result
        if made is None:
            return
        self.teaching.result = None
        self._small |= {small.learner.entry.name: small for small in made}
        if made[0].learner.entry.name == self.objective:
            self.lend(made[0])

    def lend(self, model: Lent | None) -> None:
        """Put a model on the stage, or take it away; a text of ours with words that it lacks gives way to its own."""
        self._alone, self.borrowed = model is None, None
        self.param.update(model=model, inside={})
        texts = self._texts(stay=True)
        plan, same = self._opening_plan(texts), texts == {name: getattr(self, name) for name in texts}
        stays = same and self.plan != self._printed()
        self._set(**texts, plan=self.plan if stays else plan, painted={})
        self._show("forward" if self._told else "")

    def _show(self, frame: str) -> None:
        """Open a frame by its name, also if it was the last one that was asked for."""
        self.frame = ""
        self.frame = frame

    @property
    def trained(self) -> Session | None:
        """The run of the Train page, once it has learned something."""
        session = self.lender()
        return session if session is not None and session.learner is not None and session.learner.step else None

    def borrow(self) -> None:
        """Put the model of the Train page on the stage as it is now; its run goes on."""
        session = self.trained
        if session is None or session.learner is None:
            return
        going = session.state == "running"
        if going:
            session.rest()
        model = Lent.copied(session.learner, session.run.corpus)
        if going:
            session.start()
        self.lend(model)
        self.borrowed = session

    def enter(self) -> None:
        """Somebody comes to the stage: the model of the Train page is there where it learned this very objective."""
        learner = self.trained.learner if self.trained is not None else None
        fits = learner is not None and learner.objective.name == self.objective
        if fits and self.model is None and not self._alone:
            self.borrow()

    def look_inside(self) -> None:
        """Show the model's coming update instead of the text, or the text again."""
        made = {} if self.inside or self.model is None else self.model.inside()
        self.inside = made
        self.renew()
        self._show("text" if made else "")

    def _rebuild(self, wanted: Mapping[str, Any], name: str = "") -> Rebuilt:
        settings = {} if name else self.settings
        objective, model = find_objective(name or self.objective), self._voice(name) if name else self.model
        return rebuild(
            objective if model is None else model.ready(objective),
            self.text[:LONGEST_TEXT] if self.text.strip() else LETTERS,
            pair=self.pair[:LONGEST_TEXT] if self.paired else "",
            seed=self.seed,
            settings=settings,
            wanted=wanted,
            tokenizer=None if model is None else model.tokenizer,
            longest=LONGEST_STRETCHED,
        )

    def _companions(self, main: Rebuilt) -> tuple[list[Rebuilt], str]:
        """The objectives beside, with the shared part of the plan; one that cannot take this text says why."""
        plan, made, lacking = tell(main.steps), [], ""
        for name in self.beside[:3]:
            keys = find_objective(name).plan_keys if self.same_plan else ()
            try:
                made.append(self._rebuild({key: value for key, value in plan.items() if key in keys}, name))
            except Refusal as refusal:
                lacking = str(refusal)
        return made, lacking

    # what a person does on the stage

    def edit(self, message: Mapping[str, Any]) -> None:
        """One message of the stage: an edit of the plan or the mask, the dice, a step back, a fork, an objective."""
        if message.get("do") == "fork":
            self.said = self.forker()
        elif message.get("do") == "compare":
            self.compare()
        elif not self.inside:
            self._edit(message)

    def _edit(self, message: Mapping[str, Any]) -> None:
        try:
            match message.get("do"):
                case "roll":
                    self._set(seed=next_seed(self.seed), plan="")
                case "undo" | "redo" as way:
                    self.go_back(-1 if way == "undo" else 1)
                case "paint":
                    self._paint(message)
                case "set":
                    self._turn(message)
                case "unpaint":
                    self.painted = {}
                case "reset":
                    plan = self._opening_plan({"text": self.text})
                    self._set(settings={}, plan=plan, painted={})
                case "objective":
                    self.objective = _first_ten()[(number(message, "to") - 1) % 10]
                case "look":
                    self._layer = number(message, "layer")
                    self.renew()
                case _:
                    self._bend(message)
        except Refusal as refusal:
            self.trouble = str(refusal)

    def _bend(self, message: Mapping[str, Any]) -> None:
        made = self._plain
        if made is None:
            return
        plan, everyone = tell(made.steps), made.objective.proposes
        words = parse(settings_of(self.plan)).get("replace", [])
        typed = dict(zip(carriers(plan, everyone), words, strict=False))
        bent = bend(plan, message, typed, everyone)
        drawn = tell(self._rebuild(bent.plan).steps) if bent.typed else {}
        self.plan = write(bent.complete(drawn, everyone))

    def _turn(self, message: Mapping[str, Any]) -> None:
        """A knob turned on the stage; the plan of the picture stays, so that nothing else changes."""
        made, name = self._plain, str(message.get("knob"))
        if made is None:
            return
        settings = {**self.settings, name: message.get("to")}
        find_objective(self.objective).turn(settings)
        self._set(settings=settings, plan=write(tell(made.steps)))

    def _paint(self, message: Mapping[str, Any]) -> None:
        """Cells by hand; one that is painted as the objective has it is no longer by hand."""
        name, made = str(message.get("matrix")), self._plain
        if name.endswith(frames.ABOVE):
            raise Refusal("Paint the matrices of the first layer; those above follow the turned order.")
        cells = natural(made.example).get(name, []) if made is not None else []
        mine = {(i, j): is_open for i, j, is_open in self.painted.get(name, [])}
        for cell in cells_of(message):
            reader, read, is_open = (number(dict(enumerate(cell)), k) for k in range(3))
            if not (0 <= reader < len(cells) and 0 <= read < len(cells[0])):
                raise Refusal(f"There is no cell {reader + 1}.{read + 1} in the matrix {name!r} to paint.")
            mine[reader, read] = bool(is_open)
        left = [(i, j, is_open) for (i, j), is_open in sorted(mine.items()) if bool(cells[i][j]) != is_open]
        others = {key: cells for key, cells in self.painted.items() if key != name}
        self.painted = others | ({name: left} if left else {})

    # the table of the survey

    def table(self) -> Rows:
        """Every row of the survey's table for the text on the stage; of a text of ours, for the survey's sentence."""
        plan = self.plan if self._mine() else ""
        asked = (*self._table_text(), self.seed, plan and self.objective, plan)
        if asked != self._tabled[0]:
            self._tabled = asked, _rows(*asked)
        return self._tabled[1]

    def _table_text(self) -> tuple[str, str]:
        ours = self.text.strip() in _ours("text")
        pair = "" if self.pair.strip() in _ours("pair") else self.pair
        return (SENTENCE if ours else self.text if self.text.strip() else LETTERS)[:LONGEST_TEXT], pair[:LONGEST_TEXT]

    def _mine(self) -> bool:
        """Whether the plan is a person's own."""
        return self.plan != self._printed()

    def show(self, name: str) -> None:
        """Open the stage of a row: the same text, seed and plan; a row that lacks a text opens with a sample."""
        text, done, refused = self.table()
        made = next((row for row in done if row.objective.name == name), None)
        objective = find_objective(name)
        if made is None:
            self._own_text = {"text": self.text, "pair": self.pair} if any(o.name == name for o, _ in refused) else {}
            values = _right_texts(name) | {"plan": write(objective.printed.plan)}
        else:
            kept = self.plan if name == self.objective and self._mine() else ""
            printed = not self.seed and not self._table_text()[1] and text == SENTENCE
            values = {"text": made.text, "pair": made.pair, "plan": kept or (write(objective.printed.plan) * printed)}
        others = [each for each in self.beside if each != name]
        self._set(objective=name, settings={}, painted={}, beside=others, view="stage", **values)  # one way back

    @param.depends("view", watch=True)
    def _back(self) -> None:
        """Whoever looked at a sample finds the own text again."""
        if self.view == "table" and self._own_text and self.text.strip() in _ours("text"):
            own, self._own_text = self._own_text, {}
            self._set(**own)

    # back and forth

    def _scene(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SCENE}

    def _remember(self) -> None:
        """A new scene ends the way forth; letters that follow each other in one field are one step."""
        scene, past = self._scene(), self._past[: self._at + 1]
        if past and scene == past[-1]:
            return
        typing = len(past) > 1 and all(
            {k for k in SCENE if a[k] != b[k]} <= {"text", "pair"} for a, b in ((past[-2], past[-1]), (past[-1], scene))
        )
        self._past = [*(past[:-1] if typing else past), scene][-MOST_STEPS_BACK:]
        self._at = len(self._past) - 1

    def go_back(self, steps: int) -> None:
        """Undo (-1) or redo (1); at either end nothing happens."""
        at = self._at + steps
        if 0 <= at < len(self._past):
            self._at = at
            self._set(**self._past[at])

    # what is seen, and the link that brings it back

    def record(self, whole: bool = False) -> dict[str, Any]:
        """What the stage draws: the frames, what is painted, which way one can go back, and the link.

        The `whole` record has the attention of every layer, for a page that cannot ask for another.
        """
        if self.rebuilt is None:
            return {}
        by_hand = {name: [[i, j] for i, j, _ in cells] for name, cells in self.painted.items()}
        can = {"undo": self._at > 0, "redo": self._at + 1 < len(self._past)}
        if self.inside:
            return {**self.inside, "said": self.said}
        told = self.model.answers(self.rebuilt) if whole and self._told else self._told
        more = {"painted": by_hand, "can": can, "said": self.said, "link": urlencode(self.query())}
        main = {**(told or self.rebuilt.record()), **more}
        records = [main, *self._told_beside]
        return lockstep([{**record, "begin": self.tokens} for record in records] if self.tokens else records)

    def query(self) -> dict[str, str]:
        """The state as a link: what differs from the way the objective opens, also where it is 0, false or empty."""
        fresh = {**_right_texts(self.objective), "seed": 0}
        ours = self.text.strip() in _ours("text")
        fresh |= {"objective": "MLM", "plan": self._printed() if ours else "", "same_plan": True}
        told = {name: str(getattr(self, name)) for name in fresh if getattr(self, name) != fresh[name]}
        knobs = find_objective(self.objective).knobs
        turned = {k: v for k, v in self.settings.items() if k in knobs and v != knobs[k].default}
        told |= {f"set.{name}": json.dumps(value) for name, value in turned.items()}
        told |= {f"paint.{name}": _write_cells(cells) for name, cells in self.painted.items()}
        told |= {"view": "table"} if self.view == "table" else {}
        told |= {"tokens": self.tokens} if self.tokens else {}
        return told | ({"beside": ",".join(self.beside)} if self.beside else {})

    def open(self, query: Mapping[str, str]) -> None:
        """Bring a link back, also an old one; what cannot be read is left out, and what cannot be rebuilt is said."""
        trouble = ""
        try:
            objective = find_objective(query.get("objective", "MLM"))
        except Refusal as refusal:
            objective, trouble = find_objective("MLM"), str(refusal)
        self.objective = objective.name
        values: dict[str, Any] = {name: query[name] for name in ("text", "pair", "plan", "frame") if name in query}
        if "text" in values and "plan" not in values and values["text"].strip() not in _ours("text"):
            values["plan"] = ""
        with suppress(ValueError):
            values["seed"] = parse_int(query.get("seed", ""), *self.param.seed.bounds)
        settings = {k[4:]: _value(v) for k, v in query.items() if k.startswith("set.")}
        values["settings"] = knobs_of(objective, settings)
        values["painted"] = {k[6:]: _read_cells(v) for k, v in query.items() if k.startswith("paint.")}
        known = objectives()
        values["beside"] = [name for name in query.get("beside", "").split(",") if name in known][:3]
        values["same_plan"] = query.get("same_plan") != "False"
        tokens = query.get("tokens", "")
        values["tokens"] = tokens if re.fullmatch(r"[0-9]{1,4}(-[0-9]{1,4})?", tokens) else ""
        values["view"] = "table" if query.get("view") == "table" else "stage"
        self._past, self._at = [], -1
        self._set(**values)
        self.trouble = self.trouble or trouble


def _first_ten() -> list[str]:
    """The objectives that the keys 1 to 9 and 0 choose: the first rows of the survey's table."""
    return [o.name for o in objectives().values() if o.row][:10]


def _rows(text: str, pair: str, seed: int, objective: str, plan: str) -> Rows:
    """The table of a text; a plan by hand is for the row of one objective."""
    plans = {objective: parse(settings_of(plan))} if plan else None
    try:
        return text, *table(text, seed or None, plans, pair)
    except Refusal:  # a plan that does not fit this text; a text that cannot be read is refused again
        return text, *table(text, seed or None, None, pair)


def _answered(model: Lent | None, made: Rebuilt, layers: tuple[int, ...] | None = None) -> tuple[dict[str, Any], str]:
    """What a model makes of an example, and why it makes nothing of it."""
    try:
        return ({} if model is None else model.answers(made, layers)), ""
    except Refusal as refusal:
        return {}, str(refusal)


def _right_texts(objective: str) -> dict[str, str]:
    """The two texts with which an objective opens: its own example, else those that fit what it needs."""
    own = find_objective(objective)
    if own.printed.text and not own.row:
        return {"text": own.printed.text, "pair": own.printed.pair}
    need = next((n for n in find_objective(objective).needs if n in SECONDS), "")
    return dict(zip(("text", "pair"), SECONDS.get(need, (SENTENCE, "")), strict=True))


def _listed(words: Sequence[str]) -> str:
    """Some words as they stand in a sentence, the first few where they are many."""
    some = [f"“{word}”" for word in words[:MOST_LISTED]]
    if len(words) > MOST_LISTED:
        return f"{', '.join(some)} and {len(words) - MOST_LISTED} more words"
    return f"the word{'s' * (len(some) > 1)} " + " and ".join(filter(None, [", ".join(some[:-1]), some[-1]]))


def _value(said: str) -> Any:
    try:
        return parse_json(said)
    except ValueError:
        return said


def _write_cells(cells: Iterable[tuple[int, int, bool]]) -> str:
    """Painted cells as `1.2+` (open) and `3.1-` (closed), reader and read counted from 1."""
    return ",".join(f"{i + 1}.{j + 1}{'+' if is_open else '-'}" for i, j, is_open in cells)


def _read_cells(said: str) -> list[tuple[int, int, bool]]:
    found = re.findall(r"(\d{1,4})\.(\d{1,4})([ +-])", said)  # a plus sign in a link may arrive as a space
    return [(int(i) - 1, int(j) - 1, sign != "-") for i, j, sign in found]


KEPT, UNTRAINED = "kept", "entry"
"""What stands before the name of a base: a run that is kept, or an entry of the zoo that is trained first."""

MOST_BASES = 50
"""Kept runs that are offered as a base; older ones are opened on the Train page."""


class Store(param.Parameterized):
    """One visit: which page is open, what was done across pages, and the stores of the pages."""

    page = param.Integer(0)
    told = param.String("")

    def __init__(self, runs: Path | None = None, **values: Any) -> None:
        super().__init__(**values)
        self.stage, self.corpus, self.transfer = StageStore(), CorpusStore(), TransferStore(runs)
        self.train, self.sentence, self.choosing = TrainStore(runs), SentenceStore(), ChoosingStore(runs)
        self.stage.lender = lambda: self.train.session
        self.stage.trainer, self.stage.forker = self.bring, self.fork
        self._kept_base: tuple[str, Session | None] = "", None
        self.transfer.param.watch(self._other_base, "base")

    def slow(self) -> None:
        """Pause the run of the Train page and show its coming update, stage by stage, on the Stage page."""
        learner = self.train.rest()
        if learner is None:
            return
        if learner.objective.name in objectives():
            self.stage.objective = learner.objective.name
        self.stage.borrow()
        self.stage.look_inside()
        self.page = 0
        self.told = (
            f"{self.train.name_of_run or learner.entry.name} is paused at step {learner.step}; this is its coming "
            "update. On the Train page Resume goes on."
        )

    def bring(self, name: str, knobs: Mapping[str, Any]) -> None:
        """Train an objective of the Stage page on the Train page, on the text chosen there if it suits.

        The sentence of the Stage is watched there; one of ours only where the corpus knows its words.
        """
        train, entry = self.train, entry_named(name)
        train.brought[name] = knobs
        self._carry_texts()
        self._train(lambda: train.begin_with(entry))

    def train_on_opened(self) -> None:
        """Train the model of the Train page on the corpus of the Corpus page."""
        self.train.param.update(opened=self.corpus.corpus, corpus=OPENED)
        self._train(self.train.begin)

    def _train(self, begin: Callable[[], Session | None]) -> None:
        """Go to the Train page, begin there and say what happens; a run that was going on is stopped and kept."""
        train, before = self.train, self.train.session
        going = before is not None and before.state in ("running", "paused")
        self.page = 1  # first the page, which is quick while nothing trains
        if (session := begin()) is None:
            return
        session.start()
        stopped = f" The run before it was stopped{' and is kept' * (train.runs is not None)}." if going else ""
        self.told = f"{session.run.entry.name} trains on {session.run.corpus.name}.{stopped}"

    def _carry_texts(self) -> None:
        """The texts of the Stage as those that are watched in training."""
        stage, train = self.stage, self.train
        second = stage.pair if stage.paired else ""
        if stage.text.strip() and stage.text.strip() not in _ours("text"):
            train.param.update(sentence=stage.text, pair=second)
        train.stage_texts = (stage.text, second)

    @property
    def base(self) -> Session | None:
        """The session whose model is fine-tuned; none where the entry that was chosen is not trained yet."""
        kind, _, name = self.transfer.base.partition(":")
        session = self.train.session
        if kind == KEPT and name != self.train.name_of_run:
            return self._base_at_rest(name)
        wrong = kind == UNTRAINED and (session is None or session.run.entry.name != name)
        return None if wrong else session

    def _base_at_rest(self, name: str) -> Session | None:
        """A kept run, read once for every choice; one that cannot be read says why."""
        if self._kept_base[0] != name:
            self._kept_base = name, None
            try:
                self._kept_base = name, self.train.at_rest(name)
                self.transfer.trouble = ""
            except Refusal as refusal:
                self.transfer.trouble = str(refusal)
        return self._kept_base[1]

    def _other_base(self, *_event: object) -> None:
        """An entry that is to be trained is the one that the Train page trains; a kept run is read anew."""
        kind, _, name = self.transfer.base.partition(":")
        self._kept_base = "", None
        if kind == UNTRAINED:
            self.train.entry = name

    def bases(self) -> dict[str, str]:
        """What can be fine-tuned, by what it is called on screen: runs that are kept, the newest first, and the zoo."""
        kept = [run for run in reversed(self.train.kept()) if run.out and run.state != "running"][:MOST_BASES]
        runs = {f"{run.shown}, step {run.step:,}": f"{KEPT}:{run.name}" for run in kept}
        zoo = {f"{name}, to be trained": f"{UNTRAINED}:{name}" for name in entries()}
        return {"the run on the Train page": "", **runs, **zoo}

    def train_base(self) -> None:
        """Train a base on texts of the task that is compared, so that it knows their words."""
        text = self.transfer.text_for_base
        own = {"upload": text} if isinstance(text, Path) else {}
        self.train.param.update(corpus=OWN_FILE if own else text, **own)
        self.train_one()

    def train_one(self) -> None:
        """Train what is chosen on the Train page, as the base of what is compared."""
        if (session := self.train.begin()) is not None:
            self.take_run_on_screen()
            self.transfer.param.update(trouble="", unknown_words=False)
            session.start()

    def take_run_on_screen(self) -> None:
        """Whatever kept run was the base: the one on the Train page is it from now on."""
        if self.transfer.base.startswith(f"{KEPT}:"):
            self.transfer.base = ""

    def fork(self) -> str:
        """The run goes on as a run of its own from the step that is shown, on the Train page; says why it cannot.

        On the Stage page this is the step of the model that was brought there, also if its run has gone on since.
        """
        session, model = self.train.session, self.stage.model
        if self.page == 0 and (session is None or self.stage.borrowed is not session):
            return NO_RUN if model is None else SMALL_MODEL
        copied = model.learner if self.page == 0 and model is not None else None
        learner = copied or (session.learner if session is not None else None)
        if learner is None:
            return "There is no run to fork yet; press Train first."
        over = learner.step >= learner.entry.recipe.steps
        more = {"steps": learner.step + learner.entry.recipe.steps} if over else {}
        if self.train.fork(more, learner=copied) is None:
            return self.train.trouble
        self.page = 1
        name = self.train.name_of_run
        self.told = f"Forked at step {learner.step}: {name} goes on from there; the run it left is kept."
        return ""

    @param.depends("page", watch=True)
    def _enter(self) -> None:
        if self.page == 0:
            self.stage.enter()

    def close(self) -> None:
        """End everything that runs and remove what was uploaded."""
        self.stage.teaching.end()
        self.corpus.end()
        self.train.leave()
        self.transfer.end()
        self.transfer.forget()
        self.sentence.end()
        self.choosing.end()
        self.train.uploads.remove()
