"""The state of one person's visit; pages read it and turn it, nothing else keeps state."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import param
import torch
from torch import Tensor

from playground import frames
from playground.corpora import Corpus, Table, from_pasted, from_table, open_corpus, read_table, read_translations
from playground.corpora.decode import Progress, WrongEncoding
from playground.corpora.source import TABLES
from playground.objectives import Objective, find_objective, objectives
from playground.objectives.objective import tell
from playground.objectives.paint import repainted
from playground.objectives.rebuild import SENTENCE, Rebuilt, rebuild, table
from playground.objectives.see.painted import Painted, carried, written
from playground.objectives.wishes import parse, write
from playground.refusal import Refusal
from playground.seeds import derive
from playground.tokenizing import Tokenizer, merge_steps, train
from playground.tokenizing.merging import Merger
from playground.tokenizing.vocabulary import SEPARATOR
from playground.training import Session
from playground.zoo import entry_named
from widgets.comparing import TransferStore
from widgets.lent import Lent, train_small
from widgets.scene.edits import bend, carriers, number
from widgets.scene.hosts import lockstep
from widgets.training import LONGEST_PASTE, OWN_FILE, OWN_TEXT, TrainStore
from widgets.work import Work

LONGEST_TEXT = 2_000
"""Characters of a sentence on the stage."""

LARGEST_FILE = 20_000_000
"""Bytes of an uploaded file; larger ones go through the command line, which streams them."""

LETTERS = "a b c d e f g h"
"""Stands for the words where a visit begins without a text."""

NO_TEXT = "There is no text yet, so letters stand for its words; type a sentence, or take one of the samples."

SECONDS = {
    "pair": (SENTENCE, "We will walk home together"),
    "translation": ("How are you", "Comment vas-tu"),
}
"""The two texts with which an objective opens, by what it needs; the translations are the survey's."""

NO_LABEL = "(none)"
"""Stands for "no column is the label"."""

LONGEST_SHEET = 200
"""Words of one sheet; a longer document has several."""

READ_TO_CUT = 100_000
"""Tokens of a corpus from which the Corpus page learns a vocabulary; more would only take longer."""

LONGEST_CUT, LONGEST_MERGE = 600, 240
"""Characters that are drawn in pieces, and characters whose merges can be stepped through."""

Wish = tuple[str, int, bool]
"""A kind of vocabulary, its size, and whether letters, digits and marks may be merged with each other."""


def _ours(name: str) -> set[str]:
    """The texts ("text") or second texts ("pair") that the playground itself offers."""
    examples = ((o.printed.text, o.printed.pair) for o in objectives().values() if o.printed.text and not o.row)
    texts, pairs = zip(*SECONDS.values(), *examples, (SENTENCE, ""), strict=True)
    printed = {getattr(o.printed, name) for o in objectives().values()} - {""}
    return {*(texts if name == "text" else pairs), *printed}


SCENE = ("objective", "text", "pair", "seed", "settings", "plan", "painted", "beside", "same_plan")
"""What makes a scene: what undo brings back and what a link holds."""

MOST_STEPS_BACK = 200

TOPMOST = 1_000
"""Stands for the last layer of any model; only the attention of one layer travels to the screen."""


class StageStore(param.Parameterized):
    """What is on the stage: an objective, a text, a seed, knobs, a plan and a mask by hand, and what they rebuild to.

    `beside` names up to three objectives that are shown in step with this one, on the same text, with the same plan
    where they share its keys. With a `model` on the stage its numbers are shown; `inside` shows its coming update.
    `view` is "stage", or "table" for the survey's whole table on the same text.
    """

    objective = param.String("MLM")
    text = param.String(SENTENCE)
    pair = param.String("")
    seed = param.Integer(0)
    settings = param.Dict({})
    plan = param.String("")
    painted = param.Dict({})
    beside = param.List([])
    same_plan = param.Boolean(True)
    frame = param.String("")
    view = param.String("stage")
    rebuilt = param.Parameter(None)
    companions = param.List([])
    trouble = param.String("")
    model = param.Parameter(None)
    inside = param.Dict({})
    silent = param.String("")

    def __init__(self, **values: Any) -> None:
        self._opening = False
        self.teaching = Work("training")
        self._small: dict[str, Lent] = {}
        self._samples: dict[str, set[str]] = {"text": set(), "pair": set()}
        self._layer = TOPMOST
        self._told: dict[str, Any] = {}
        self._told_beside: list[dict[str, Any]] = []
        self.lender: Callable[[], Session | None] = lambda: None
        self.trainer: Callable[[str, Mapping[str, Any]], None] = lambda name, knobs: None
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
            printed = self._printed()
        except Refusal as refusal:
            self.param.update(objective="MLM", trouble=str(refusal))
            return
        self.param.update(inside={}, model=self._small.get(self.objective, self.model))
        texts = self._texts()
        plan = printed if texts["text"].strip() in _ours("text") else ""
        others = [name for name in self.beside if name != self.objective]
        self._set(**texts, settings={}, plan=plan, painted={}, beside=others)

    @property
    def paired(self) -> bool:
        """Whether the objective, or one beside it, asks for a second text."""
        return any(set(SECONDS) & set(find_objective(name).needs) for name in (self.objective, *self.beside))

    def _texts(self) -> dict[str, str]:
        """The texts that fit the objective: what the person typed stays, one of ours gives way to the right one."""
        right = _right_texts(self.objective)
        sample = None if self.model is None else self.model.sample(find_objective(self.objective))
        right = right if sample is None else dict(zip(right, sample, strict=True))
        ours = {name: _ours(name) | set(self._samples[name]) for name in right}
        for name, words in right.items():
            self._samples[name].add(words)
        return {n: words if getattr(self, n).strip() in ours[n] else getattr(self, n) for n, words in right.items()}

    @param.depends("text", "pair", "seed", "settings", watch=True)
    def _other_chance(self) -> None:
        """The printed plan belongs to the printed row; whoever turns something else wants to see it act."""
        if self._opening:
            return
        self.inside = {}
        self._set(plan="" if self.plan == self._printed() else self.plan)

    @param.depends("text", "pair", watch=True)
    def _other_text(self) -> None:
        """What was painted by hand was painted for the old text."""
        if not self._opening and self.painted:
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
            plain = self._rebuild(parse([p for p in self.plan.replace(";", " ").split() if p]))
            made = repainted(plain, self.painted) if self.painted else plain
            companions, lacking = self._companions(plain)
        except Refusal as refusal:
            self.trouble = str(refusal)
            return
        self._plain = plain
        self._remember()
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

    # the mask by hand, trained

    @property
    def rules(self) -> tuple[Painted, ...]:
        """What is painted, as a rule for every text."""
        return carried(self.painted)

    def train_anyway(self) -> None:
        """Train this objective with the painted mask on the Train page, whatever the leak check says."""
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
        """Put a model on the stage, or take it away; a text of ours gives way to one that the model can read."""
        self._alone = model is None
        self.param.update(model=model, inside={})
        texts = self._texts()
        plan = self._printed() if texts["text"].strip() in _ours("text") else ""
        same = texts == {name: getattr(self, name) for name in texts}
        self._set(**texts, plan=self.plan if same else plan, painted={})
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
            self.text[:LONGEST_TEXT] if self.text.strip() or self._plain else LETTERS,
            pair=self.pair[:LONGEST_TEXT] if self.paired else "",
            seed=self.seed,
            settings=settings,
            wanted=wanted,
            tokenizer=None if model is None else model.tokenizer,
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
        """One message of the stage: an edit of the plan or the mask, a roll of the dice, a step back, a reset."""
        if self.inside:
            return
        try:
            match message.get("do"):
                case "roll":
                    self._set(seed=self.seed + 1, plan="")
                case "undo" | "redo" as way:
                    self.go_back(-1 if way == "undo" else 1)
                case "paint":
                    self._paint(message)
                case "set":
                    self._turn(message)
                case "unpaint":
                    self.painted = {}
                case "reset":
                    ours = self.text.strip() in _ours("text")
                    self._set(settings={}, plan=self._printed() if ours else "", painted={})
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
        words = parse(self.plan.replace(";", " ").split()).get("replace", [])
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
        natural = frames.visible(made.example).get(name, []) if made is not None else []
        mine = {(i, j): is_open for i, j, is_open in self.painted.get(name, [])}
        for cell in message.get("cells", ()):
            reader, read, is_open = (number(dict(enumerate(cell)), k) for k in range(3))
            if not (0 <= reader < len(natural) and 0 <= read < len(natural[0])):
                raise Refusal(f"There is no cell {reader + 1}.{read + 1} in the matrix {name!r} to paint.")
            mine[reader, read] = bool(is_open)
        left = [(i, j, is_open) for (i, j), is_open in sorted(mine.items()) if bool(natural[i][j]) != is_open]
        others = {key: cells for key, cells in self.painted.items() if key != name}
        self.painted = others | ({name: left} if left else {})

    # the table of the survey

    def table(self) -> tuple[str, list[Rebuilt], list[tuple[Objective, str]]]:
        """Every row of the survey's table for the text on the stage; of a text of ours, for the survey's sentence."""
        text, pair = self._table_text()
        plans = {self.objective: parse(self.plan.replace(";", " ").split())} if self.plan and self._mine() else {}
        try:
            return text, *table(text, self.seed or None, plans, pair)
        except Refusal:  # a plan that does not fit this text; a text that cannot be read is refused again
            return text, *table(text, self.seed or None, None, pair)

    def _table_text(self) -> tuple[str, str]:
        ours = self.text.strip() in _ours("text")
        pair = "" if self.pair.strip() in _ours("pair") else self.pair
        return (SENTENCE if ours else self.text)[:LONGEST_TEXT], pair[:LONGEST_TEXT]

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
        self._set(objective=name, settings={}, painted={}, beside=others, **values)
        self.view = "stage"

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
            return self.inside
        told = self.model.answers(self.rebuilt) if whole and self._told else self._told
        main = {**(told or self.rebuilt.record()), "painted": by_hand, "can": can, "link": urlencode(self.query())}
        return lockstep([main, *self._told_beside])

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
        return told | ({"beside": ",".join(self.beside)} if self.beside else {})

    def open(self, query: Mapping[str, str]) -> None:
        """Bring a link back; what in it cannot be read is left out, and what cannot be rebuilt is said."""
        wanted, trouble = query.get("objective", "MLM"), ""
        try:
            self.objective = find_objective(wanted).name
        except Refusal as refusal:
            self.objective, trouble = "MLM", str(refusal)
        values: dict[str, Any] = {name: query[name] for name in ("text", "pair", "plan", "frame") if name in query}
        if "text" in values and "plan" not in values and values["text"].strip() not in _ours("text"):
            values["plan"] = ""
        if query.get("seed", "").isdigit():
            values["seed"] = int(query["seed"])
        values["settings"] = {k[4:]: _value(v) for k, v in query.items() if k.startswith("set.")}
        values["painted"] = {k[6:]: _read_cells(v) for k, v in query.items() if k.startswith("paint.")}
        known = objectives()
        values["beside"] = [name for name in query.get("beside", "").split(",") if name in known][:3]
        values["same_plan"] = query.get("same_plan") != "False"
        values["view"] = "table" if query.get("view") == "table" else "stage"
        self._past, self._at = [], -1
        self._set(**values)
        self.trouble = self.trouble or trouble


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


def _value(said: str) -> Any:
    try:
        return json.loads(said)
    except ValueError:
        return said


def _write_cells(cells: Iterable[tuple[int, int, bool]]) -> str:
    """Painted cells as `1.2+` (open) and `3.1-` (closed), reader and read counted from 1."""
    return ",".join(f"{i + 1}.{j + 1}{'+' if is_open else '-'}" for i, j, is_open in cells)


def _read_cells(said: str) -> list[tuple[int, int, bool]]:
    found = re.findall(r"(\d{1,4})\.(\d{1,4})([ +-])", said)  # a plus sign in a link may arrive as a space
    return [(int(i) - 1, int(j) - 1, sign != "-") for i, j, sign in found]


@dataclass(frozen=True)
class Opened:
    """A corpus, and the first token of each of its sheets and one after the last `[s, 2]`."""

    corpus: Corpus
    sheets: Tensor


@dataclass(frozen=True)
class Cut:
    """A vocabulary, the text that it cuts, and the states of the beginning of that text while it merges (only BPE)."""

    corpus: Corpus
    wish: Wish
    tokenizer: Tokenizer
    text: str
    merges: tuple[dict, ...] = ()

    @property
    def beginning(self) -> str:
        """As much of the text as the merges are about."""
        return self.text[:LONGEST_MERGE]


class CorpusStore(param.Parameterized):
    """A corpus to look at: where it comes from, which of its documents is on screen, and a way to cut it."""

    source = param.String("world")
    pasted = param.String("")
    files = param.List([])
    encoding = param.String("")
    text_column = param.String("")
    label_column = param.String("")
    place = param.Integer(0)
    seed = param.Integer(0)
    layers = param.List(["pos", "phrase", "mention", "aligned", "head"])
    kind = param.String("bpe")
    size = param.Integer(800)
    across = param.Boolean(False)

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.reading, self.cutting = Work("reading"), Work("cutting")
        self.opened: Opened | None = None
        self.table: Table | None = None
        self._folder: TemporaryDirectory[str] | None = None

    @param.depends("source", "files", watch=True)
    def _other_file(self) -> None:
        self.table = None

    @param.depends("source", "files", "encoding", "text_column", "label_column", watch=True)
    def look(self) -> None:
        """Begin to read; a table stops for its columns to be confirmed, a text of one's own begins with `use`."""
        if self.source == OWN_TEXT or (self.source == OWN_FILE and not self.files):
            self.reading.forget()
            return
        self.reading.begin(self._look)

    def use(self) -> None:
        """Read the text that was typed, or make a corpus of the table as its columns now stand."""
        table = self.table
        if self.source == OWN_TEXT:
            text = self.pasted[:LONGEST_PASTE]
            self.reading.begin(lambda hear: _open(from_pasted(text, progress=hear)))
        elif self.source == OWN_FILE and table is not None:
            bare = replace(table, label_column=None) if self.label_column == NO_LABEL else table
            self.reading.begin(lambda _: _open(from_table(bare)))

    @property
    def unreadable(self) -> bool:
        """Whether the file could not be read in the encoding that was tried."""
        return isinstance(self.reading.error, WrongEncoding)

    @property
    def trouble(self) -> str:
        """Why there is nothing new to look at."""
        return "" if self.reading.busy else str(self.reading.error or "")

    def _look(self, hear: Progress) -> Opened | Table:
        if self.source != OWN_FILE:
            return _open(open_corpus(self.source))
        files, how = [Path(file) for file in self.files], {"encoding": self.encoding or None, "progress": hear}
        if len(files) == 2:
            return _open(read_translations(*files, **how))
        if len(files) > 2:
            raise Refusal(f"These are {len(files)} files; choose one, or two that say the same line by line.")
        if files[0].suffix.lower() in TABLES:
            label = self.label_column if self.label_column != NO_LABEL else ""
            return read_table(files[0], self.text_column or None, label or None, **how)
        return _open(open_corpus(files[0], **how))

    def take(self) -> None:
        """Take over what has been read, if anything: a table to be asked about, or a corpus to look at."""
        found = None if self.reading.busy or self.reading.error else self.reading.result
        if isinstance(found, Table):
            self.table = found
        elif isinstance(found, Opened) and found is not self.opened:
            self.opened = found
            self.place = 0

    @property
    def corpus(self) -> Corpus | None:
        """The corpus on screen."""
        return self.opened.corpus if self.opened is not None else None

    @property
    def span(self) -> tuple[int, int]:
        """First token on screen and one after the last."""
        assert self.opened is not None
        first, last = self.opened.sheets[self.place].tolist()
        return first, last

    def step(self, by: int) -> None:
        """Go to another sheet; after the last comes the first."""
        if self.opened is not None:
            self.place = (self.place + by) % len(self.opened.sheets)

    @param.depends("seed", watch=True)
    def _roll(self) -> None:
        """Go to the sheet that the seed chooses."""
        if self.opened is not None:
            self.place = Random(derive(self.seed, "sheet")).randrange(len(self.opened.sheets))

    def cut(self) -> None:
        """Learn the vocabulary that is wished for, and cut the sheet on screen with it."""
        corpus = self.corpus
        if corpus is None:
            return
        span, before = self.span, self.cutting.result
        wish = (self.kind, self.size, self.across and self.kind == "bytes")
        self.cutting.begin(lambda _: _cut(corpus, span, wish, before))

    def keep(self, named: dict[str, bytes]) -> None:
        """Put uploaded files on disk, so that they are read as every other file is; columns are guessed anew."""
        size = sum(map(len, named.values()))
        if size > LARGEST_FILE:
            self.reading.forget(Refusal(f"The file has {size:,} bytes; at most {LARGEST_FILE:,} are read here."))
            return
        self._forget()
        self._folder = TemporaryDirectory(prefix="playground-")
        paths = [Path(self._folder.name) / (Path(name).name or "text.txt") for name in named]
        for path, content in zip(paths, named.values(), strict=True):
            path.write_bytes(content)
        self.param.update(files=paths, encoding="", text_column="", label_column="")

    def _forget(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def end(self) -> None:
        """Stop reading and remove what was uploaded."""
        self.reading.end()
        self.cutting.end()
        self._forget()


def _open(corpus: Corpus) -> Opened:
    """A corpus with its sheets; its entropy is counted in this thread, so that the page need not wait for it."""
    _ = corpus.unigram_entropy
    return Opened(corpus, sheets(corpus))


def sheets(corpus: Corpus) -> Tensor:
    """First token and one after the last of every sheet `[s, 2]`: a document, or a part of a long one."""
    ends = (corpus.document[1:] != corpus.document[:-1]).nonzero()[:, 0] + 1
    first = torch.cat([torch.tensor([0]), ends])
    word = corpus.word.long()
    count = torch.cat([word[ends], word[-1:] + 1]) - word[first]
    parts = -(-count // LONGEST_SHEET)
    within = torch.arange(int(parts.sum())) - (parts.cumsum(0) - parts).repeat_interleave(parts)
    start = torch.searchsorted(word, word[first].repeat_interleave(parts) + LONGEST_SHEET * within)
    return torch.stack([start, torch.cat([start[1:], torch.tensor([len(corpus)])])], dim=1)


def _cut(corpus: Corpus, span: tuple[int, int], wish: Wish, before: Cut | None) -> Cut:
    """The vocabulary that is wished for, learnt only where it is another one than before, and the text of a sheet."""
    if before is not None and before.corpus is corpus and before.wish == wish:
        tokenizer = before.tokenizer
    else:
        kind, size, across = wish
        tokenizer = train([_text(corpus, 0, READ_TO_CUT)], kind, size, across=across)
    text = _text(corpus, *span)[:LONGEST_CUT]
    merges = merge_steps(tokenizer, text[:LONGEST_MERGE]) if isinstance(tokenizer.cut, Merger) else []
    return Cut(corpus, wish, tokenizer, text, tuple(merges))


def _text(corpus: Corpus, first: int, last: int) -> str:
    """Some tokens as a person writes them."""
    ids = corpus.ids[first:last]
    return corpus.tokenizer.join(ids[ids != SEPARATOR].tolist())


class Store(param.Parameterized):
    """One visit: which page is open, and the stores of the pages."""

    page = param.Integer(0)

    def __init__(self, runs: Path | None = None, **values: Any) -> None:
        super().__init__(**values)
        self.stage, self.corpus, self.transfer = StageStore(), CorpusStore(), TransferStore()
        self.train = TrainStore(runs)
        self.stage.lender = lambda: self.train.session
        self.stage.trainer = self.bring

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

    def bring(self, name: str, knobs: Mapping[str, Any]) -> None:
        """Train an objective of the Stage page on the Train page, on the text chosen there if it suits."""
        entry = entry_named(name)
        self.train.brought[name] = knobs
        self.train.param.update(entry=name, **({"corpus": entry.corpus} if entry.objective.needs else {}))
        self.page = 1  # first the page, which is quick while nothing trains
        if (session := self.train.begin()) is not None:
            session.start()

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
        if self.train.upload is not None:
            Path(self.train.upload).unlink(missing_ok=True)
